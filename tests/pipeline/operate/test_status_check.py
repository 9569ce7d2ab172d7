"""`almanac status --check`: one line and an exit code, as monitoring plug-ins have them; and what metrics hold for a while."""

import re
from contextlib import closing

import msgspec
import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from almanac.__main__ import main
from almanac.domain.health import Health
from almanac.ops import store_gauges
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.operate.status import checkup, room, vitals
from almanac.store.engine import opening
from almanac.store.engine.data_schema import set_meta
from almanac.store.observations.reading.reader import Reader
from tests.support.treasury_home import GOOD, NOW, ROWS, SOURCE, settings, take

FRESH = "2026-01-08T12:00:00Z"
#: label=value[unit];warn;crit;min;max
FIGURE = re.compile(r"[a-z_]+=\d+(s|B)?(;[\d:]*){0,4}")


def check(home, now=FRESH):
    done = CliRunner(env={"ALMANAC_HOME": str(home), "ALMANAC_NOW": now}).invoke(main, ["status", "--check"])
    assert done.output.count("\n") == 1
    line, _, figures = done.output.rstrip("\n").partition(" | ")
    assert all(FIGURE.fullmatch(one) for one in figures.split()), figures
    return done.exit_code, line, figures


@pytest.fixture
def plenty(monkeypatch):
    """Room on disk, whatever this machine has."""
    given = {"free": 50, "total": 100, "log": 0}

    def look(chosen):
        found = room(chosen)
        free, total = dict.fromkeys(found.free, given["free"]), dict.fromkeys(found.total, given["total"])
        return msgspec.structs.replace(found, free=free, total=total, logs=dict.fromkeys(found.logs, given["log"]))

    monkeypatch.setattr("almanac.commands.operate.room", look)
    given["room"] = look
    return given


def test_a_service_that_does_well_is_ok(tmp_path, plenty):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", GOOD)
    code, line, figures = check(settings(tmp_path).home, NOW)
    assert (code, line[:10]) == (1, "WARNING - ")  # every series is stale on that day
    assert f"late: {SOURCE}" in line
    with closing(opening.connect(settings(tmp_path).home / "data.db")) as db:
        db.execute("UPDATE source_state SET last_attempt_at = 1767873600, last_success_at = 1767873600")
    code, line, figures = check(settings(tmp_path).home)
    assert (code, line) == (0, "OK - 1 sources ok, data version 5")
    assert "ok=1;;;0 late=0;;;0 failing=0;;;0" in figures
    assert "free_home=50B;10:;3:;0;100" in figures


def test_what_is_not_well_is_a_warning_that_names_it(tmp_path, plenty):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", ROWS)
    plenty.update(log=2 << 30, free=5)
    with Reader(settings(tmp_path).home / "data.db").view() as view:
        found = vitals(view, 1)
    good = msgspec.structs.replace(found.sources[0], health=Health("ok"))
    looked = msgspec.structs.replace(found, sources=[good, *found.sources])
    code, line = checkup(looked, plenty["room"](settings(tmp_path)), 1)
    assert code == 1
    log = (
        "" if isinstance(settings(tmp_path).data_place, str) else "; the database's log has 2048 MiB"
    )  # a server's is its own matter
    assert line.startswith(
        f"WARNING - 5.0% of the disk of home is free; failing: {SOURCE}; 1 responses cannot be read{log} | "
    )


@pytest.mark.parametrize("free", [0, 2])
def test_no_room_is_critical(tmp_path, plenty, free):
    with PipelineContext(settings(tmp_path)):
        pass
    plenty.update(free=free)
    assert check(settings(tmp_path).home)[:2] == (2, f"CRITICAL - {free:.1f}% of the disk of home is free")


def test_a_service_whose_sources_all_fail_is_critical(tmp_path, plenty):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", ROWS)
    code, line, _ = check(settings(tmp_path).home, NOW)
    assert (code, line.split(";")[0]) == (2, "CRITICAL - every source that was asked is failing")


@pytest.mark.sqlite  # what stands in the place of a file
@pytest.mark.parametrize("damage", ["absent", "garbage", "newer", "settings"])
def test_a_store_that_cannot_be_read_is_critical_and_left_alone(tmp_path, damage):
    home = tmp_path / "home"
    home.mkdir()
    if damage == "garbage":
        (home / "data.db").write_text("no database " * 1000)
    elif damage == "newer":
        with closing(opening.create(home / "data.db")) as db:
            set_meta(db, "schema", "99")
    elif damage == "settings":
        (home / "almanac.toml").write_text("port = 'x'")
    before = {path.name for path in home.iterdir()} - {"data.db-wal", "data.db-shm"}
    code, line, figures = check(home)
    assert (code, line[:11], figures) == (2, "CRITICAL - ", "")
    told = {"absent": "No such file", "garbage": "not a database", "newer": "schema 99", "settings": "port"}[damage]
    assert told in line
    assert {path.name for path in home.iterdir()} - {"data.db-wal", "data.db-shm"} == before


def test_check_and_json_exclude_each_other(tmp_path):
    done = CliRunner(env={"ALMANAC_HOME": str(tmp_path)}).invoke(main, ["status", "--check", "--json"])
    assert done.exit_code == 2
    assert "--json does not go with it" in done.output


def test_a_store_that_cannot_be_read_is_one_metric_and_one_line(tmp_path):
    with capture_logs() as lines:
        found = {metric.name: metric.samples for metric in store_gauges(Reader(tmp_path / "gone.db").view(), 1)}
    assert set(found) == {"almanac_store_readable"}
    assert found["almanac_store_readable"][0].value == 0
    assert [(line["event"], "\n" in line["reason"], "exc_info" in line) for line in lines] == [
        ("not shown", False, False)
    ]
