"""Faults that others met with macro feeds, replayed through commands and interface; and the publishers' own files altered."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from almanac.domain.periods import Period
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.ingest.outcome import exit_code
from almanac.sources.base import Payload, connector
from almanac.store.engine import sqlite
from tests.support.service import settings

from .files import FOLDER, REAL

CASES = FOLDER.parent / "cases" / "macro"
pytestmark = REAL


def names():
    return sorted(one.parent.name for one in CASES.glob("*/case.json"))


@pytest.mark.slow
@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("name", names())
def test_a_case_holds(name):
    command = [sys.executable, str(CASES / "run.py"), str(Path(sys.executable).parent / "almanac"), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, [f"{name}: holds", "1/1 cases hold"]), done.stderr


def read(catalog, listed, source, path, alter=lambda text: text):
    body = alter((FOLDER / path).read_text("utf-8")).encode()
    record = catalog.sources[source]
    return connector(record.connector).parse(
        Payload(listed[path], body, 1_790_000_000, ""), record, catalog.series[source]
    )


def test_the_european_central_bank_s_file_sent_as_a_deletion_withdraws_all_and_reads_no_number(catalog, listed):
    path = "macro/ecb/ecb_exr_m_usd.xml"
    (stated,) = read(catalog, listed, "ecb-exr", path).blocks
    (gone,) = read(catalog, listed, "ecb-exr", path, lambda text: text.replace('"Replace"', '"Delete"')).blocks
    assert len(stated.statements) == len(gone.statements) == 252
    assert [told.period for told in gone.statements] == [told.period for told in stated.statements]
    assert {told.value for told in gone.statements} == {None}
    assert (gone.native, gone.complete) == (stated.native, None)


@pytest.mark.parametrize(
    ("words", "native"), [("Euro", "WEO.SVK.NGDP_R.A"), ("Slovak Koruna", "WEO.SVK.NGDP_R.A|SKK"), ("Shells", None)]
)
def test_the_fund_s_file_counts_in_the_currency_it_names(catalog, listed, words, native):
    """Real output of Slovakia in 2018, read by eye: 94,669,000,000, in euro."""
    parsed = read(
        catalog, listed, "imf", "macro/imf/imf_weo_svk_ngdp_r.xml", lambda text: text.replace('"Euro"', f'"{words}"')
    )
    told = [(block.native, {one.value for one in block.statements}) for block in parsed.blocks]
    assert told == ([] if native is None else [(native, {94_669_000_000.0})])
    assert list(parsed.unknown) == ([] if native else ["currency 'Shells' of WEO.SVK.NGDP_R.A"])


@pytest.mark.parametrize(
    ("months", "how", "period"),
    [
        ("January/December", "", "2018-01-01..2018-12-31"),
        ("April/March", "FY(t/t+1) = CY(t)", "2018-04-01..2019-03-31"),
        ("July/June", "FY(t-1/t) = CY(t)", "2017-07-01..2018-06-30"),
        ("July/June", "", None),
    ],
)
def test_the_fund_s_file_is_of_the_year_it_states(catalog, listed, months, how, period):
    """The file of api.imf.org (WEO of October 2025), which says January/December of Slovakia; 94,669,000,000 under 2018, read by eye."""
    path = "macro/imf/imf_weo_svk_ngdp_r.xml"
    parsed = read(
        catalog,
        listed,
        "imf",
        path,
        lambda text: text.replace("January/December", months).replace(
            'METHODOLOGY_NOTES="', f'METHODOLOGY_NOTES="{how} '
        ),
    )
    told = [
        (str(Period.from_key(one.period)), one.value, one.flags) for block in parsed.blocks for one in block.statements
    ]
    # The release, and the correction of 19 November 2025.
    assert told == ([] if period is None else [(period, 94_669_000_000.0, 0)] * 2)
    assert parsed.unread == ([] if period else [f"unknown year '{months}, 2024' of WEO.SVK.NGDP_R.A"])


# The Bureau's calendars as events: one for each publication, about what the Bureau's schedule says it is about.


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
    with PipelineContext(settings(home, NOW="2026-02-23T12:00:00Z")) as world:
        outcome = Ingest(world, world.catalog.sources["bls-calendar"], lambda _: None).run(
            [Arrival(URL, body, "text/calendar", None)]
        )
        assert exit_code([outcome]) == 0
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
