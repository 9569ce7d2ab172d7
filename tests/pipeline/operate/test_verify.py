"""What `verify` finds, one fault at a time; and that a healthy store has none."""

import json

import pytest

from almanac.domain.periods import Period
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta
from tests.support.treasury_home import SLOPE, SOURCE, TWO_YEARS

SECOND, FIFTH, SIXTH = (Period.parse(day).key for day in ("2026-01-02", "2026-01-05", "2026-01-06"))
TWO = f"series = (SELECT series FROM series WHERE id = '{TWO_YEARS}')"
SLOPES = f"series = (SELECT series FROM series WHERE id = '{SLOPE}')"
OPEN = "to_version = 2147483647"


def problems(world):
    return list(verify(world, Checked()))


def test_a_healthy_store_has_no_problem_and_says_how_much_was_checked(world):
    checked = Checked()
    assert list(verify(world, checked)) == []
    cells, vintages = world.db.execute(
        f"SELECT count(DISTINCT topic || ' ' || period || ' ' || series), count(*) FROM vintages WHERE {OPEN}"
    ).fetchone()
    series = world.db.execute("SELECT count(*) FROM series").get
    assert (checked.payloads, checked.series, checked.cells, checked.vintages) == (6, series, cells, vintages)
    assert cells >= 15


def test_checking_writes_nothing_and_holds_up_no_writer(world):
    before = meta(world.db, "version")
    walk = verify(world, Checked())
    world.db.execute("UPDATE vintages SET ingested_at = 0 WHERE period = ?", (SECOND,))
    next(walk)
    other = opening.connect(world.settings.home / "data.db", busy_seconds=0)
    with other.transaction():
        other.execute("DELETE FROM unmapped")
    other.close()
    list(walk)
    assert meta(world.db, "version") == before


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (f"UPDATE vintages SET ingested_at = 0 WHERE {TWO} AND period = {SIXTH}", "before it came in at 0"),
        (f"UPDATE vintages SET payload = 999 WHERE {TWO} AND period = {SIXTH}", "payload 999, which was not folded"),
        (f"UPDATE vintages SET value = 3.5 WHERE {TWO} AND period = {SECOND}", "are equal"),
        (f"UPDATE vintages SET value = NULL WHERE {TWO} AND period = {SIXTH}", "begins with a withdrawal"),
        (f"UPDATE vintages SET period = 1099511627776 WHERE {TWO} AND period = {SIXTH}", "1099511627776: is no period"),
        (f"UPDATE series SET rows = rows + 1 WHERE {TWO}", "its rows say"),
        (f"UPDATE vintages SET value = value + 0.25 WHERE {TWO} AND period = {SIXTH}", f"series {TWO_YEARS}: says"),
        (f"UPDATE vintages SET flags = flags + 1 WHERE {TWO} AND period = {SIXTH}", f"series {TWO_YEARS}: says"),
        (f"UPDATE vintages SET released_at = released_at - 1 WHERE {TWO} AND period = {SIXTH}", f"series {TWO_YEARS}: says"),
        (f"UPDATE series SET last_known = last_known + 1 WHERE {TWO}", "its rows say"),
        (f"DELETE FROM series WHERE id = '{TWO_YEARS}'", f"there is no series {TWO_YEARS}"),
        (f"UPDATE series SET hash = hash + 1 WHERE {TWO}", "is not found by its id"),
        (f"UPDATE series SET lineage = 999 WHERE {SLOPES}", "there is no lineage 999"),
        (f"UPDATE vintages SET lineage = 999 WHERE {TWO} AND period = {SIXTH}", "a row has lineage 999"),
        (f"UPDATE vintages SET value = 0.6000000000000002 WHERE {SLOPES} AND period = {SIXTH}", "computed anew it is"),
        ("DELETE FROM change", "was not noted"),
        (f"UPDATE change SET high = {FIFTH}", "was not noted"),
        (f"UPDATE change SET low = {SECOND}", "was not noted"),
        (f"UPDATE vintages SET until = known_at + 1 WHERE {TWO} AND period = {SIXTH}", "is told to stand until"),
        (f"UPDATE topic SET entity = 'country_fra' WHERE topic = (SELECT topic FROM series WHERE id = '{TWO_YEARS}')", f"{TWO_YEARS}: its topic or specification is of another"),
        (f"UPDATE spec SET body = replace(body, '\"frequency\":\"D\"', '\"frequency\":\"M\"') WHERE spec = (SELECT spec FROM series WHERE {TWO})", f"{TWO_YEARS}: its topic or specification is of another"),
        (f"UPDATE spec SET body = replace(body, 'semi_annual', 'annual') WHERE spec = (SELECT spec FROM series WHERE {TWO})", f"{TWO_YEARS}: compounding is not as in the catalogue"),
        (f"UPDATE spec SET body = replace(body, 'percentage_points', 'index') WHERE spec = (SELECT spec FROM series WHERE {SLOPES})", f"{SLOPE}: unit is not as it is computed"),
        ("UPDATE payload SET bytes = bytes + 1 WHERE state = 'folded'", "bytes is"),
        ("UPDATE payload SET capture = 'lost' WHERE state = 'quarantined'", "the raw store has no capture lost"),
    ],
)  # fmt: skip
def test_each_fault_is_found(world, damage, found):
    if not isinstance(world.settings.data_place, str):  # a server is told of no foreign keys
        world.db.pragma("foreign_keys", 0)
    assert world.db.update(damage, ()) > 0
    assert any(found in problem for problem in problems(world)), problems(world)


