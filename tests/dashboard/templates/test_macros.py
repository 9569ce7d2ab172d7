"""Every component in each of its states; and what somebody else wrote stays text in all of them."""

import json
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError
from lxml import html

from .gallery import page
from .kit import EVIL, LOOKS, Look, asked, environment, macro


def parsed(markup):
    return html.fragment_fromstring(markup, create_parent="div")


def words(markup):
    """The text, each run of space one space."""
    return " ".join(parsed(markup).text_content().split())


def heard(markup):
    """What is read aloud: all but what is kept from readers."""
    tree = parsed(markup)
    for silent in tree.xpath("//*[@aria-hidden='true']"):
        silent.drop_tree()
    return " ".join(tree.text_content().split())


# A value


@pytest.mark.parametrize("name", LOOKS)
def test_a_value_is_read_aloud_as_its_look_says(name):
    look = LOOKS[name]
    written = macro("value(look)", "value", look=look)
    assert heard(written) == look.spoken
    (shown,) = parsed(written).xpath(f"//span[@class='v {look.state}']")
    assert shown.get("data-value") == look.full
    assert look.text in shown.text_content()


def test_a_withheld_value_leads_to_its_licence_and_says_why():
    (link,) = parsed(macro("value(look, '/sources/x')", "value", look=LOOKS["withheld"])).xpath("//a")
    assert link.get("href") == "/sources/x"
    assert heard(html.tostring(link, encoding="unicode")) == "withheld, licence forbids redistribution"


# Chips and heads


