"""A publisher's file that shrinks: held, told everywhere, accepted by one command, and the same after a rebuild or a restore."""

import json

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.ops import store_gauges
from almanac.store.engine import opening
from almanac.store.observations.reading.reader import Reader
from tests.support.invented_mirror import mof_file, weekdays
from tests.support.service import Service, make_accounts, settings

from .mirrors import HISTORY, Response, write
from .states import same, state

NOW = "2026-11-20T12:00:00Z"
DAYS = weekdays("2024-01-01", "2026-10-30")
FULL = mof_file(DAYS)
FEW = mof_file([DAYS[0], *DAYS[-4:]])
#: A whole month less, which is little of it; and the same days with some more, which withdraws nothing.
LESS = mof_file([day for day in DAYS if (day.year, day.month) != (2025, 3)])
MORE = mof_file([*DAYS, *weekdays("2026-11-02", "2026-11-18")])
#: Of a month its first day and its last.
OCTOBER = weekdays("2026-10-01", "2026-10-30")
GAP = mof_file([OCTOBER[0], OCTOBER[-1]])


def almanac(home, *arguments):
    return CliRunner(env={"ALMANAC_HOME": str(home), "ALMANAC_NOW": NOW}).invoke(main, [str(one) for one in arguments])


def ingest(home, folder, *responses):
    rows = [Response(HISTORY, body, f"2026-11-{day:02}T03:00:00Z", "text/csv") for day, body in responses]
    return almanac(home, "ingest", "mof-japan", "--from", write(folder, rows))


def told(home):
    return json.loads(almanac(home, "status", "--json").stdout)


def of_source(found):
    (one,) = [one for one in found["sources"] if one["id"] == "mof-japan"]
    return one


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    make_accounts(settings(home, NOW=NOW))
    assert ingest(home, tmp_path / "full", (5, FULL)).exit_code == 0
    return home


def test_a_file_of_a_few_lines_withdraws_nothing_and_is_told_of(home, tmp_path):
    before = state(home)
    figures = told(home)["coverage"]
    result = ingest(home, tmp_path / "few", (6, FEW))
    assert result.exit_code == 1  # nothing else came
    after = told(home)
    assert after["coverage"] == figures
    assert state(home)["vintages"] == before["vintages"]
    (held,) = after["quarantine"]
    gone = (len(DAYS) - 5) * (figures["observations"] // len(DAYS))
    assert held["kind"] == "shrunk"
    assert held["reason"] == (
        f"shrunk: would withdraw {gone} of the {figures['observations']} values that its series serve in the time it"
        f" lists; if that is right: almanac ingest --accept {held['sha256']}"
    )
    assert f"quarantined {HISTORY}: {held['reason']}" in result.stderr
    source = of_source(after)
    assert source["health"] == "failing"
    assert source["reason"] == "the newest answer of 1 address would withdraw much of what is served, and is held"
    service = Service(home)
    try:
        (row,) = [one for one in service.ok("/sources") if one["id"] == "mof-japan"]
        assert row["health"] == "failing"
    finally:
        service.close()
    # A rebuild holds it again, and a whole file heals.
    with_it = state(home)
    assert almanac(home, "rebuild").exit_code == 0
    same(with_it, state(home))
    assert almanac(home, "verify").exit_code == 0
    assert ingest(home, tmp_path / "more", (20, MORE)).exit_code == 0
    assert of_source(told(home))["health"] == "ok"


def test_a_little_less_is_a_correction(home, tmp_path):
    assert told(home)["coverage"]["observations"] == len(DAYS) * 8
    assert ingest(home, tmp_path / "less", (6, LESS)).exit_code == 0
    assert told(home)["quarantine"] == []
    assert told(home)["coverage"]["observations"] == len(DAYS) * 8 - 21 * 8


def test_a_window_is_judged_by_what_is_served_in_it(home, tmp_path):
    """Little of three years, and nearly all of the month that the file is about."""
    before = told(home)["coverage"]
    assert ingest(home, tmp_path / "gap", (6, GAP)).exit_code == 1
    after = told(home)
    assert after["coverage"] == before
    gone, month = (len(OCTOBER) - 2) * 8, len(OCTOBER) * 8
    assert gone * 10 < before["observations"]
    assert after["quarantine"][0]["reason"].startswith(f"shrunk: would withdraw {gone} of the {month} values")


def test_the_metrics_count_it(home, tmp_path):
    ingest(home, tmp_path / "few", (6, FEW))
    chosen = settings(home, NOW=NOW)
    reader = Reader(opening.place(chosen.data_place))
    try:
        gauges = store_gauges(reader.view(), chosen.clock())
        found = {(s.name, *s.labels.values()): s.value for metric in gauges for s in metric.samples}
    finally:
        reader.close()
    assert found["almanac_shrunk_responses", "mof-japan"] == 1
    assert found["almanac_quarantined_responses", "mof-japan"] == 1


@pytest.mark.slow
def test_one_command_lets_it_pass_for_good(home, tmp_path):
    ingest(home, tmp_path / "few", (6, FEW), (7, LESS))
    (held,) = told(home)["quarantine"]
    before = state(home)
    for wrong, words in (
        ("0" * 64, f"held are {held['sha256']}"),
        ("not a hash", "8 to 64 hexadecimal digits"),
    ):
        result = almanac(home, "ingest", "--accept", wrong)
        assert result.exit_code in (1, 2)
        assert words in result.stderr
    assert almanac(home, "ingest", "mof-japan", "--accept", held["sha256"]).exit_code == 2
    same(before, state(home))
    result = almanac(home, "ingest", "--accept", held["sha256"][:12])
    assert result.exit_code == 0, result.output
    found = told(home)
    assert found["quarantine"] == []
    passed = state(home)
    # What was withdrawn then came back with the file behind it.
    assert len(passed["vintages"]) > len(before["vintages"])
    assert "none is held" in almanac(home, "ingest", "--accept", held["sha256"]).stderr
    assert almanac(home, "rebuild").exit_code == 0
    same(passed, state(home))
    assert almanac(home, "verify").exit_code == 0
    # A backup has it too.
    assert almanac(home, "backup", tmp_path / "all.backup", "--without-data").exit_code == 0
    assert almanac(home, "backup", "--verify", tmp_path / "all.backup").exit_code == 0
    other = tmp_path / "other"
    assert almanac(other, "restore", tmp_path / "all.backup").exit_code == 0
    assert almanac(other, "rebuild").exit_code == 0
    same(passed, state(other))


def test_an_earlier_file_that_comes_later_has_one_held_that_was_not(home, tmp_path):
    """The first file was small; the large one, fetched before it, arrives last."""
    other = tmp_path / "other"
    other.mkdir()
    make_accounts(settings(other, NOW=NOW))
    assert ingest(other, tmp_path / "few", (6, FEW)).exit_code == 0
    result = ingest(other, tmp_path / "full-late", (5, FULL))
    assert f"quarantined {HISTORY}: shrunk: would withdraw" in result.stderr
    ingest(home, tmp_path / "few-in-order", (6, FEW))
    assert told(other)["quarantine"] == told(home)["quarantine"]
    assert told(other)["coverage"]["observations"] == told(home)["coverage"]["observations"]
