"""One indicator over all its entities: ranked, drawn on the map and sorted as the interface tells it, on any day."""

import re
from datetime import date
from itertools import pairwise

import pytest

from almanac.dashboard.explorer.past import MONTHS, past_slider
from tests.contract.conftest import sandbox
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

__all__ = ["sandbox"]

SLUG, PAST = "gov_yield_10y", "2026-09-30"
ROW = re.compile(r'<input type="checkbox" name="entities" value="([^"]+)"( checked)?>.*?</tr>', re.DOTALL)


@pytest.fixture(scope="module")
def browser(sandbox: Service) -> Browser:
    return signed_in(dashboard(sandbox))


def look(browser: Browser, status: int = 200, **query: str) -> str:
    answer = browser.get(f"/indicators/{SLUG}", **query)
    assert answer.status_code == status, answer.text
    return answer.text


def latest(service: Service, **asked: str) -> dict[str, float]:
    rows = service.walk("/observations/latest", indicator=SLUG, **asked)
    return {row["entityId"]: row["valueNumeric"] for row in rows}


def rows(text: str) -> list[tuple[str, float, int | None]]:
    """Entity, value and rank of each row of the table, in its order."""
    found = []
    for match in ROW.finditer(text):
        value = re.search(r'data-value="([^"]+)"', match[0])
        rank = re.search(r'data-label="Rank">(?:joint )?(\d+)<', match[0])
        found.append((match[1], float(value[1]), int(rank[1]) if rank else None))
    return found


@pytest.mark.parametrize("as_of", ["", PAST])
def test_the_table_ranks_what_the_interface_tells_of_the_day(sandbox, browser, as_of):
    asked = {"as_of": as_of} if as_of else {}
    told = latest(sandbox, **asked)
    shown = rows(look(browser, **asked))
    assert {entity: value for entity, value, _ in shown} == told
    assert len(told) > 5
    stale = {
        row["entityId"] for row in sandbox.walk("/observations/latest", indicator=SLUG, freshness="stale", **asked)
    }
    compared = [(entity, value) for entity, value, _ in shown if entity not in stale]
    assert all(before >= after for (_, before), (_, after) in pairwise(compared))
    assert {entity for entity, _, _ in shown[len(compared) :]} == stale
    # The euro area is beside its countries, not among them.
    ranked = sorted((value for entity, value in compared if entity.startswith("country_")), reverse=True)
    assert len(ranked) > 3
    for entity, value, rank in shown:
        among = entity.startswith("country_") and entity not in stale
        assert rank == (ranked.index(value) + 1 if among else None), entity


def test_another_day_is_another_page_of_numbers(sandbox, browser):
    assert latest(sandbox) != latest(sandbox, as_of=PAST)
    text = look(browser, as_of=PAST)
    assert "known on 30\xa0Sep\xa02026" in text
    assert f"/series/sandbox-us-treasury-par:country_usa:{SLUG}:D?as_of={PAST}" in text


def test_the_map_has_a_colour_for_each_ranked_country_and_says_its_value(sandbox, browser):
    text = look(browser)
    drawn = dict(re.findall(r'<path class="(q\d)" d="[^"]+"><title>([^:]+):', text))
    assert sorted(drawn) == ["q1", "q2", "q3", "q4", "q5"]
    titles = re.findall(r'<path class="q(\d)" d="[^"]+"><title>([^:]+): ([\d.−]+), ', text)
    grades = {name: (int(grade), float(value)) for grade, name, value in titles}
    assert len(grades) == sum(entity.startswith("country_") for entity in latest(sandbox))
    by_value = sorted(grades.values(), key=lambda pair: pair[1])
    assert [grade for grade, _ in by_value] == sorted(grade for grade, _ in by_value)
    for grade, value in grades.values():
        legend = re.search(rf'class="q{grade}" width="20" height="12"/></svg>([^<]+)</li>', text)[1]
        bounds = [float(one) for one in re.findall(r"\d+\.\d+", legend)]
        assert min(bounds) <= value <= max(bounds)
    high = max(value for _, value in grades.values())
    assert f"at {high:.3f}%" in text.partition('id="map-caption">')[2].partition("</p>")[0]


class TestPastSlider:
    """Ends of months, and the steps between them."""

    class Visit:
        """As much of a visit as the slider asks for."""

        history_from = None

        def __init__(self, known=None):
            self.today, self.known_on = date(2026, 11, 25), known and date.fromisoformat(known)

        def here(self, **changes):
            return changes["as_of"] or "today"

    def test_today_steps_back_to_the_end_of_the_last_month(self):
        made = past_slider(self.Visit())
        assert (made.now, made.last, len(made.days)) == (MONTHS, MONTHS, MONTHS + 1)
        assert (made.back, made.ahead, made.today) == ("2026-10-31", "", "")

    def test_an_end_of_a_month_steps_both_ways(self):
        made = past_slider(self.Visit("2026-09-30"))
        assert made.days[made.now] == "2026-09-30"
        assert (made.back, made.ahead, made.today) == ("2026-08-31", "2026-10-31", "today")

    def test_a_day_between_two_ends_steps_to_both(self):
        made = past_slider(self.Visit("2026-10-05"))
        assert (made.back, made.ahead) == ("2026-09-30", "2026-10-31")

    def test_before_all_ends_there_is_no_step_back(self):
        made = past_slider(self.Visit("1990-01-01"))
        assert made.back == ""
        assert made.now == 0
