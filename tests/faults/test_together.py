"""Several at once: two ingests into one home, and an ingest under the eyes of readers."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from tests.support.invented_mirror import mof_file, weekdays
from tests.support.processes import PATIENCE, ingest, run, start
from tests.support.service import Service, make_accounts, settings

from .mirrors import HISTORY, MOF, NOW, TREASURY_SOURCE, Response, write, year_file, year_url
from .states import same, state

pytestmark = pytest.mark.slow

SPREAD = "almanac-derived:country_jpn:sovereign_spread_10y_usa:D"


def together(home, *commands):
    """Run commands at the same time; every one must succeed."""
    running = [start(home, *command) for command in commands]
    for one in running:
        _, said = one.communicate(timeout=PATIENCE)
        assert one.returncode == 0, said.decode()


def check_two(home, other, mirror):
    """Two sources that a formula needs both: neither run alone knows of all series."""
    together(home, ("ingest", "us-treasury", "--from", mirror), ("ingest", "mof-japan", "--from", mirror))
    for source in ("us-treasury", "mof-japan"):
        ingest(other, mirror, (source,))
    found = state(home)
    same(state(other), found)
    assert sum(row[0] == SPREAD for row in found["vintages"]) > 100


def pair(years, japan):
    rows = [Response(year_url(year), year_file(year), f"{year + 1}-01-02T06:00:00Z") for year in years]
    rows.append(Response(HISTORY, mof_file(weekdays(*japan)), "2026-11-05T03:00:00Z", "text/csv"))
    rows.append(
        Response(MOF + "jgbcme.csv", mof_file(weekdays("2026-11-02", "2026-11-18")), "2026-11-19T03:00:00Z", "text/csv")
    )
    return rows


@pytest.mark.slow
def test_two_ingests_at_once_into_an_empty_home(tmp_path):
    mirror = write(tmp_path / "mirror", pair((2024, 2025), ("2024-06-03", "2026-10-30")))
    check_two(tmp_path / "home", tmp_path / "other", mirror)


@pytest.mark.slow
def test_two_ingests_of_the_same_source_at_once(tmp_path, large_mirror, large_home):
    home = tmp_path / "home"
    command = ("ingest", "us-treasury", "mof-japan", "fred", "--from", large_mirror)
    together(home, command, command)
    same(state(large_home), state(home))
    assert run(home, "verify").stdout.startswith("no problem; ")


LEGS = {
    "yield_slope_2s10s": ("gov_yield_10y", "gov_yield_2y"),
    "yield_slope_5s30s": ("gov_yield_30y", "gov_yield_5y"),
}


def look(service):
    """One answer with raw and derived values; asserts that they belong together. Returns (version, day, value of the 10-year)."""
    names = sorted({*LEGS, *(leg for pair in LEGS.values() for leg in pair)})
    answer = service.get("/observations/latest", "enterprise", None, country="USA", indicator_id=",".join(names))
    assert answer.status_code == 200, answer.text
    rows = {one["indicatorId"].removeprefix("indicator_"): one for one in answer.json()["data"]}
    version = int(answer.headers["x-data-version"])
    if not rows:
        return version, None, None
    assert set(rows) == set(names)
    assert len({one["periodEnd"] for one in rows.values()}) == 1
    for slope, (long, short) in LEGS.items():
        told, whole, part = (Decimal(repr(rows[name]["valueNumeric"])) for name in (slope, long, short))
        assert told == whole - part
    return version, rows["gov_yield_10y"]["periodEnd"], rows["gov_yield_10y"]["valueNumeric"]


def weeks(number):
    """The latest year as fetched week after week; each fetch corrects the day that was the newest before."""
    found = []
    for week in range(number):
        until = date(2026, 11, 18) - timedelta(days=7 * (number - 1 - week))
        changed = {until - timedelta(days=7): 5.0 + week / 100}
        found.append(Response(year_url(2026), year_file(2026, until.isoformat(), changed), f"{until}T23:30:00Z"))
    return found


def watched(home, mirror, least):
    with_accounts = settings(home, NOW=NOW)
    home.mkdir()
    run(home, "status")
    make_accounts(with_accounts)
    service = Service(home)
    process = start(home, "ingest", TREASURY_SOURCE, "--from", mirror)
    try:
        seen = set()
        while process.poll() is None:
            seen.add(look(service))
        assert process.returncode == 0
        last = look(service)
    finally:
        service.close()
        process.communicate(timeout=PATIENCE)
    versions = [version for version, _, _ in seen]
    # One version, one state; and the ingest was seen at work, not only before and after.
    assert len(set(versions)) == len(seen)
    assert len(seen) >= least
    assert last[1] == "2026-11-18T00:00:00Z"


def test_readers_never_see_half_a_payload(tmp_path):
    watched(tmp_path / "home", write(tmp_path / "mirror", weeks(4)), 3)


@pytest.mark.slow
def test_readers_never_see_half_a_payload_of_many(tmp_path):
    watched(tmp_path / "home", write(tmp_path / "mirror", weeks(30)), 15)
