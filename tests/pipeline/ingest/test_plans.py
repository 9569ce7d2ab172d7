"""What would be asked, told without asking: of a home that is empty, and of one that asked yesterday."""

from __future__ import annotations

import json
from datetime import date, datetime

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from almanac.__main__ import main
from almanac.catalog.load import shipped
from almanac.config import Http, Settings, SourceSettings
from almanac.pipeline.ingest.newest import parted
from almanac.pipeline.ingest.plans import plans, sums
from almanac.pipeline.ingest.workload import seconds_at, together
from almanac.pipeline.workplace import REAL, Workplace
from almanac.sources.base import Limit, connector
from almanac.sources.formats import strict
from almanac.store.log import schedule

NOW = "2026-11-25T12:00:00Z"
TODAY = date(2026, 11, 25)


def planned(home, *names, now=NOW, **more):
    catalog = shipped()
    chosen = Settings(home=home, now=now, **more)
    found = plans(chosen, catalog, [catalog.sources[name] for name in names])
    return {one.source: one for one in found}


def all_answered(home, found, at):
    """Write down that at that time all that was planned was answered, and 8,000 companies with it."""
    moment = int(datetime.fromisoformat(at).timestamp())
    rows = [(one.source, request.url, request.url, moment) for one in found for request in one.requests]
    listed = [url for _, url, _, _ in rows if url.endswith("company_tickers_exchange.json")]
    rows += [
        ("sec", f"https://data.sec.gov/{folder}/CIK{cik:010d}.json", url, moment)
        for url in listed
        for cik in range(1, 8_001)
        for folder in ("submissions", "api/xbrl/companyfacts")
    ]
    with Workplace(Settings(home=home, now=NOW), kind=REAL) as world:
        world.claim()
        with world.db.transaction():
            world.db.execute("DELETE FROM request")
            world.db.executemany("INSERT INTO request VALUES(?, ?, ?, ?)", rows)
        for one in found:
            schedule.note(world.db, one.source, moment)


def test_of_an_empty_home_everything_is_due_and_nothing_is_written(tmp_path):
    found = planned(tmp_path / "home", "us-treasury-par", "fred", "sec")
    treasury = found["us-treasury-par"]
    assert (treasury.next, treasury.now, treasury.each_turn, treasury.past) == (None, 37, 2, 35)
    assert {one.next for one in treasury.requests} == {None}
    assert found["fred"].lacks[0] == "a key: set ALMANAC_SOURCES__FRED__API_KEY"
    assert found["fred"].now > 100
    assert (found["sec"].turn, found["sec"].leads) == ("last", True)
    assert not (tmp_path / "home").exists()
    told = sums([treasury, found["fred"]])
    assert told[0].startswith("now: 37 requests, ")
    assert told[1].startswith("a day, once all is there: 3 requests, ")
    assert told[2].startswith(f"more now once fred have what they lack: {found['fred'].now:,} requests, ")
    assert told[3] == "about 1 s, answers not counted, until what rates and briefs need first was asked"
    # What the list of companies leads to is counted, though nobody knows yet which they are.
    assert found["sec"].now == 1
    assert found["sec"].at_once.requests > 10_000


def test_of_a_store_that_asked_what_is_left_is_what_is_new_and_the_past_of_the_day(tmp_path):
    home = tmp_path / "home"
    before = planned(home, "us-treasury-par")["us-treasury-par"]
    all_answered(home, [before], "2026-11-24T23:30:00Z")
    after = planned(home, "us-treasury-par")["us-treasury-par"]
    assert (after.next, after.now) == ("2026-11-25T23:30:00Z", 0)
    days = {one.next[:10] for one in after.requests if one.portion == "past"}
    assert len(days) > 12  # spread, each at its own day within four weeks
    assert max(days) <= "2026-12-23"


@pytest.mark.parametrize(
    ("count", "limit", "seconds"),
    [
        (1, None, 0),
        (11, None, 5),
        (11, Limit("office", 1.0), 10),
        (41, Limit("office", budgets=((20, 3_600.0),)), 7_200),
        (20, Limit("office", budgets=((20, 3_600.0),)), 10),
    ],
)
def test_how_long_requests_take_follows_from_pace_and_budgets(count, limit, seconds):
    assert seconds_at(count, Http().requests_per_second, limit) == seconds


