"""The whole of the comparison once, on a small store and for a moment: that it runs, and compares what it says."""

import json
import subprocess
import sys

import pytest

from bench import data, store, usage
from bench.__main__ import arguments, load
from bench.contenders import almanac_target, contenders
from bench.load import LoadError
from tests.support.paths import ROOT


def test_a_folder_that_no_measurement_made_is_left_alone(tmp_path):
    home = tmp_path / "home-100"
    home.mkdir()
    (home / "mine").touch()
    with pytest.raises(RuntimeError, match="left alone"):
        data.prepare(tmp_path, 100, lambda _: None)
    assert [path.name for path in home.iterdir()] == ["mine"]


@pytest.mark.parametrize("words", [["--seconds", "0"], ["--rounds", "1000"], ["--peers", "nowhere"], ["weather"]])
def test_what_cannot_be_measured_is_refused(words, capsys):
    with pytest.raises(SystemExit):
        arguments(words)
    assert words[-1] in capsys.readouterr().err or words[0] in capsys.readouterr().err


@pytest.mark.slow
def test_a_small_run(tmp_path):
    home, key = data.prepare(tmp_path, 1, lambda _: None)
    as_of = data.year_ago(1_790_000_000)
    pages = data.pages(home, as_of)
    assert len({almanac_target(page) for page in pages}) == len(pages) > 1_000
    with contenders(home, key, pages[:50], as_of, None, None) as every:
        names = [one.name for one in every]
        assert names[0] == "the same bytes from memory"
        assert len(names) == 6
        for one in every:
            port = one.server.port
            answer = json.loads(data.fetch(port, one.targets[-1], one.headers))
            assert len(answer["data"]) == data.ROWS
            found, place = load(one, home, seconds=0.2, connections=4, first=3, cpu=None)
            assert place == 3 + len(found.latencies) > 7
            assert found.size > 50_000
        ours = next(one for one in every if one.name.startswith("Almanac"))
        keyless = ours._replace(headers={})
        with pytest.raises(LoadError, match="401"):
            load(keyless, home, seconds=0.2, connections=1, first=0, cpu=None)
        # The wide table that peers are given holds the rows as the interface says them.
        rows = next(data.walk(ours.server.port, key))
        assert data.wide_table(tmp_path / "wide.db", iter([rows])) == 500


@pytest.mark.slow
def test_the_figures_of_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "SERIES", 2)
    monkeypatch.setattr(store, "ROWS", 200)
    monkeypatch.setattr(store, "DAYS", 2)
    monkeypatch.setattr(store, "VALUES", 500)
    home = tmp_path / "home"
    home.mkdir()
    store.sqlite.create(home / "data.db").close()
    figures = store.appending(home, home)
    assert [one.number for one in figures] == [400, 400, 4, 400]
    assert [path.name for path in home.iterdir()] == ["data.db"]
    assert [one.number for one in store.deriving()][1] == 500


def test_the_figures_of_usage(tmp_path, monkeypatch):
    monkeypatch.setattr(usage, "COUNTERS", 2_000)
    lines = usage.measure(tmp_path, lambda _: None).splitlines()
    assert len(lines) == 10
    assert all(float(line.split("|")[2]) >= 0 for line in lines[2:])
    assert int(lines[0].split()[2].replace(",", "")) in range(1_900, 2_300)  # few of them are of one key and minute
    assert [path.name for path in tmp_path.iterdir()] == ["usage-2000.db"]


def test_help_needs_no_peers():
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "--observations" in done.stdout
