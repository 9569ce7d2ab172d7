"""The nightly backup's script: written, tried out, and old ones removed only after a good one."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes import environment, run

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "deploy/backup.sh"


@pytest.fixture
def folder(tmp_path):
    """A folder of backups with one that is old, one of yesterday, and one that is somebody else's."""
    made = tmp_path / "backups"
    made.mkdir()
    for name, days in (("almanac-20200101T000000Z.backup", 40), ("almanac-20200201T000000Z.backup", 1), ("other", 90)):
        (made / name).write_text("x")
        at = time.time() - days * 86_400
        os.utime(made / name, (at, at))
    return made


def script(home, *words, program=None):
    given = environment(home)
    given["PATH"] = f"{program or Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run([SCRIPT, *map(str, words)], env=given, capture_output=True, text=True, check=False)


def test_a_good_backup_takes_the_place_of_old_ones(tmp_path, folder):
    home = tmp_path / "home"
    run(home, "accounts", "create", "ada@example.org", "--plan", "free")
    done = script(home, folder, 14)
    assert done.returncode == 0, done.stderr
    (new,) = [path for path in folder.glob("almanac-*.backup") if not path.name.startswith("almanac-2020")]
    assert {path.name for path in folder.iterdir()} == {new.name, "almanac-20200201T000000Z.backup", "other"}
    assert new.stat().st_mode & 0o777 == 0o600
    run(tmp_path / "again", "restore", new)
    assert "ada@example.org" in run(tmp_path / "again", "accounts", "list").stdout


def test_a_backup_that_is_not_to_be_relied_upon_leaves_the_old_ones(tmp_path, folder):
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin/almanac"
    broken.write_text('#!/bin/sh\n[ "$2" = --verify ] && { echo "accounts.db: is damaged"; exit 1; }\necho x > "$2"\n')
    broken.chmod(0o755)
    done = script(tmp_path / "home", folder, 14, program=tmp_path / "bin")
    assert (done.returncode, done.stdout) == (1, "accounts.db: is damaged\n")
    assert (folder / "almanac-20200101T000000Z.backup").exists()
    assert len(list(folder.glob("*.backup.bad"))) == 1


def test_a_backup_that_cannot_be_written_leaves_the_old_ones(tmp_path, folder):
    done = script(tmp_path / "nothing", folder, 14)
    assert done.returncode == 1
    assert "there is nothing to back up" in done.stderr
    assert (folder / "almanac-20200101T000000Z.backup").exists()


@pytest.mark.parametrize("words", [(), ("somewhere",), ("somewhere", "two weeks"), ("somewhere", "-1")])
def test_a_wrong_call_says_what_is_wanted(tmp_path, words):
    done = script(tmp_path / "home", *words)
    assert done.returncode != 0
    assert "folder for backups" in done.stderr or "days" in done.stderr
