"""Companies of the SEC, day after day: by its daily indexes only those are asked for of whom there is something new."""

import re
import shutil
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta

import pytest

from almanac.domain.times import DAY_SECONDS
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest.request_ledger import its_day
from almanac.sandbox.companies import responses
from almanac.store.log import payloads, requests
from tests.publishers import troubles
from tests.publishers.rehearsal import rehearsal
from tests.publishers.room import Reply
from tests.publishers.rooms import sec
from tests.publishers.test_rehearsed_month import at, work

#: How many there are, with two responses each.
COMPANIES, ALL = 5, 10
#: A Tuesday, and an hour later; the turn of the Saturday after it, behind a day on which two of them filed.
START, AFTER, SATURDAY = "2026-10-20T08:00:00Z", "2026-10-20T09:00:00Z", date(2026, 10, 24)
INDEX = "https://www.sec.gov/Archives/edgar/daily-index/2026/QTR4/master.{:%Y%m%d}.idx"
LISTING = "/daily-index/2026/QTR4/index.json"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """The home of a store that has loaded five companies."""
    home = tmp_path_factory.mktemp("loaded") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sec, "COMPANIES", COMPANIES)
        sec._there.cache_clear()
        with rehearsal(home, START, patch.setattr, keys=True) as (settings, stand_in, _):
            work(settings, stand_in.clock, at(START) + 3_600, ["sec"])
            assert len(companies(stand_in, date(2026, 10, 20))) == ALL
            # There is nothing that an index could spare the first load.
            assert [line.url for line in stand_in.log if "daily-index" in line.url] == []
    sec._there.cache_clear()
    return home


@pytest.fixture
def begun(tmp_path, monkeypatch, loaded):
    """Settings of such a store, and the stand-in."""
    shutil.copytree(loaded, tmp_path / "home")
    monkeypatch.setattr(sec, "COMPANIES", COMPANIES)
    sec._there.cache_clear()
    with rehearsal(tmp_path / "home", AFTER, monkeypatch.setattr, keys=True) as (settings, stand_in, _):
        yield settings, stand_in
    sec._there.cache_clear()


def companies(stand_in, day):
    """What was asked on a day of companies: their number, and whether it was for their facts."""
    found = []
    for line in stand_in.log:
        told = re.search(r"/(submissions|companyfacts)/CIK([0-9]{10})\.json", line.url)
        if told and datetime.fromtimestamp(line.at, UTC).date() == day:
            found.append((int(told[2]), told[1] == "companyfacts"))
    return found


def until(settings, stand_in, day):
    """Let the worker go on to the noon of a day."""
    end = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
    return work(settings, stand_in.clock, end, ["sec"])


def filers(day):
    """CIK → forms that a company filed on a day."""
    now = int(datetime(2026, 12, 10, tzinfo=UTC).timestamp())
    found = defaultdict(set)
    for number in range(COMPANIES):
        for filing in responses.filing_history(number, now).filings:
            if filing.filed == day.toordinal():
                found[responses.filer(number).cik].add(filing.form)
    return found


def on_slow_round(day, since):
    """Companies' responses whose own day of the slow round came after the turn before, up to a day."""
    found = set()
    for number in range(COMPANIES):
        cik = responses.filer(number).cik
        for facts, folder in ((False, "submissions"), (True, "api/xbrl/companyfacts")):
            own = its_day(
                f"https://data.sec.gov/{folder}/CIK{cik:010d}.json", (day.toordinal() - 719_163) * DAY_SECONDS
            )
            if since.toordinal() - 719_163 < own // DAY_SECONDS:
                found.add((cik, facts))
    return found


@pytest.mark.slow
def test_a_turn_asks_for_who_filed_and_for_no_other(begun):
    settings, stand_in = begun
    until(settings, stand_in, SATURDAY)
    filed = filers(SATURDAY - timedelta(days=1))
    asked = companies(stand_in, SATURDAY)
    assert len(filed) == 2
    assert {cik for cik, _ in asked} >= filed.keys()
    assert set(asked) - on_slow_round(SATURDAY, SATURDAY - timedelta(days=1)) == {
        (cik, facts) for cik in filed for facts in (False, True)
    }
    # The filing is there, and the index through which it was asked for is kept like every answer.
    with PipelineContext(settings, kind=REAL) as world:
        days = {row for (row,) in world.db.execute("SELECT filed FROM filing WHERE form = '8-K'")}
        assert (SATURDAY - timedelta(days=1)).toordinal() in days
        kept = world.raw.latest("sec", INDEX.format(SATURDAY - timedelta(days=1)))
        row = payloads.find(world.db, kept.id)
        assert (row.state, row.reason.partition(": ")[2]) == (
            payloads.IGNORED, "who filed on a day, 3 in all: of them it is asked what is new"
        )  # fmt: skip
        assert all(one.answered_at is not None for one in requests.standing(world.db, "sec").values())
    # Each index is asked for until it has nothing new for anybody, those of days before the first load never.
    indexes = {line.url[-12:-4] for line in stand_in.log if "master." in line.url}
    assert indexes == {"20261019", "20261020", "20261021", "20261022", "20261023"}
    assert [line.status for line in stand_in.log if line.failed] == []


