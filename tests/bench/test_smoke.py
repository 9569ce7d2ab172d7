"""The whole of the comparison once, on a small store and for a moment: that it runs, and compares what it says."""

import ast
import functools
import json
import re
import subprocess
import sys

import pytest

from almanac.api.contract.records import RowRights
from almanac.api.endpoints.macro.records import Observation
from almanac.dashboard.site import pages as every_page
from almanac.store.usage.counts import UsageFile
from bench import data, looks, market, store, usage
from bench.__main__ import arguments, load
from bench.contenders import FLOOR, almanac_target, contenders
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
def test_a_small_run(made, tmp_path):
    home, key = data.prepare(made, 1, lambda _: None)
    as_of = data.year_ago(1_790_000_000)
    pages = data.pages(home, as_of)
    assert len({almanac_target(page) for page in pages}) == len(pages) > 1_000
    revised = data.revised(home, as_of, lambda _: None)
    with contenders(home, key, pages[:50], as_of, None, None, revised, lambda _: None) as every:
        names = [one.name for one in every]
        assert names[0] == f"{FLOOR} bytes from memory"
        assert len(names) == 8
        for one in every:
            port = one.server.port
            found, place = load(one, home, seconds=0.2, connections=4, first=3, cpu=None)
            assert place == 3 + len(found.latencies) > 7
            if one.status == 304:
                assert found.size < 1_500
                continue
            assert found.size > 50_000
            answer = json.loads(data.fetch(port, one.targets[-1], one.headers))
            assert len(answer["data"]) == data.ROWS
        then, since = (next(one for one in every if one.name.endswith(name)) for name in ("year ago", "revised since"))
        assert then.targets == since.targets
        for target in then.targets[:10]:
            rows = [json.loads(data.fetch(one.server.port, target, one.headers))["data"] for one in (then, since)]
            assert [row["valueNumeric"] for row in rows[0]] == [row["valueNumeric"] for row in rows[1]]
            now = json.loads(data.fetch(since.server.port, target.partition("&as_of")[0], since.headers))["data"]
            assert len({row["id"] for row in now} & {row["id"] for row in rows[1]}) in range(20, 80)
        ours = next(one for one in every if one.name.startswith("Almanac"))
        keyless = ours._replace(headers={})
        with pytest.raises(LoadError, match="401"):
            load(keyless, home, seconds=0.2, connections=1, first=0, cpu=None)
        # The wide table that peers are given holds the rows as the interface says them.
        rows = next(data.walk(ours.server.port, key))
        assert data.wide_table(tmp_path / "wide.db", iter([rows])) == 500


def _pattern(path):
    return re.sub(r"{[^}]+}", "[^/.]+", path.replace(".", "[.]"))


#: Pages that hold nothing but a form, one payload of many, and what is saved as a file.
NOT_LOOKED_AT = {
    "/account/delete", "/account/sessions", "/keys/new", "/keys/{id}/revoke", "/keys/{id}/rotate", "/keys/{id}/used.json",
    "/operate/accounts/{id}/{deed}", "/operate/invitations", "/operate/invitations/{id}/withdraw", "/operate/quarantine/{number}", "/usage.csv",
}  # fmt: skip


@pytest.mark.slow
def test_questions_about_companies_are_asked_of_both_markets(made, monkeypatch):
    monkeypatch.setattr(market, "_COMPANIES", 2)
    monkeypatch.setattr(market, "_TIMES", 1)
    sizes = []

    def prepared(folder, size, say, what="observations"):
        sizes.append((size, what))
        return data.prepare(made, 1, say)

    monkeypatch.setattr(market, "prepare", prepared)
    lines = market.measure(made, 50, lambda _: None).splitlines()
    assert sizes == [(None, "observations"), (50, "companies")]
    kinds = market.requests([("company_1", "One & Two")], "2025-01-01")
    assert [line.split("|")[1].strip() for line in lines[2:]] == list(kinds)
    assert all(float(figure) > 0 for line in lines[2:] for figure in line.split("|")[2:5])
    assert kinds["names with a letter too few"] == ["/entities/resolve?alias=One%20%26%20To"]


@pytest.mark.slow
def test_every_kind_of_page_is_looked_at(made, monkeypatch):
    monkeypatch.setattr(looks, "_PAGES", 1)
    monkeypatch.setattr(looks, "_ALONE", 1)
    home, key = data.prepare(made, 1, lambda _: None)
    client = looks.Client(data.environment(home), key)
    kinds = looks.addresses(client)
    lines = looks.measure(home, key, lambda _: None).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == list(kinds)
    assert all(float(line.split("|")[3]) > 0 for line in lines[2:])
    with pytest.raises(RuntimeError, match="nowhere: 404"):
        looks.looks(client, {"none": ["/nowhere"]}, lambda _: None)
    client.close()
    # A page that is in no kind is one that nobody measures: files, forms and what changes something are not looks.
    asked = {re.sub(r"[?].*", "", one) for targets in kinds.values() for one in targets}
    shown = {page.path for page in every_page() if page.look is not None and page.who != "anyone"}
    looked = {path for path in shown if any(re.fullmatch(_pattern(path), one) for one in asked)}
    assert shown - looked == NOT_LOOKED_AT


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
    assert [path.suffix for path in tmp_path.iterdir()] == [".db"]


def test_many_counters_are_loaded_as_they_would_be_added(tmp_path):
    counted = list(usage.counters(3_000))
    held = []
    for name in ("added", "loaded"):
        file = UsageFile(tmp_path / name)
        (file.add if name == "added" else functools.partial(usage.load, file))(counted)
        with file.opened() as db:
            called = dict(db.execute("SELECT n, name FROM name"))
            called[0] = ""
            counters, days = (db.execute(f"SELECT * FROM {table}").fetchall() for table in ("counter", "daily"))
        file.close()
        held.append((
            sorted((called[row[0]], *row[1:3], called[row[3]], called[row[4]], *row[5:]) for row in counters),
            sorted((called[row[0]], *row[1:3], called[row[3]], *row[4:]) for row in days),
        ))  # fmt: skip
    assert held[0] == held[1]
    assert len(held[0][0]) > 2_900


def test_help_needs_no_peers():
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "--observations" in done.stdout


def test_a_peer_says_every_field_of_a_row():
    """Its model is written by hand, in an environment that tests have not: a field it lacks would end the comparison."""
    module = ast.parse((ROOT / "bench/peers/fastapi_stack.py").read_text("utf-8"))
    models = {
        one.name: {line.target.id for line in one.body if isinstance(line, ast.AnnAssign)}
        for one in module.body
        if isinstance(one, ast.ClassDef)
    }
    assert models["Observation"] == {*Observation.__struct_fields__}
    assert models["Rights"] == {*RowRights.__struct_fields__}
