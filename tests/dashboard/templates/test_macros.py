"""Every component in each of its states; and what somebody else wrote stays text in all of them."""

import json
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError
from lxml import html

from .gallery import page
from .kit import EVIL, LOOKS, READOUT, SPARK, Look, asked, chip, environment, figure, macro


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


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("plain", "2.1"),
        ("revised", "2.4 +0.4"),
        ("stale", "1.4 stale, 324 days"),
        ("discontinued", "1.4 ended 2024 Q4"),
        ("withheld", "Withheld licence forbids redistribution"),
        ("outside_plan", "Not in plan"),
        ("none", "No data"),
        ("withdrawn", "5.1 withdrawn 3 May 2025"),
    ],
)
def test_a_value_has_eight_looks(name, seen):
    (shown,) = parsed(macro("value(look)", "value", look=LOOKS[name])).xpath("//span[starts-with(@class, 'v ')]")
    assert " ".join(shown.text_content().split()) == seen


def test_signs_of_a_revision_point_where_it_went():
    for name, sign in (("revised", "#sign-up"), ("revised down", "#sign-down")):
        assert parsed(macro("value(look)", "value", look=LOOKS[name])).xpath("//use/@href") == [sign]
    assert "<svg" not in macro("value(look)", "value", look=LOOKS["revised, unknown by how much"])


def test_a_withdrawn_value_is_struck_through():
    assert parsed(macro("value(look)", "value", look=LOOKS["withdrawn"])).xpath("//s/text()") == ["5.1"]
    assert "<s>" not in macro("value(look)", "value", look=LOOKS["withdrawn, unknown from what"])


def test_a_withheld_value_leads_to_its_licence_and_says_why():
    (link,) = parsed(macro("value(look, '/sources/x')", "value", look=LOOKS["withheld"])).xpath("//a")
    assert link.get("href") == "/sources/x"
    assert heard(html.tostring(link, encoding="unicode")) == "withheld, licence forbids redistribution"


def test_a_sparkline_is_decoration_and_left_out_where_there_is_none():
    assert 'aria-hidden="true"' in macro("sparkline(svg)", "value", svg=SPARK)
    assert macro("sparkline(svg)", "value", svg="") == ""


@pytest.mark.parametrize(("part", "width"), [(0.63, 63), (-1, 0), (7, 100)])
def test_a_share_stays_within_its_track(part, width):
    (drawn,) = parsed(macro("share(part)", "value", part=part)).xpath("//rect[@class='fill']/@width")
    assert float(drawn) == width


# Chips and heads


def test_a_chip_has_the_sign_of_its_kind_or_another_or_none():
    assert parsed(macro("chip('Fresh', 'good')", "chip")).xpath("//use/@href") == ["#sign-disc"]
    assert parsed(macro("chip('passed', 'good', 'tick')", "chip")).xpath("//use/@href") == ["#sign-tick"]
    assert "<svg" not in macro("chip('Public')", "chip")
    assert parsed(macro("chip('Read', 'withheld', href='/x')", "chip")).xpath("//a[@class='chip withheld']/@href") == [
        "/x"
    ]


def test_no_chips_no_list():
    assert macro("chips(())", "chip") == ""
    assert len(parsed(macro("chips(all)", "chip", all=[chip("good", "disc", "a"), {"text": "b"}])).xpath("//li")) == 2


def test_a_page_head_has_crumbs_title_lede_chips_and_figures():
    written = macro(
        "page_head('Title', [('Countries', '/countries')], 'One sentence.', [{'text': 'a'}], [{'label': 'b', 'text': '1'}])",
        "head",
    )
    assert words(written) == "Countries Title One sentence. a b 1"
    assert words(macro("page_head('Title')", "head")) == "Title"
    assert '<a href="/x">' in macro('page_head("Title") | See <a href="/x">x</a>.', "head")


def test_a_figure_without_a_number_is_left_out_and_never_a_dash():
    told = [{"label": "a", "text": ""}, {"label": "b", "look": None, "text": None}, {"label": "c"}]
    assert macro("key_figures(told)", "head", told=told) == ""
    assert words(macro("key_figures(told)", "head", told=[*told, {"label": "d", "text": "0"}])) == "d 0"


def test_a_figure_that_could_not_be_got_keeps_its_value_and_says_so():
    written = macro(
        "key_figures(told)", "head", told=[{"label": "Left", "text": "63", "error": "Not asked anew.", "part": 0.6}]
    )
    assert words(written) == "Left 63 Not asked anew."
    assert parsed(written).xpath("//*[@role='alert']/text()") == ["Not asked anew."]


