"""A full disk: the error names the cause, nothing is half-written, and a later run completes."""

import shutil
import subprocess

import pytest

from tests.support.processes import command, environment, ingest, run

from .mirrors import NOW, SOURCES, TREASURY_SOURCE
from .states import same, state, unfinished

#: The n-th write of a kept file finds the disk full, after half of its bytes.
NO_ROOM_FOR_FILES = """
import errno, os
from almanac.store.raw import folder
real, left = folder._write_through, {when}
def full(path, content):
    global left
    left -= 1
    if left < 0:
        path.write_bytes(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    real(path, content)
folder._write_through = full
"""
#: The database may not grow beyond so many pages: SQLite's own way of telling a full disk.
NO_ROOM_FOR_PAGES = """
import apsw
class Connection(apsw.Connection):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.pragma("page_size", 8192)
        self.pragma("max_page_count", {when})
apsw.Connection = Connection
"""
#: No file may grow beyond so many bytes.
NO_LARGE_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({when}, {when}))
"""


@pytest.mark.parametrize(
    ("fault", "when", "told"),
    [
        pytest.param(NO_ROOM_FOR_FILES, 0, "No space left on device", id="first-file", marks=pytest.mark.slow),
        pytest.param(NO_ROOM_FOR_FILES, 1, "No space left on device", id="second-file", marks=pytest.mark.slow),
        pytest.param(NO_ROOM_FOR_FILES, 4, "No space left on device", id="fifth-file", marks=pytest.mark.slow),
        pytest.param(NO_ROOM_FOR_PAGES, 60, "the disk is full", id="sixty-pages"),
        pytest.param(NO_ROOM_FOR_PAGES, 150, "the disk is full", id="hundred-fifty-pages", marks=pytest.mark.slow),
        pytest.param(NO_LARGE_FILES, 60_000, "nothing is half-written", id="small-files", marks=pytest.mark.slow),
        pytest.param(NO_LARGE_FILES, 900_000, "nothing is half-written", id="larger-files", marks=pytest.mark.slow),
    ],
)
def test_an_ingest_without_room_says_so_and_the_next_completes(fault, when, told, tmp_path, small_mirror, small_home):
    home = tmp_path / "home"
    done = ingest(home, small_mirror, (TREASURY_SOURCE,), before=fault.format(when=when), expect=1)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert told in last
    assert str(home) in last
    assert "Traceback" not in done.stderr
    ingest(home, small_mirror, (TREASURY_SOURCE,))
    same(state(small_home), state(home))
    assert unfinished(home) == []
    assert run(home, "verify").stdout.startswith("no problem; 4 payloads, ")


def test_a_backup_without_room_leaves_nothing_behind(tmp_path, small_home):
    file = tmp_path / "all.almanac"
    done = run(small_home, "backup", file, before=NO_LARGE_FILES.format(when=50_000), expect=1)
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


#: A small file system of its own, in a name space of its own: an ingest without room, the same with room, a check, a copy.
SMALL_DISK = """
mount -t tmpfs -o size=1m small "$1" || exit 99
shift 1
"$@" ; echo "first $?"
mount -o remount,size=200m "$ALMANAC_HOME/.."
"$@" ; echo "second $?"
cp -r "$ALMANAC_HOME" "$COPY"
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full(tmp_path, large_mirror, large_home):
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to make a file system of our own with")
    words = command("ingest", *SOURCES, "--from", large_mirror)
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", SMALL_DISK, "sh", str(disk), *words],
        env={**environment(disk / "home", NOW=NOW), "COPY": str(kept)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"a file system of our own may not be mounted here: {done.stderr.strip()}")
    assert "first 1\n" in done.stdout
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert "full" in errors[0] or "No space left on device" in errors[0] or "nothing is half-written" in errors[0]
    assert done.stdout.endswith("second 0\n")
    same(state(large_home), state(kept))
    assert unfinished(kept) == []
