"""The base page and its macros, and that nothing a page is given becomes markup."""

import json
import re
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError
from lxml import html

from .kit import LOOKS, NAVIGATION, STATIC, TEMPLATES, Visit, asked, environment, macro

PAGE = (
    '{% extends "base.html" %}{% block title %}Keys{% endblock %}{% block frame %}narrow{% endblock %}'
    "{% block main %}<h1>Keys</h1>{% endblock %}"
)


def page(source=PAGE, navigation=NAVIGATION, visit=None, **values):
    written = environment().from_string(source).render(visit=visit or Visit(), navigation=navigation, **values)
    assert written.startswith("<!doctype html>")
    return html.fromstring(written)


def text(tree, path):
    return [" ".join(one.text_content().split()) for one in tree.xpath(path)]


def test_the_first_thing_a_keyboard_meets_skips_to_the_content():
    tree = page()
    first = tree.xpath("//body//*[self::a or self::button or self::input]")[0]
    assert first.get("href") == "#main"
    assert tree.xpath("//main[@id='main']/@tabindex") == ["-1"]


def test_signing_out_is_a_form_with_its_token():
    forms = page().xpath("//form[@action='/signout']")
    assert [(form.get("method"), form.xpath("./input[@name='csrf']/@value")) for form in forms] == [
        ("post", ["c5rf-t0ken"])
    ] * 2


@pytest.mark.parametrize("simulated", [True, False])
def test_a_simulated_store_says_so_on_every_page(simulated):
    assert len(page(visit=Visit(simulated=simulated)).xpath("//*[@class='band']")) == simulated


def test_a_page_of_another_day_says_so_and_leads_back():
    assert page().xpath("//*[@class='asof']") == []
    tree = page(visit=Visit(as_of="2024-04-30"))
    assert text(tree, "//*[@class='asof']")[0].startswith("As known on 30 Apr 2024.")
    assert tree.xpath("//*[@class='asof']/a/@href") == ["/series/x:y"]
    kept = Visit(as_of="2024-04-30", here=lambda as_of: "/series/x:y?from=2016" if as_of is None else "")
    assert page(visit=kept).xpath("//*[@class='asof']/a/@href") == ["/series/x:y?from=2016"]


def test_all_it_asks_for_is_ours_and_under_the_hash():
    asked = page().xpath("//link/@href | //script/@src | //img/@src")
    assert asked == [
        "/static/0123456789abcdef/fonts/sans-400.woff2",
        "/static/0123456789abcdef/app.css",
        "/static/0123456789abcdef/mark.svg",
        "/static/0123456789abcdef/js/shared.js",
    ]


def test_a_name_that_is_not_there_is_a_fault_and_not_a_blank():
    with pytest.raises(UndefinedError):
        page('{% extends "base.html" %}{% block main %}{{ forgotten }}{% endblock %}')


# -- what is read aloud, what is a link, and what somebody else wrote stays text --------------------------------------


def parsed(markup):
    return html.fragment_fromstring(markup, create_parent="div")


def heard(markup):
    """What is read aloud: all but what is kept from readers."""
    tree = parsed(markup)
    for silent in tree.xpath("//*[@aria-hidden='true']"):
        silent.drop_tree()
    return " ".join(tree.text_content().split())


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


def test_data_for_a_script_cannot_end_its_block():
    text = json.dumps({"a": "</script><!--&\u2028\u2029"}, ensure_ascii=False)
    written = macro("data_block('x', text)", "figure", text=text)
    inside = written.partition(">")[2].rpartition("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == json.loads(text)


def test_the_requests_of_a_page_are_shown_and_never_hold_a_key():
    written = macro("same_by_api(asked)", "code", asked=[asked(), asked("/rates")])
    assert parsed(written).xpath("//code/text()") == [
        one.curl("http://127.0.0.1:8000") for one in (asked(), asked("/rates"))
    ]
    assert "No number on this page is from the API." in macro("same_by_api(())", "code")
    with pytest.raises(UndefinedError, match="a_request_names_the_key_by_its_variable"):
        macro(
            "same_by_api(asked)",
            "code",
            asked=[SimpleNamespace(path_and_query="/x", curl=lambda _: "curl -H 'x-api-key: alm_1' http://x/x")],
        )


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


def test_names_are_escaped_in_attributes_too():
    written = (
        environment()
        .from_string('{% from "parts/form.html" import field %}{{ field("n", "N", value) }}')
        .render(value='" onfocus="x()')
    )
    assert parsed(written).xpath("//input/@onfocus") == []
    assert parsed(written).xpath("//input/@value") == ['" onfocus="x()']


# What the policy of the dashboard forbids is in no template, style or script; nothing is asked of another host; sizes hold.


PAGES = sorted(TEMPLATES.rglob("*.html"))
SCRIPTS = sorted((STATIC / "js").glob("*.js"))
FORBIDDEN = {
    "style attribute": r"\sstyle\s*=",
    "style element": r"<style\b",
    "inline handler": r"<[^>]*\son[a-z]+\s*=",
    "script without address": r"<script(?![^>]*(\ssrc=|application/json))",
    "javascript address": r"javascript:",
    "another host": r"""(src|href|action)="?(https?:)?//""",
    "unquoted attribute": r"\s(href|src|value|id|class|name|action)=\{\{",
}
FORBIDDEN_IN_SCRIPT = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|cssText|\beval\(|new Function|setAttribute\(\s*[\"']style|https?://(?!www\.w3\.org/2000/svg)|localStorage|sessionStorage"


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds_it(what):
    found = [
        f"{path.relative_to(TEMPLATES)}: {match[0]}"
        for path in PAGES
        for match in re.finditer(FORBIDDEN[what], path.read_text("utf-8"))
    ]
    assert len(PAGES) > 10
    assert found == []


@pytest.mark.parametrize(
    ("what", "bad"),
    [
        ("style attribute", '<p style="x">'),
        ("style element", "<style>"),
        ("inline handler", '<p class="x" onclick="y()">'),
        ("script without address", "<script>x()</script>"),
        ("javascript address", 'href="javascript:x"'),
        ("another host", '<img src="https://x.example/y">'),
        ("unquoted attribute", "<a href={{ x }}>"),
    ],
)
def test_the_patterns_find_what_they_should(what, bad):
    assert re.search(FORBIDDEN[what], bad)


def test_no_script_makes_markup_of_text_or_keeps_anything():
    assert {path.stem for path in SCRIPTS} >= {"chart", "combobox", "many", "screener", "series", "shared"}
    found = [
        f"{path.name}: {match[0]}" for path in SCRIPTS for match in re.finditer(FORBIDDEN_IN_SCRIPT, path.read_text())
    ]
    assert found == []
    assert re.search(FORBIDDEN_IN_SCRIPT, 'x.setAttribute("style", y)')


def test_escaping_is_lifted_in_two_places_that_are_looked_at():
    # Each is of our own words: the opening of a row's head, and JSON whose signs were written as escapes before.
    lifted = [
        f"{path.relative_to(TEMPLATES).as_posix()}: {line.strip()[:40]}"
        for path in PAGES
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\|\s*safe\b|Markup|autoescape", line)
    ]
    assert lifted == [
        'parts/figure.html: <script type="application/json" id="{{ i',
        'parts/table.html: <{{ "th scope=\\"row\\"" | safe if first e',
    ]
