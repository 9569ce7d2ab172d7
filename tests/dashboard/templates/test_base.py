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