@pytest.mark.slow
def test_in_a_month_no_filing_is_missed_and_everything_is_asked_for_once_more(begun):
    settings, stand_in = begun
    began, turns, total = date(2026, 10, 20), 0, 0
    day = before = began
    ever = defaultdict(int)
    while day < date(2026, 11, 24):
        day += timedelta(days=1)
        until(settings, stand_in, day)
        asked = companies(stand_in, day)
        if day.weekday() in {6, 0}:  # its turns are from Tuesday to Saturday
            assert asked == []
            continue
        assert len(asked) == len(set(asked))
        turns, total = turns + 1, total + len(asked)
        for one in asked:
            ever[one] += 1
        for past in range((day - before).days):
            filed = filers(day - timedelta(days=past + 1))
            assert set(asked) >= {(cik, facts) for cik in filed for facts in (False, True)}, day
        # Facts of reports are asked for on two days more, for they may be late.
        recent = {cik for late in range(1, 6) for cik in filers(day - timedelta(days=late))}
        assert {cik for cik, _ in set(asked) - on_slow_round(day, before)} <= recent
        before = day
    assert len(ever) == ALL
    assert total <= turns * ALL / 5
    # A day on which nobody works has no index: nothing failed for it.
    assert [line.status for line in stand_in.log if line.failed] == []
    assert stand_in.broken == []


@pytest.mark.slow
@pytest.mark.parametrize("word", [LISTING, "master.20261023.idx"])
@pytest.mark.parametrize(
    "reply", [Reply(b"Service Unavailable", "text/html", 503), Reply(b"<html>Something else</html>", "text/html")]
)
def test_where_a_list_cannot_be_read_all_are_asked_as_before(begun, word, reply):
    settings, stand_in = begun
    until(settings, stand_in, SATURDAY - timedelta(days=1))

    def trouble(room, asked, found):
        return reply if word in asked.url and asked.now < at("2026-10-24T07:40:00Z") else found

    stand_in.trouble.append(trouble)
    until(settings, stand_in, SATURDAY)
    assert len(set(companies(stand_in, SATURDAY))) == ALL
    # Once the list is there it is read, and nobody is asked once more for it.
    assert [line.status for line in stand_in.log if word in line.url][-1] == 200
    assert len(companies(stand_in, SATURDAY)) == ALL


def test_companies_that_fail_are_asked_again_they_alone(begun):
    settings, stand_in = begun
    until(settings, stand_in, SATURDAY - timedelta(days=1))
    unwell = f"CIK{min(filers(SATURDAY - timedelta(days=1))):010d}"
    end = at("2026-10-24T07:31:00Z")
    stand_in.trouble.append(troubles.altered("sec", unwell, 0, end, lambda body: b"<html>Busy</html>"))
    until(settings, stand_in, SATURDAY)
    asked = companies(stand_in, SATURDAY)
    again = {one for one in asked if asked.count(one) > 1}
    assert {cik for cik, _ in again} <= {int(unwell[3:])}
    assert len(set(asked)) <= 4 + len(on_slow_round(SATURDAY, SATURDAY - timedelta(days=1)))


@pytest.mark.slow
def test_after_a_pause_longer_than_the_indexes_that_are_looked_at_all_are_asked(begun):
    settings, stand_in = begun
    stand_in.clock.now = at("2026-12-05T08:00:00Z")
    until(settings, stand_in, date(2026, 12, 5))
    assert len(companies(stand_in, date(2026, 12, 5))) == ALL


@pytest.mark.slow
def test_the_first_turn_of_a_year_does_not_ask_for_a_folder_that_is_not_there_yet(begun):
    settings, stand_in = begun
    stand_in.clock.now = at("2027-01-01T12:00:00Z")
    until(settings, stand_in, date(2027, 1, 2))
    assert [line.status for line in stand_in.log if line.failed] == []
    assert any("/2026/QTR4/index.json" in line.url for line in stand_in.log)
