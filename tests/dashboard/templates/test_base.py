"""The frame of every page: head, search, bars, foot, for those who are signed in and those who are not."""

import pytest
from jinja2 import UndefinedError
from lxml import html

from .kit import NAVIGATION, Visit, environment

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


def test_the_head_has_search_account_and_both_navigations():
    tree = page()
    assert tree.xpath("//form[@role='search']/@action") == ["/search"]
    assert tree.xpath("//form[@role='search']/@method") == ["get"]
    assert text(tree, "//div[@class='who']/a | //div[@class='who']/span") == ["ada@example.org", "Plan: free"]
    wanted = [part.title for part in NAVIGATION]
    wide, phone = tree.xpath("//header/nav"), tree.xpath("//details/nav")
    assert [text(wide[0], "./a"), text(phone[0], "./a")] == [wanted, [*wanted, "ada@example.org"]]
    assert text(tree, "//header//nav/a[@aria-current='page']") == ["Countries", "Countries"]
    assert tree.xpath("//header/nav/a[@class='end']/@href") == ["/keys", "/usage", "/operate"]


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


def test_nobody_signed_in_sees_the_mark_alone():
    tree = page(visit=Visit(person=None), navigation=[])
    assert text(tree, "//header") == ["Almanac"]
    assert tree.xpath("//header//form | //header//nav | //header//input") == []
    assert "Request req_01HZX" in text(tree, "//footer")[0]


@pytest.mark.parametrize(
    ("theme", "told", "scheme"), [("system", None, "light dark"), ("light", "light", "light"), ("dark", "dark", "dark")]
)
def test_the_theme_is_said_before_anything_is_drawn(theme, told, scheme):
    tree = page(visit=Visit(theme=theme))
    assert tree.get("data-theme") == told
    assert tree.xpath("//meta[@name='color-scheme']/@content") == [scheme]


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


def test_a_refused_form_is_said_in_the_title_and_first_in_main():
    tree = page(errors=[{"field": "name", "message": "Enter a name"}])
    assert tree.findtext(".//title") == "Error: Keys · Almanac"
    assert tree.xpath("//main/*")[0].get("role") == "alert"
    assert page().findtext(".//title") == "Keys · Almanac"
    assert page().xpath("//*[@role='alert']") == []


def test_what_was_searched_for_stays_in_the_field():
    assert page(q='infl"ation').xpath("//input[@id='search']/@value") == ['infl"ation']
    assert page().xpath("//input[@id='search']/@value") == [""]


def test_the_foot_says_version_and_request():
    assert text(page(), "//footer")[0].startswith("Data version 4,812 Times are UTC")
    assert "Data version" not in text(page(visit=Visit(data_version=None)), "//footer")[0]


def test_all_it_asks_for_is_ours_and_under_the_hash():
    asked = page().xpath("//link/@href | //script/@src | //img/@src")
    assert asked == [
        "/static/0123456789abcdef/fonts/sans-400.woff2",
        "/static/0123456789abcdef/app.css",
        "/static/0123456789abcdef/mark.svg",
        "/static/0123456789abcdef/js/shared.js",
    ]


def test_ids_of_the_frame_are_there_once():
    ids = page(visit=Visit(as_of="2024-04-30", simulated=True), errors=[{"field": "x", "message": "y"}]).xpath("//@id")
    assert sorted(ids) == sorted(set(ids))


def test_a_name_that_is_not_there_is_a_fault_and_not_a_blank():
    with pytest.raises(UndefinedError):
        page('{% extends "base.html" %}{% block main %}{{ forgotten }}{% endblock %}')