def test_a_derived_series_that_is_missing_is_named(world):
    number = world.db.execute("SELECT series FROM series WHERE id = ?", (SLOPE,)).get
    for table in ("vintages", "series"):
        world.db.execute(f"DELETE FROM {table} WHERE series = ?", (number,))
    assert problems(world) == [f"series {SLOPE}: a formula makes it, but it is not there"]


def test_other_inputs_than_the_formula_takes_are_named(world):
    world.db.execute("INSERT INTO lineage VALUES(999, 7, ?)", (json.dumps([TWO_YEARS]),))
    world.db.execute("UPDATE series SET lineage = 999 WHERE id = ?", (SLOPE,))
    ten = TWO_YEARS.replace("2y", "10y")
    assert problems(world) == [f"series {SLOPE}: its inputs are not {ten}, {TWO_YEARS}"]


def test_damaged_raw_files_are_named(world):
    (index, *_) = sorted((world.settings.raw_path / "index" / SOURCE).iterdir())
    (packed, *_) = sorted((world.settings.raw_path / "objects").rglob("*.zst"))
    packed.write_bytes(b"rotten")
    index.write_bytes(b"{}")
    found = problems(world)
    assert found[0].startswith(f"raw store: index/{SOURCE}/{index.name}: ")
    assert found[1].startswith(f"raw store: objects/{packed.parent.name}/{packed.name}: cannot be decompressed")
    assert len(found) == 2  # all other payloads are compared, and are as their captures say


@pytest.mark.sqlite  # its file is damaged
def test_a_damaged_database_file_is_named(world):
    """An index that the schema has no longer: its pages belong to nothing."""
    world.db.execute(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'change_version'; PRAGMA writable_schema = RESET"
    )
    assert [found for found in problems(world) if found.startswith("database: ") and "never used" in found]


def test_an_event_that_was_changed_by_hand_is_named(world):
    """An entry of the Bureau's calendar, invented; then somebody edits what is served of it."""
    calendar = (
        "BEGIN:VCALENDAR\nPRODID:-//Invented//EN\nVERSION:2.0\nX-WR-TIMEZONE:US-Eastern\nBEGIN:VEVENT\nUID:b\n"
        "SUMMARY:Consumer Price Index\nDTSTART;TZID=US-Eastern:20240312T083000\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    run = Ingest(world, world.catalog.sources["bls-calendar"], lambda _: None)
    run.run([Arrival("https://www.bls.gov/schedule/news_release/bls.ics", calendar.encode(), "text/calendar", None)])
    assert problems(world) == []
    world.db.execute("UPDATE event SET occurred_at = occurred_at + 60 WHERE type = 'consumer_prices'")
    (found,) = problems(world)
    assert found.startswith("event evt_")
    assert "made anew it has" in found
