"""Figures, health and what could not be read, on the invented mirror."""

import msgspec
import pytest

from almanac.catalog.releases import meetings
from almanac.domain.cadence import Turn
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.operate.status import Quarantined, Stale, Unmapped, status
from almanac.store.engine.sql_compat import next_id
from almanac.store.log import schedule
from almanac.store.summary.coverage import coverage
from tests.support.treasury_home import (
    BROKEN,
    FIRST,
    NOW,
    ROWS,
    SOURCE,
    TEN_YEARS,
    THIRD,
    TWO_YEARS,
    curve,
    day,
    settings,
    take,
    url,
)

DAY = 86_400
#: A curve of the day before NOW.
RECENT = curve({"2026-11-19": day(3.5, 4.2)})

#: Meetings of central banks come with the package.
MEETINGS = sum(len(bank.days) for bank in meetings().bank)


def state(world, days=0):
    return status(world.db, world.settings.clock() + int(days * DAY))


def health(found, source=SOURCE):
    return {one.id: one for one in found.sources}[source]


def test_figures_of_the_invented_mirror(world):
    found = coverage(world.db)
    rows = dict(
        world.db.execute(
            "SELECT kind, count(*) FROM vintages JOIN topic USING(topic) WHERE to_version = 2147483647 AND until IS NULL AND (value IS NOT NULL OR text IS NOT NULL) GROUP BY kind"
        )
    )
    # Two tenors of four days each that still have a value.
    assert rows["raw"] == found.observations == 8
    assert rows["derived"] == found.derived_observations > 0
    assert found.vintages == world.db.execute("SELECT count(*) FROM vintages WHERE to_version = 2147483647").get
    assert (found.countries, found.regions, found.companies) == (1, 0, 0)
    slugs = {"raw": set(), "derived": set()}
    for kind, indicator in world.db.execute(
        "SELECT kind, indicator FROM topic JOIN series USING(topic) WHERE rows > 0"
    ):
        slugs[kind].add(indicator)
    assert slugs["raw"] == {"gov_yield_2y", "gov_yield_10y"}
    assert "yield_slope_2s10s" in slugs["derived"]
    assert (found.indicators.raw, found.indicators.derived) == (2, len(slugs["derived"]))
    assert found.series == 2 + len(slugs["derived"])
    assert (found.providers, found.sources, found.statements, found.events) == (1, 1, 0, MEETINGS)
    assert (found.first_period, found.last_period) == ("2025-12-31T00:00:00Z", "2026-01-07T00:00:00Z")
    assert found.last_ingested_at == NOW
    assert found.data_version == world.db.execute("SELECT max(version) FROM version").get


def test_the_names_are_those_of_the_interface(world):
    assert list(msgspec.to_builtins(coverage(world.db))) == [
        "countries", "regions", "companies", "indicators", "series", "observations", "derivedObservations", "vintages",
        "statements", "events", "providers", "sources", "firstPeriod", "lastPeriod", "lastIngestedAt", "dataVersion",
    ]  # fmt: skip


