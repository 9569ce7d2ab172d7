"""What publishers and files write into texts, as commands print it: on one line each, and nothing that a terminal obeys."""

from __future__ import annotations

import dataclasses
import io
import json
import typing
from types import NoneType, UnionType

import click
import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from almanac.__main__ import main
from almanac.api.server import logs
from almanac.commands import shared, sources
from almanac.commands.progress import Progress
from almanac.pipeline.ingest import asking, mirrored
from almanac.pipeline.ingest.outcome import RunOutcome
from almanac.pipeline.operate import checkup, verify
from almanac.pipeline.operate import status as status_of
from almanac.pipeline.operate.checkup import Finding
from almanac.store.engine.errors import StoreError
from tests.support.treasury_home import NOW

#: Begins a line, clears a screen (as ESC and as one byte of the upper half), turns the direction of reading, hides.
HOSTILE = "x\nx forged\r\x1b[2J\x9b2J\u202e\u200b\u2028\x07y"


def filled(kind):
    """One of a type, in which every text is hostile and every list has one."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return filled(inner[0])
    if origin in {UnionType, typing.Union}:
        return filled(next(one for one in inner if one is not NoneType))
    if origin is typing.Literal:
        return inner[0]
    if origin in {list, tuple, set}:
        return origin([filled(inner[0])])
    if origin is dict:
        return {HOSTILE: filled(inner[1])}
    if kind is str or not isinstance(kind, type):
        return HOSTILE
    hints = typing.get_type_hints(kind, include_extras=True)
    if issubclass(kind, msgspec.Struct):
        return kind(**{name: filled(hints[name]) for name in kind.__struct_fields__})
    if dataclasses.is_dataclass(kind):
        return kind(**{one.name: filled(hints[one.name]) for one in dataclasses.fields(kind)})
    return kind(1)


def harmless(text):
    assert [c for c in text if not (c.isprintable() or c == "\n")] == []
    assert [line for line in text.split("\n") if line.startswith("x forged")] == []


@pytest.fixture
def run(tmp_path):
    def call(*arguments, expect=0):
        given = {"ALMANAC_HOME": str(tmp_path / "home"), "ALMANAC_NOW": NOW}
        result = CliRunner(env=given).invoke(main, [str(one) for one in arguments])
        assert result.exit_code == expect, result.output
        harmless(result.stdout)
        harmless(result.stderr)
        return result

    return call


def test_status_tells_every_field_of_a_store_as_it_may_be_shown(run, monkeypatch):
    found = filled(status_of.Status)
    monkeypatch.setattr(status_of, "status", lambda *_: found)
    shown = run("status").stdout
    assert shown.count("x forged") >= 8
    assert json.loads(run("status", "--json").stdout) == msgspec.to_builtins(found)


def test_one_line_of_a_monitoring_plug_in_is_one(run, monkeypatch):
    monkeypatch.setattr(checkup, "failed", lambda told: Finding(2, f"CRITICAL {told} {HOSTILE}"))
    assert run("status", "--check", expect=2).stdout.count("\n") == 1


def test_verify_prints_each_problem_on_a_line(run, monkeypatch):
    monkeypatch.setattr(verify, "verify", lambda *_: iter([HOSTILE, HOSTILE]))
    assert run("verify", expect=1).stdout.count("\n") == 2


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("way", ["network", "mirror"])
def test_ingest_tells_what_came_of_a_source(run, monkeypatch, tmp_path, form, way):
    outcome = filled(RunOutcome)

    def told(_world, _sources, _what, say, *_):
        say(HOSTILE)
        return [outcome]

    monkeypatch.setattr(asking, "from_network", told)
    monkeypatch.setattr(mirrored, "from_mirror", told)
    where = ["--from", tmp_path] if way == "mirror" else []
    result = run("ingest", "us-treasury", *where, *form, expect=3)
    assert "x forged" in result.stderr
    if form:
        (told,) = json.loads(result.stdout)["sources"]
        assert told["reasons"][0] == {"what": "failed", "url": HOSTILE, "reason": HOSTILE}


@pytest.mark.parametrize("error", [StoreError, OSError, click.ClickException, click.UsageError])
def test_an_error_that_ends_a_command_is_told_so_too(run, monkeypatch, error):
    def broken(*_, **__):
        raise error(HOSTILE)

    monkeypatch.setattr(sources, "settings", broken)
    monkeypatch.setattr(shared, "settings", broken)
    monkeypatch.setattr(status_of, "status", broken)
    assert "x forged" in run("status", expect=2 if error is click.UsageError else 1).stderr


def test_what_is_said_above_bars_is_told_so_too(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=stream, force_terminal=True, width=200))
    progress = Progress()
    with progress():
        progress.meter(HOSTILE, 2)(1)
        progress.say(HOSTILE)
    shown = stream.getvalue()
    assert "x forged" in shown
    assert "\x1b[2J" not in shown
    assert not {"\x9b", "\u202e", "\u200b", "\u2028", "\x07"} & set(shown)


def test_a_line_of_the_log_says_the_same_and_is_harmless():
    line = logs.render(None, "", {"event": HOSTILE, "reason": HOSTILE}).decode()
    harmless(line)
    assert json.loads(line) == {"event": HOSTILE, "reason": HOSTILE}
    access = logs.AccessLine("req", HOSTILE, HOSTILE, None, 404, 1.0, None, None, target=HOSTILE)
    written = b"".join(logs._Access()._chunks([(1, access)])).decode()
    harmless(written)
    assert json.loads(written)["client_request_id"] == HOSTILE