@pytest.mark.parametrize(
    ("href", "followed"),
    [
        ("/series/x:y", True),
        ("?as_of=2024-04-30", True),
        ("#table", True),
        ("https://x.example/licence", True),
        ("http://x.example/", False),
        ("//x.example/", False),
        ("/\\x.example/", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("", False),
    ],
)
def test_only_own_addresses_and_https_are_links(href, followed):
    written = parsed(macro("link('Read it', href)", "link", href=href))
    assert written.xpath("//a/@href") == [href] * followed
    assert written.text_content() == "Read it"


# As of


# A figure


def test_data_for_a_script_cannot_end_its_block():
    text = json.dumps({"a": "</script><!--&\u2028\u2029"}, ensure_ascii=False)
    written = macro("data_block('x', text)", "figure", text=text)
    inside = written.partition(">")[2].rpartition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == json.loads(text)


# Tables

COLUMNS = [{"title": "Quarter"}, {"title": "Value", "right": True, "sort": "/?s=v", "sorted": "descending"}]


def test_a_table_has_heads_for_columns_and_rows_and_the_full_number():
    tree = parsed(
        macro(
            "data_table('t', 'Table', columns, rows, 'None.')",
            "table",
            columns=COLUMNS,
            rows=[["2026 Q3", {"look": LOOKS["plain"]}]],
        )
    )
    assert tree.xpath("//th[@scope='col']/text() | //th[@scope='col']/a/text()") == ["Quarter", "Value"]
    assert tree.xpath("//th[@scope='row']/text()") == ["2026 Q3"]
    assert tree.xpath("//td/@data-value") == ["2.1034"]
    assert tree.xpath("//th/@aria-sort") == ["descending"]
    assert tree.xpath("//table/caption/text()") == ["Table"]
    (scroller,) = tree.xpath("//*[@role='region']")
    assert scroller.get("tabindex") == "0"
    assert tree.xpath(f"//*[@id='{scroller.get('aria-labelledby')}']/text()") == ["Table"]


# Code


def test_the_requests_of_a_page_are_shown_and_never_hold_a_key():
    written = macro("same_by_api(asked)", "code", asked=[asked(), asked("/rates")])
    assert parsed(written).xpath("//code/text()") == [asked().curl, asked("/rates").curl]
    assert "No number on this page is from the API." in macro("same_by_api(())", "code")
    with pytest.raises(UndefinedError, match="a_request_names_the_key_by_its_variable"):
        macro(
            "same_by_api(asked)",
            "code",
            asked=[SimpleNamespace(path_and_query="/x", curl="curl -H 'x-api-key: alm_1' http://x/x")],
        )


# Forms


def test_a_field_says_its_hint_and_its_error_to_readers_too():
    tree = parsed(macro("field('name', 'Name', 'x', 'So that you know.', 'Enter a name')", "form"))
    (control,) = tree.xpath("//input")
    assert (control.get("aria-invalid"), control.get("value")) == ("true", "x")
    told = [tree.xpath(f"//*[@id='{one}']")[0].text_content() for one in control.get("aria-describedby").split()]
    assert told == ["So that you know.", "Error: Enter a name"]
    assert tree.xpath(f"//label[@for='{control.get('id')}']/text()") == ["Name"]
    plain = parsed(macro("field('name', 'Name')", "form")).xpath("//input")[0]
    assert {"aria-invalid", "aria-describedby"} & set(plain.keys()) == set()


def test_a_password_is_never_written_back():
    assert "hunter2" not in macro(
        "field('password', 'Password', 'hunter2', type='password', error='Too short')", "form"
    )


ROW = {"number": 2, "field": "roe", "operator": "gte", "value": "0.15", "aside": "15%", "count": "312 pass"}
FIELDS = [
    {
        "title": "Returns",
        "options": [
            {"value": "roe", "label": "Return on equity"},
            {"value": "beta", "label": "Beta", "disabled": True},
        ],
    }
]


# Notices, lineage, triangle


STEPS = [
    {"title": "Raw", "nodes": [{"text": "na.csv", "what": "Open", "href": "/raw"}]},
    {"title": "Inputs", "nodes": [{"text": "512"}, {"look": LOOKS["withheld"]}], "more": 31},
    {"title": "Result", "nodes": [{"text": "2.1%", "result": True, "verdict": "recomputed: equal"}]},
]


def test_a_triangle_tells_its_cells_apart_without_colour():
    cells = [
        {"state": "first", "text": "2.0"},
        {"state": "changed", "text": "2.4", "direction": "up"},
        {"state": "same", "text": "2.4"},
        {"state": "none"},
    ]
    tree = parsed(
        macro(
            "triangle(['a', 'b', 'c', 'd'], rows, 'Quarter', all='/all', foot=[{'term': 'Mean', 'text': '+0.1'}])",
            "triangle",
            rows=[{"period": "2026 Q3", "cells": cells}],
        )
    )
    assert [" ".join(cell.text_content().split()) for cell in tree.xpath("//tbody//td")] == [
        "2.0, first published",
        "2.4, revised up",
        "2.4",
        "not yet published",
    ]
    assert tree.xpath("//a[text()='All releases']/@href") == ["/all"]


# What others wrote


def evil(value):
    """The same shape with every text of a person or a source in it made harmful; what is ours stays."""
    ours = {
        "kind",
        "sign",
        "state",
        "direction",
        "colour",
        "id",
        "number",
        "sorted",
        "class",
        "svgs",
        "readout",
        "theme",
    }
    if isinstance(value, str):
        return value + EVIL if "<" not in value and not hasattr(value, "__html__") else value
    if isinstance(value, Look):
        return value._replace(
            text=value.text + EVIL,
            spoken=EVIL,
            change=value.change and EVIL,
            note=value.note and EVIL,
            chip=evil(value.chip),
        )
    if isinstance(value, SimpleNamespace):
        return type(value)(**{name: one if name in ours else evil(one) for name, one in vars(value).items()})
    if isinstance(value, dict):
        return {name: one if name in ours else evil(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [evil(one) for one in value]
    return value


def test_names_with_markup_stay_text_everywhere(monkeypatch):
    harmless = html.fromstring(page())
    from . import gallery

    context = gallery.context
    monkeypatch.setattr(gallery, "context", lambda deeds: evil(context(deeds)))
    written = gallery.page(theme="system")
    harmful = html.fromstring(written)
    assert written.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 100
    assert "<script>alert" not in written
    assert [one.get("src") for one in harmful.xpath("//script[not(@type='application/json')]")] == [
        one.get("src") for one in harmless.xpath("//script[not(@type='application/json')]")
    ]
    assert harmful.xpath("//b") == []
    assert harmful.xpath("//@onmouseover") == []


def test_names_are_escaped_in_attributes_too():
    written = (
        environment()
        .from_string('{% from "parts/form.html" import field %}{{ field("n", "N", value) }}')
        .render(value='" onfocus="x()')
    )
    assert parsed(written).xpath("//input/@onfocus") == []
    assert parsed(written).xpath("//input/@value") == ['" onfocus="x()']