def test_the_command_shows_sources_or_every_request_and_refuses_what_narrows(tmp_path):
    def run(*words):
        return CliRunner(env={"ALMANAC_HOME": str(tmp_path / "home"), "ALMANAC_NOW": NOW}).invoke(
            main, ["ingest", *words]
        )

    told = run("--plan", "ecb-exr")
    assert told.exit_code == 0
    assert told.stdout.splitlines()[1].split()[:6] == ["ecb-exr", "first", "now", "16", "2", "14"]
    (one,) = json.loads(run("--plan", "ecb-exr", "--json").stdout)
    assert (one["source"], one["eachTurn"], len(one["requests"])) == ("ecb-exr", 2, 16)
    assert all(request["parts"] <= request["most"] / 2 for request in one["requests"])
    assert run("--plan", "ecb-exr", "--since", "2026-01-01").exit_code == 2
    assert not (tmp_path / "home").exists()


def test_settings_that_a_source_cannot_use_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"sources\.sec\.companies"):
        planned(
            tmp_path, "sec", sources={"sec": SourceSettings(contact="a@example.org", bulk=True, companies=("AAPL",))}
        )


def test_a_store_a_day_old_is_asked_for_a_fifth_of_the_first_load_at_most(tmp_path):
    """Of values, of bytes and of time at the publishers' pace, over the whole catalogue, with keys; companies stand apart."""
    home = tmp_path / "home"
    catalog = shipped()
    names = [one.id for one in catalog.sources.values() if one.connector and one.cadence and not one.simulated]
    names.remove("sec")
    before = planned(home, *names)
    # Asked on Tuesday at noon; at the end of Wednesday the turns of all but the weekly source are on.
    all_answered(home, before.values(), "2026-11-24T12:00:00Z")
    after = planned(home, *names, now="2026-11-26T00:00:00Z")
    first, second = (together(one.at_once for one in found.values()) for found in (before, after))
    assert all(one.now for one in after.values() if one.source != "world-bank")  # which has a turn a week
    assert 0 < second.values <= first.values / 5
    assert second.bytes <= first.bytes / 5
    assert second.seconds <= first.seconds / 5
    assert together(one.a_day for one in before.values()).values <= first.values / 5


def test_a_day_of_companies_asks_for_a_fifth_of_their_first_load_at_most(tmp_path):
    """By who files on a day, as reckoned at most, and by those whose day of the slow round it is."""
    home = tmp_path / "home"
    (before,) = planned(home, "sec").values()
    all_answered(home, [before], "2026-11-24T12:00:00Z")
    (after,) = planned(home, "sec", now="2026-11-25T08:00:00Z").values()
    assert before.at_once.requests > 16_000
    for name in ("requests", "values", "bytes", "seconds"):
        first, second, daily = (getattr(one, name) for one in (before.at_once, after.at_once, after.a_day))
        assert 0 < second <= first / 5, name
        assert 0 < daily <= first / 5, name
    # The index says who filed: its listing is asked for before the list of companies.
    assert [one.next for one in after.requests] == [None, None]
    assert "daily-index" in after.requests[0].url


def test_what_changes_seldom_is_asked_by_the_first_turn_of_a_day(tmp_path):
    """Tags of FRED, say, whose turns are three a day."""
    home = tmp_path / "home"
    before = planned(home, "fred")["fred"]

    def after(asked, now):
        all_answered(home, [before], asked)
        found = planned(home, "fred", now=now)["fred"].requests
        return {one.url for one in found if one.next is None and one.portion == "newest"}

    first = after("2026-11-24T22:15:00Z", "2026-11-25T00:15:00Z")
    second = after("2026-11-25T00:15:00Z", "2026-11-25T14:15:00Z")
    assert first == {one.url for one in before.requests if one.portion == "newest"}
    assert {url.partition("?")[0].rpartition("/fred/")[2] for url in first - second} == {
        "series", "series/tags", "releases", "releases/dates"
    }  # fmt: skip
    assert len(second) == 1 + sum("series/observations" in url for url in first)


