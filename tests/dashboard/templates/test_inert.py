"""What the policy of the dashboard forbids is in no template, style or script; nothing is asked of another host; sizes hold."""

import re

import pytest

from .kit import STATIC, TEMPLATES

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
