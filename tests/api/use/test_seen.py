"""What accounts were answered from, as all processes of a host know it."""

import os
import subprocess
import sys

import pytest

from almanac.api.use import seen
from almanac.api.use.seen import Seen
from tests.support.paths import ROOT

ONE = """
import sys
from pathlib import Path
from almanac.api.use.seen import Seen
one = Seen(Path(sys.argv[1]))
for version in range(int(sys.argv[2]), int(sys.argv[3]), 2):
    one.note("shared", version, "e")
one.note(sys.argv[2], int(sys.argv[3]), "e")
"""


@pytest.mark.parametrize("shared", [False, True])
def test_the_newest_version_of_each_is_kept(shared, tmp_path):
    one = Seen(tmp_path / "seen" if shared else None)
    assert one.least("a") == 0
    one.note("a", 4, "e")
    one.note("a", 3, "e")
    one.note("b", 1, "e")
    assert [one.least(name) for name in "abc"] == [4, 1, 0]
    assert Seen(tmp_path / "seen").least("a") == (4 if shared else 0)


def test_versions_of_another_epoch_are_forgotten(tmp_path):
    one, other = Seen(tmp_path / "seen"), Seen(tmp_path / "seen")
    one.note("a", 900, "before")
    one.note("b", 901, "before")
    other.note("a", 2, "after")
    assert [one.least(name) for name in "ab"] == [2, 0]


def test_processes_that_note_at_once_lose_nothing(tmp_path):
    path = tmp_path / "seen"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    running = [
        subprocess.Popen([sys.executable, "-c", ONE, str(path), str(first), str(20_000 + first)], env=environment)
        for first in range(3)
    ]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    told = Seen(path)
    assert told.least("shared") == 20_000
    assert [told.least(str(first)) for first in range(3)] == [20_000, 20_001, 20_002]


def test_two_that_share_a_place_are_never_told_less(monkeypatch):
    monkeypatch.setattr(seen, "_PLACES", 1)
    one = Seen(None)
    one.note("a", 7, "e")
    one.note("b", 5, "e")
    assert one.least("b") == one.least("a") == 7


def test_without_room_for_the_file_a_process_remembers_alone(tmp_path):
    one = Seen(tmp_path / "no such folder" / "seen")
    one.note("a", 7, "e")
    assert one.least("a") == 7