def test_a_day_of_everything_is_a_fifth_of_the_first_load_at_most_in_requests_too(tmp_path):
    """
    With keys and with companies. Without these it is more: most publishers answer one series at a time, so that what is new takes
    as many requests as the whole.
    """
    names = [one.id for one in shipped().sources.values() if one.connector and one.cadence and not one.simulated]
    home = tmp_path / "home"
    before = planned(home, *names).values()
    all_answered(home, before, "2026-11-24T12:00:00Z")
    after = planned(home, *names, now="2026-11-25T12:00:00Z").values()
    first, second = (together(one.at_once for one in found) for found in (before, after))
    daily = together(one.a_day for one in before)
    assert first.requests > 16_000
    for name in ("requests", "values", "bytes", "seconds"):
        most = getattr(first, name) / 5
        assert 0 < getattr(second, name) <= most, name
        assert 0 < getattr(daily, name) <= most, name


def test_what_is_new_is_asked_before_the_past_and_nothing_twice_by_hand(tmp_path):
    found = planned(tmp_path / "home", "boc-valet", "imf", "rba", "mof-japan", "us-treasury-par")
    for name, words in (("boc-valet", "start_date=2025-01-01"), ("imf", "startPeriod=2023")):
        portions = {one.url: one.portion for one in found[name].requests}
        newest = [url for url in portions if words in url]
        assert {portions[url] for url in newest} == {"newest"}
        assert {portion for url, portion in portions.items() if url not in newest} == {"past"}
        assert len(newest) == len(portions) / 2
    portions = {one.url.rpartition("/")[2]: one.portion for one in found["rba"].requests}
    assert {file for file, portion in portions.items() if portion == "past"} == {
        "f01dhist.xls", "f02dhist.xls", "f02histhist.xls",
    }  # fmt: skip
    assert {file.rpartition(".")[2] for file, portion in portions.items() if portion == "newest"} == {"csv"}
    history, month = found["mof-japan"].requests
    assert ("jgbcme_all" in history.url, history.portion, month.portion) == (True, "past", "newest")


def test_a_file_of_months_that_are_over_is_asked_each_turn_in_the_first_week_of_the_next():
    catalog = shipped()
    for name in ("mof-japan", "boe-glc"):
        source = catalog.sources[name]
        for day, closed in ((1, False), (7, False), (8, True), (30, True)):
            plan = parted(connector(source.connector), source, catalog.series[name], date(2026, 11, day), None)
            assert [one.closed for one in plan] == [closed, False]


def test_a_series_that_ended_has_no_newest_part(tmp_path):
    catalog = shipped()
    source = catalog.sources["ecb-tgb"]
    reader = connector(source.connector)
    ended = {native: replace(spec, discontinued=True) for native, spec in catalog.series["ecb-tgb"].items()}
    (one,) = parted(reader, source, ended, date(2026, 11, 25), None)
    assert (one.closed, one.newest, "startPeriod" in one.url) == (True, False, False)


def test_every_request_reckons_its_answer_at_half_of_each_bound_at_most():
    """What bounds a reader: separators and bytes of a text, bytes of a body, rows of a page of FRED."""
    catalog = shipped()
    beyond, unreckoned, texts = [], [], 0
    for source in catalog.sources.values():
        if not source.connector or source.simulated:
            continue
        key = "a-key" if source.key_required else None
        for request in parted(connector(source.connector), source, catalog.series.get(source.id, {}), TODAY, key):
            size = request.size
            if size is None or size.values <= 0:
                unreckoned.append(request.url)
                continue
            is_text = not request.url.endswith(".zip")
            texts += is_text
            most_bytes = strict.BYTES if is_text else request.most_in_file or Http().max_bytes
            rows = 100_000 if source.id == "fred" else size.values * 2
            if size.parts > strict.PARTS / 2 or size.bytes > most_bytes / 2 or size.values > rows / 2:
                beyond.append((request.url, size))
    assert (beyond, unreckoned) == ([], [])
    assert texts > 600