def test_an_empty_store_has_zeros_and_nulls(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        found = msgspec.to_builtins(coverage(world.db))
        assert found.pop("dataVersion") == 1  # the catalogue
        assert found.pop("indicators") == {"raw": 0, "derived": 0}
        assert found.pop("events") == MEETINGS
        assert set(found.values()) == {0, None}
        assert {one.health for one in state(world).sources} == {"never_run"}


def test_a_company_counts_one_statement_for_each_period_of_its_telling_line(world):
    columns = "entity, cik, source, base, slug, name, sector, template, reports, body"
    for entity, reports in (("company_1", 1), ("company_2", 0)):  # a company without statements does not count
        world.db.execute(
            f"INSERT INTO company({columns}) VALUES(?1, 1, 'sec', ?1, ?1, ?1, 'Unclassified', 'industrial', ?2, '{{}}')",
            (entity, reports),
        )
    lines = [("net_income", "A", 10), ("net_income", "Q", 40), ("revenue", "A", 99), ("total_assets", "A", 9)]
    for number, (indicator, frequency, rows) in enumerate(lines, start=5000):
        world.db.execute("INSERT INTO topic VALUES(?, ?, 'company_1', ?, 'derived')", (number, indicator, frequency))
        # A second source that tells the same statements adds none.
        for source, count in (("sec", rows), ("copy", rows - 1)):
            world.db.execute(
                f"INSERT INTO series VALUES({next_id('series', 'series')}, ?, ?, ?, 1, 0, 0, NULL, NULL, ?, ?, NULL, NULL, NULL, NULL, 0, 0)",
                (f"{source}-{number}", number, source, count, count),
            )
    found = coverage(world.db)
    assert (found.companies, found.statements) == (1, 10 + 40 + 9)


def test_what_could_not_be_read_and_what_is_not_mapped_is_listed(world):
    found = state(world)
    (one,) = found.quarantine
    assert (one.source, one.url, one.fetched_at) == (SOURCE, url(2024), "2026-01-07T23:33:00Z")
    assert "DOCTYPE" in one.reason
    assert isinstance(one, Quarantined)
    assert found.unmapped == [Unmapped(SOURCE, "BC_4MONTH", 1)]


def test_a_source_fails_while_the_newest_answer_of_an_address_cannot_be_read(world, tmp_path):
    found = health(state(world))
    assert (found.health, found.unreadable) == ("failing", 1)
    assert found.reason == "the newest answer of 1 address cannot be read"
    mended = (url(2024), "2026-01-08T00:00:01Z", THIRD.replace(b"2026-01", b"2024-01"), 200)
    take(world, tmp_path / "mirror", [*ROWS, mended, (url(2026), "2026-11-20T00:00:01Z", RECENT, 200)])
    assert (health(state(world)).health, health(state(world)).unreadable) == ("ok", 0)
    assert len(state(world).quarantine) == 1  # still kept and still listed
    take(world, tmp_path / "mirror", [(url(2024), "2026-01-09T00:00:01Z", BROKEN, 200)])
    assert health(state(world)).health == "failing"


@pytest.mark.parametrize(
    ("days", "word", "reason"),
    [
        # NOW is a Friday noon; the source is asked on weekdays at 23:30.
        (0, "ok", None),
        (3, "ok", None),
        (3.4, "ok", None),
        (3.5, "late", f"no success since {NOW}"),
    ],
)
def test_a_source_that_is_not_asked_is_late_by_its_cadence(tmp_path, days, word, reason):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", [(url(2026), "2026-11-20T00:00:00Z", RECENT, 200)])
        found = health(state(world, days))
        assert (found.health, found.reason) == (word, reason)
        assert (found.last_success_at, found.last_error) == (NOW, None)
        assert health(state(world, days), "fred").health == "never_run"


def test_a_feed_that_answers_but_has_stopped_is_late_and_its_series_are_listed(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", ROWS[:1])
        found = state(world)
        one = health(found)
        assert (one.health, one.reason) == ("late", "answers, but every daily series is stale")
        assert (one.last_success_at, one.series, one.judged_series, one.stale_series) == (NOW, 3, 2, 2)
        assert found.stale == [
            Stale(SOURCE, TEN_YEARS, "2026-01-05T00:00:00Z"),
            Stale(SOURCE, TWO_YEARS, "2026-01-05T00:00:00Z"),
        ]
        # One of the two goes on: the other has ended by itself, and the feed is well.
        alone = curve({"2026-01-05": day(3.6, 4.3), "2026-11-19": {"BC_2YEAR": 3.5}})
        take(world, tmp_path / "mirror", [(url(2026), "2026-11-20T00:00:00Z", alone, 200)])
        found = state(world)
        assert (health(found).health, health(found).judged_series, health(found).stale_series) == ("ok", 2, 1)
        assert [one.series_id for one in found.stale] == [TEN_YEARS]


def test_discontinued_series_make_no_source_late(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        natives = {
            native: msgspec.structs.replace(spec, discontinued=True)
            for native, spec in world.catalog.series[SOURCE].items()
        }
        world.catalog = msgspec.structs.replace(world.catalog, series={**world.catalog.series, SOURCE: natives})
        source = world.catalog.sources[SOURCE]
        Ingest(world, source, lambda _: None).run([Arrival(url(2026), FIRST, "application/xml", None)])
        found = state(world)
        assert (
            health(found).health,
            health(found).series,
            health(found).judged_series,
            health(found).stale_series,
        ) == ("ok", 3, 0, 0)
        assert found.stale == []


def test_when_a_source_is_next_due(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        assert health(state(world)).next_due_at == "2026-11-19T23:30:00Z"  # it waits since then
        schedule.note(world.db, SOURCE, world.settings.clock())
        assert health(state(world)).next_due_at == "2026-11-20T23:30:00Z"
        schedule.take(world.db, SOURCE, "a", 0, 1)
        schedule.end(world.db, SOURCE, "a", Turn(None, 1, world.settings.clock() + 300))
        assert health(state(world)).next_due_at == "2026-11-20T12:05:00Z"


def test_a_run_that_failed_says_why(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        world.db.execute(
            "INSERT INTO source_state VALUES(?, 20, 10, 10, 1, 'the publisher answered 503', NULL)", (SOURCE,)
        )
        found = health(state(world))
        assert (found.health, found.reason) == (
            "failing",
            "the publisher answered 503; no success since 1970-01-01T00:00:10Z",
        )
        assert found.last_error == "the publisher answered 503"
        assert (found.last_attempt_at, found.last_success_at) == (wire_time(20), wire_time(10))


def test_a_run_that_has_not_ended_is_told_of_a_source_that_was_never_asked_through(tmp_path):
    """Killed, or under way: nothing else knows that anybody tried."""
    with PipelineContext(settings(tmp_path)) as world:
        run = Ingest(world, world.catalog.sources[SOURCE], lambda _: None)
        run.begin()
        begun = health(state(world))
        assert (begun.health, begun.reason) == (
            "never_run",
            f"a run that began at {wire_time(world.settings.clock())} has not ended: it goes on, or was cut off",
        )
        run.close()
        assert health(state(world)).reason is None


def test_a_storage_that_fails_is_the_reason_and_ends_with_the_next_good_run(tmp_path, monkeypatch):
    with PipelineContext(settings(tmp_path)) as world:
        with monkeypatch.context() as broken, pytest.raises(OSError, match="No space left"):
            broken.setattr(Ingest, "keep", _full)
            take(world, tmp_path / "mirror")
        failed = health(state(world))
        assert (failed.health, failed.last_ingested_at) == ("failing", None)
        assert failed.last_error == "the storage failed: OSError: [Errno 28] No space left on device"
        assert failed.reason == f"{failed.last_error}; no success yet"
        take(world, tmp_path / "mirror")
        assert health(state(world)).last_error is None


def _full(*_):
    raise OSError(28, "No space left on device")