def test_what_is_current_among_views_is_said():
    written = macro(
        "segments('Range', all)",
        "head",
        all=[{"title": "1Y", "href": "/?r=1", "aloud": "one year"}, {"title": "All", "href": "/", "current": True}],
    )
    assert parsed(written).xpath("//a[@aria-current]/@href") == ["/"]
    assert words(written) == "1Y, one year All"
    assert macro("segments('Range', ())", "head") == ""


def test_about_and_nearby_are_left_out_where_there_is_nothing():
    assert macro("about('About', ())", "head") == ""
    assert macro("readings('Nearby', ())", "head") == ""
    assert "No data from any source yet" in macro("readings('Nearby', (), empty='No data from any source yet')", "head")
    outside = macro("about('About', all)", "head", all=[{"term": "Source", "text": "x", "href": "https://x.example/"}])
    assert 'rel="noopener noreferrer"' in outside


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


def test_the_bar_says_the_day_and_the_way_back_and_nothing_today():
    assert macro("asof_bar('', '/')", "asof") == ""
    written = macro("asof_bar('30 Apr 2024', '/series/x?from=2016')", "asof")
    assert words(written).startswith("As known on 30 Apr 2024.")
    assert parsed(written).xpath("//a[text()='Back to today']/@href") == ["/series/x?from=2016"]


def test_before_the_first_release_it_says_when_that_was():
    written = macro("asof_bar('1 Mar 2016', '/', '30 Apr 2016', '/?as_of=2016-04-30')", "asof")
    assert (
        words(written) == "Nothing was known on 1 Mar 2016. The first release was on 30 Apr 2016. Show it Back to today"
    )


def test_a_malformed_day_stays_as_typed_with_its_message_and_the_rest_of_the_address():
    written = parsed(macro("asof_form('/x', '31.4.24', {'from': '2016'}, 'That is not a date.')", "asof"))
    (typed,) = written.xpath("//input[@name='as_of']")
    assert (typed.get("value"), typed.get("aria-invalid")) == ("31.4.24", "true")
    assert typed.get("type") == "text"
    assert written.xpath("//input[@type='hidden']/@value") == ["2016"]


# A figure


def test_a_figure_is_refused_without_a_caption():
    with pytest.raises(UndefinedError, match="a_figure_needs_its_caption"):
        macro("figure(chart)", "figure", chart=figure(caption=""))


def test_a_figure_is_named_and_described_by_what_stands_above_it():
    tree = parsed(macro("figure(chart)", "figure", chart=figure()))
    (made,) = tree.xpath("//figure")
    assert tree.xpath(f"//h2[@id='{made.get('aria-labelledby')}']/text()") == ["Percent, year on year"]
    assert tree.xpath(f"//p[@id='{made.get('aria-describedby')}']/text()")[0].startswith("Real GDP of Borealia grew")
    (plot,) = tree.xpath("//*[@aria-roledescription='chart']")
    assert plot.get("role") == "group"
    assert [one.get("class") for one in plot.xpath("./svg")] == ["chart wide", "chart middle", "chart narrow"]
    assert tree.xpath("//*[@aria-live='polite']")[0].get("hidden") is not None
    assert json.loads(tree.xpath(f"//script[@id='{plot.get('data-chart')}']/text()")[0]) == json.loads(READOUT)


def test_a_drawing_without_readout_offers_none():
    tree = parsed(macro("figure(chart)", "figure", chart=figure(readout="")))
    assert tree.xpath("//*[@aria-live] | //script | //*[@data-chart] | //*[@role]") == []
    assert len(tree.xpath("//div[@class='plotted']/svg")) == 3


def test_every_kind_of_line_has_its_key():
    keys = parsed(macro("legend(all)", "figure", all=figure().legend)).xpath("//li")
    assert len({html.tostring(key.xpath("./svg")[0]) for key in keys}) == len(keys) == 8
    assert macro("legend(())", "figure") == ""


def test_an_empty_figure_keeps_its_place_and_says_why():
    written = macro(
        "figure(chart, next=('Show it', '/y'))", "figure", chart=figure(svgs=(), empty="Nothing was known then.")
    )
    assert parsed(written).xpath("//div[@class='plotted nothing']//text()[normalize-space()]") == [
        "Nothing was known then.",
        "Show it",
    ]
    assert "aria-live" not in written


