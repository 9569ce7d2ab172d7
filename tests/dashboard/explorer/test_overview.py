"""The first page: what is new since the last visit, as the interface says it, and what is there where little is."""

from __future__ import annotations

import html
import re

import pytest

from almanac.dashboard.formatting.dates import day


def plain(text: str) -> str:
    return html.unescape(text).replace("\xa0", " ")


def rows(text: str, name: str) -> list[list[str]]:
    """Texts of a table's cells."""
    body = text[text.index(f'id="{name}"') :]
    body = body[body.index("<tbody") : body.index("</tbody>")]
    found = [
        re.findall(r"<(?:th|td)[^>]*>(.*?)</(?:th|td)>", row, re.DOTALL)
        for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    ]
    return [[plain(re.sub(r"<[^>]*>", " ", cell)).strip() for cell in row] for row in found]


def test_a_first_visit_looks_a_week_back_and_the_next_one_to_the_last(browser):
    one = browser()
    text = plain(one.get("/").text)
    assert "since 13 Nov 2026" in text
    assert "your last visit" not in text
    assert one.cookies["almanac-visit"] == "_2026-11-20"
    one.cookies["almanac-visit"] = "2026-11-02_2026-11-16"
    assert "since your last visit, 16 Nov 2026" in plain(one.get("/").text)
    assert one.cookies["almanac-visit"] == "2026-11-16_2026-11-20"
    # The same day once more is the same visit.
    assert "since your last visit, 16 Nov 2026" in plain(one.get("/").text)
    # One who was away for long is told a month of it.
    one.cookies["almanac-visit"] = "_2020-01-01"
    assert "since your last visit, 20 Oct 2026" in plain(one.get("/").text)


@pytest.mark.parametrize("kept", ["zzz", "2026-99-01_2026-11-40", "_", "2031-01-01_2031-01-02", "a_b_c_d"])
def test_what_a_browser_kept_is_not_believed(browser, kept):
    one = browser()
    one.cookies["almanac-visit"] = kept
    assert "since 13 Nov 2026" in plain(one.get("/").text)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("31.4.24", "is not a date"),
        ("2027-01-01", "not within the last year"),
        ("2001-01-01", "not within the last year"),
    ],
)
def test_a_day_that_cannot_be_is_refused_at_its_field(browser, typed, words):
    answer = browser().get("/", since=typed)
    assert answer.status_code == 400
    assert words in plain(answer.text)
    assert f'value="{typed}"' in answer.text


def test_releases_have_headline_number_and_line_and_revisions_tell_by_how_much(browser, service):
    text = browser().get("/", since="2026-10-25").text
    told = service.ok("/release-summaries", start_date="2026-10-25", limit=100)
    assert told
    shown = rows(text, "releases")
    assert [row[1] for row in shown] == [plain(one["headline"]) for one in told[:12]]
    for row, one in zip(shown, told, strict=False):
        assert plain(day(one["releasedAt"])) in row[0]
    assert text.count('class="spark"') > 0
    changed = [
        reading
        for one in told
        for reading in one["readings"]
        if reading["revisedPrevious"] not in {None, reading["previous"]}
    ]
    table = rows(text, "revised")
    assert len(table) == min(len(changed), 10) or (not changed and "changed the number" in table[0][0])
    for was, now in ((row[2], row[3]) for row in table if changed):
        assert was != now, "a revision that is told alike"


def test_a_withheld_number_is_not_on_the_first_page(browser, service):
    text = plain(browser().get("/", since="2026-10-25").text)
    told = service.ok("/release-summaries", start_date="2026-10-25", limit=100)
    shut = [one for one in told if one["readings"][0]["rights"]["valueWithheld"]]
    assert all(one["readings"][0]["actual"] is None for one in shut)
    for name, *_, number, _ in rows(text, "releases"):
        if any(one["name"] in name for one in shut):
            assert not re.search(r"\d", number) or "Withheld" in number


def test_curves_of_all_scopes_stand_in_small(browser, service):
    text = browser().get("/").text
    part = plain(text[text.index('id="curves"') : text.index("</section>", text.index('id="curves"'))])
    assert re.findall(r'href="(/rates/\w+)"', part) == ["/rates/JPN", "/rates/USA"]
    ten = service.ok("/observations/latest", indicator_id="gov_yield_10y", country="USA")[0]["valueNumeric"]
    assert f"{ten:.2f}" in part
