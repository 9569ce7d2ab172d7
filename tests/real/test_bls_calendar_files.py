"""The Bureau's calendars as events: one for each publication, about what the Bureau's schedule says it is about.

The calendar of February 2026 has the days as they were revised after the lapse in appropriations of 2025. Days counted
back gave its releases wrong periods, and lost four of them to others of the same period.
"""

import re
from collections import Counter

import pytest

from almanac.domain.times import wire_time
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.workplace import Workplace
from almanac.store.engine import sqlite
from tests.support.service import settings

from .files import FOLDER, REAL

pytestmark = REAL
URL = "https://www.bls.gov/schedule/news_release/bls.ics"
NAMES = {
    "consumer_prices": "Consumer Price Index",
    "employment_cost": "Employment Cost Index",
    "employment_situation": "Employment Situation",
    "job_openings": "Job Openings and Labor Turnover Survey",
    "producer_prices": "Producer Price Index",
}


def taken(home, name):
    """Text of a calendar, and (type, day, period) of each event that it makes of a release of ours."""
    body = (FOLDER / "macro/bls" / name).read_bytes()
    with Workplace(settings(home, NOW="2026-02-23T12:00:00Z")) as world:
        outcome = Ingest(world, world.catalog.sources["bls-calendar"], lambda _: None).run(
            [Arrival(URL, body, "text/calendar", None)]
        )
        assert outcome.exit_code == 0
        found = world.db.execute(
            "SELECT DISTINCT event, type, occurred_at, period FROM event"
            " WHERE category = 'macro_release' AND to_version = ? ORDER BY occurred_at",
            (sqlite.OPEN,),
        )
        return body.decode(), [(kind, wire_time(at)[:10], period) for _, kind, at, period in found]


@pytest.mark.parametrize("name", ["bls_release_calendar_2026-02.ics", "bls_release_calendar_2023_2024.ics"])
def test_every_entry_is_an_event_about_a_period_of_its_own(tmp_path, name):
    text, events = taken(tmp_path / "home", name)
    entries = Counter(re.findall(r"(?m)^SUMMARY:(.*?)\r?$", text))
    assert Counter(kind for kind, *_ in events) == {kind: entries[title] for kind, title in NAMES.items()}
    told = [(kind, period) for kind, _, period in events]
    assert len(set(told)) == len(told)
    assert None not in {period for _, period in told}


def test_after_the_lapse_of_2025_periods_are_those_of_the_agency_s_page(tmp_path):
    """By hand, from the Bureau's page of revised dates: the four that were lost, and those that were a month off."""
    _, events = taken(tmp_path / "home", "bls_release_calendar_2026-02.ics")
    about = {(kind, day): period for kind, day, period in events}
    lost = {("job_openings", "2025-04-01"): "2025-02", ("job_openings", "2025-07-01"): "2025-05",
            ("job_openings", "2025-09-03"): "2025-07", ("producer_prices", "2026-01-14"): "2025-11"}  # fmt: skip
    wrong = {("employment_situation", "2025-11-20"): "2025-09", ("producer_prices", "2025-11-25"): "2025-09",
             ("job_openings", "2025-09-30"): "2025-08", ("job_openings", "2025-12-09"): "2025-10",
             ("employment_situation", "2025-12-16"): "2025-11", ("consumer_prices", "2025-12-18"): "2025-11",
             ("employment_cost", "2025-12-10"): "2025-Q3", ("producer_prices", "2026-01-30"): "2025-12"}  # fmt: skip
    assert {key: about[key] for key in lost | wrong} == lost | wrong