def test_a_figure_that_failed_points_to_the_table_and_tries_again():
    written = macro("figure(chart, failed='/x')", "figure", chart=figure())
    (alert,) = parsed(written).xpath("//*[@role='alert']")
    assert (
        " ".join(alert.text_content().split())
        == "The chart could not be loaded. The table below is complete. Try again"
    )
    assert '<svg class="chart' not in written


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


def test_an_empty_table_is_one_row_with_a_sentence_and_the_next_step():
    tree = parsed(
        macro(
            "data_table('t', 'Table', columns, (), 'You have no keys yet.', ('Create a key', '/keys/new'))",
            "table",
            columns=COLUMNS,
        )
    )
    (cell,) = tree.xpath("//tbody//td")
    assert (cell.get("colspan"), cell.text_content()) == ("2", "You have no keys yet. Create a key")


def test_a_table_that_failed_keeps_its_rows_and_says_so():
    tree = parsed(
        macro(
            "data_table('t', 'Table', columns, [['a', 'b']], '', error='It could not be asked anew.', again='/x', busy=true)",
            "table",
            columns=COLUMNS,
        )
    )
    assert tree.xpath("//*[@role='alert']//a/@href") == ["/x"]
    assert len(tree.xpath("//tbody/tr")) == 1
    assert tree.xpath("//section/@aria-busy") == ["true"]


def test_a_table_of_cards_keeps_its_roles():
    tree = parsed(
        macro(
            "data_table('t', 'Keys', columns, [{'cells': ['a', 'b'], 'class': 'over'}], '', cards=true)",
            "table",
            columns=COLUMNS,
        )
    )
    roles = [one.get("role") for one in tree.xpath("//table/descendant-or-self::*[@role]")]
    assert roles == ["table", "rowgroup", "row", "columnheader", "columnheader", "rowgroup", "row", "rowheader", "cell"]
    assert tree.xpath("//td/@data-label") == ["Value"]


def test_a_pager_is_there_where_there_is_more():
    assert macro("pager('1–2 of 2')", "table") == ""
    assert words(macro("pager('1–50 of 1,204', next='/?c=x')", "table")) == "1–50 of 1,204 Next"
    assert (
        words(macro("pager('', error='This list is older than 7 days.', again='/x')", "table"))
        == "This list is older than 7 days. Start again"
    )


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


def test_buttons_that_need_a_script_are_hidden_without():
    tree = html.fromstring(page())
    needing = tree.xpath("//button[@data-copy or @data-reveal]")
    assert len(needing) > 3
    assert [one for one in needing if one.get("hidden") is None or "js" not in one.get("class").split()] == []


def test_a_key_is_shown_with_a_request_that_uses_it():
    tree = parsed(macro("secret_box('Nightly', 'the-key', 'curl $ALMANAC_API_KEY', '/keys')", "code"))
    assert tree.xpath("//code[@id='secret-key']/text()") == ["the-key"]
    assert "export ALMANAC_API_KEY=the-key\ncurl $ALMANAC_API_KEY" in tree.xpath("//code[@id='secret-try']/text()")
    assert tree.xpath("//a[text()='I have stored it']/@href") == ["/keys"]


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


def test_the_summary_leads_to_each_field_in_the_same_words():
    tree = parsed(
        macro(
            "error_summary(errors)",
            "form",
            errors=[{"field": "name", "message": "Enter a name"}, {"field": "", "message": "Both are wrong."}],
        )
    )
    (summary,) = tree.xpath("//*[@role='alert']")
    assert summary.get("tabindex") == "-1"
    assert tree.xpath("//a/@href") == ["#field-name"]
    assert tree.xpath("//li//text()") == ["Enter a name", "Both are wrong."]
    assert macro("error_summary(())", "form") == ""


@pytest.mark.parametrize(
    "call",
    [
        "field('ends', 'Ends', error='x')",
        "select('ends', 'Ends', (), error='x')",
        "choices('ends', 'Ends', [{'value': 'a', 'label': 'A'}], error='x')",
    ],
)
def test_links_of_the_summary_find_their_field(call):
    (found,) = parsed(macro(call, "form")).xpath("//*[@id='field-ends']")
    assert found.tag in {"input", "select"}


def test_chosen_options_stay_chosen():
    options = [{"value": "a", "label": "A", "hint": "The first."}, {"value": "b", "label": "B", "disabled": True}]
    assert parsed(macro("select('x', 'X', options, 'b')", "form", options=options)).xpath(
        "//option[@selected]/@value"
    ) == ["b"]
    tree = parsed(macro("choices('x', 'X', options, ['a', 'b'], 'checkbox')", "form", options=options))
    assert tree.xpath("//input[@checked]/@value") == ["a", "b"]
    assert tree.xpath("//legend/text()") == ["X"]
    named = [options[0], options[1] | {"id": "own"}]
    assert parsed(macro("choices('x', 'X', options)", "form", options=named)).xpath("//input/@id") == ["field-x", "own"]
    assert parsed(macro("choices('x', 'X', options)", "form", options=named)).xpath("//label/@for") == [
        "field-x",
        "own",
    ]


def test_an_error_of_one_field_is_found():
    errors = [{"field": "a", "message": "one"}, {"field": "b", "message": "two"}]
    assert [macro(f"error_of(errors, '{name}')", "form", errors=errors) for name in "abc"] == ["one", "two", ""]


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


def test_a_filter_row_has_field_operator_value_count_and_its_end():
    tree = parsed(
        macro(
            "filter_row(row, fields, operators)",
            "form",
            row=ROW,
            fields=FIELDS,
            operators=[{"value": "gte", "label": "at least"}],
        )
    )
    assert [one.get("name") for one in tree.xpath("//select | //input | //button")] == [
        "field2",
        "operator2",
        "value2",
        "remove",
    ]
    assert tree.xpath("//option[@selected]/@value") == ["roe", "gte"]
    assert tree.xpath("//output/text()") == ["312 pass"]
    assert tree.xpath("//option[@disabled]/@value") == ["beta"]


def test_an_empty_filter_row_waits_and_a_wrong_one_says_why():
    empty = {"number": 1, "field": "", "operator": "", "value": ""}
    assert "<button" not in macro("filter_row(row, fields, ())", "form", row=empty, fields=FIELDS)
    wrong = parsed(
        macro("filter_row(row, fields, ())", "form", row=ROW | {"error": "`roe` is not a field."}, fields=FIELDS)
    )
    (select,) = wrong.xpath("//select[@aria-invalid]")
    assert "`roe` is not a field." in wrong.xpath(f"//*[@id='{select.get('aria-describedby')}']")[0].text_content()


# Notices, lineage, triangle


@pytest.mark.parametrize(("kind", "role"), [("plain", None), ("done", "status"), ("warn", None), ("bad", "alert")])
def test_a_notice_is_told_as_loudly_as_it_matters(kind, role):
    (made,) = parsed(macro(f"notice('{kind}', 'Words.')", "notice")).xpath("/div/div")
    assert (made.get("role"), made.text_content().strip()) == (role, "Words.")
    assert "<b>x</b>" in macro(f"notice('{kind}') | <b>x</b>", "notice")


STEPS = [
    {"title": "Raw", "nodes": [{"text": "na.csv", "what": "Open", "href": "/raw"}]},
    {"title": "Inputs", "nodes": [{"text": "512"}, {"look": LOOKS["withheld"]}], "more": 31},
    {"title": "Result", "nodes": [{"text": "2.1%", "result": True, "verdict": "recomputed: equal"}]},
]


def test_lineage_is_heard_in_order_and_wired_box_to_box():
    written = macro("lineage('Lineage', steps)", "lineage", steps=STEPS)
    assert (
        heard(written)
        == "Lineage Raw na.csv Open Inputs 512 withheld, licence forbids redistribution 31 more Result 2.1% recomputed: equal"
    )
    assert [len(one.xpath("./path")) for one in parsed(written).xpath("//svg[@class='wires']")] == [3, 3]


def test_lineage_without_a_record_and_one_that_does_not_hold_say_so():
    assert "No lineage was recorded for this value." in macro("lineage('Lineage', ())", "lineage")
    steps = [
        {
            "title": "Result",
            "nodes": [{"text": "2.2%", "result": True, "wrong": True, "verdict": "Recomputed: not equal, 2.1 and 2.2"}],
        }
    ]
    (node,) = parsed(macro("lineage('Lineage', steps)", "lineage", steps=steps)).xpath("//div[@class='node wrong']")
    assert "Recomputed: not equal, 2.1 and 2.2" in node.text_content()


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


def test_a_source_without_vintages_says_since_when_we_keep_changes():
    assert (
        words(macro("triangle((), (), empty='This source publishes no vintages.')", "triangle"))
        == "Revision triangle This source publishes no vintages."
    )


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
