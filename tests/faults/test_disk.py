"""A full disk: the error names the cause, nothing is half-written, and a later run completes."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.processes import command, environment, ingest, run

from .mirrors import NOW, SOURCES, TREASURY_SOURCE
from .states import same, state, unfinished

#: The n-th write of a kept file finds the disk full, after half of its bytes.
NO_ROOM_FOR_FILES = """
import errno, os
from almanac.store.raw import blobs
real, left = blobs._write_through, {when}
def full(path, content):
    global left
    left -= 1
    if left < 0:
        path.write_bytes(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # a write names no file
    real(path, content)
blobs._write_through = full
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
_FILES = [pytest.mark.slow, pytest.mark.sqlite]


def treasury(home):
    """How the source does, by `almanac status`."""
    (found,) = (
        one for one in json.loads(run(home, "status", "--json").stdout)["sources"] if one["id"] == TREASURY_SOURCE
    )
    return found


@pytest.mark.parametrize(
    ("fault", "when", "told"),
    [
        pytest.param(NO_ROOM_FOR_FILES, 0, "the disk is full (", id="first-file", marks=pytest.mark.slow),
        pytest.param(NO_ROOM_FOR_FILES, 1, "the disk is full (", id="second-file", marks=pytest.mark.slow),
        pytest.param(NO_ROOM_FOR_FILES, 4, "the disk is full (", id="fifth-file", marks=pytest.mark.slow),
        # A server's database grows on the server's disk.
        pytest.param(
            NO_ROOM_FOR_PAGES, 60, "the disk is full", id="sixty-pages", marks=[pytest.mark.sqlite, pytest.mark.slow]
        ),
        pytest.param(NO_ROOM_FOR_PAGES, 150, "the disk is full", id="hundred-fifty-pages", marks=_FILES),
        pytest.param(NO_LARGE_FILES, 60_000, "nothing is half-written", id="small-files", marks=_FILES),
        pytest.param(NO_LARGE_FILES, 900_000, "nothing is half-written", id="larger-files", marks=_FILES),
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
    assert treasury(home)["lastError"] is None
    same(state(small_home), state(home))
    assert unfinished(home) == []
    assert run(home, "verify").stdout.startswith("no problem; 4 payloads, ")


@pytest.mark.slow
def test_a_source_that_was_asked_on_a_full_disk_is_failing_and_says_why(tmp_path, small_mirror):
    home = tmp_path / "home"
    run(home, "status")  # makes the store
    ingest(home, small_mirror, (TREASURY_SOURCE,), before=NO_ROOM_FOR_FILES.format(when=0), expect=1)
    told = treasury(home)
    assert (told["health"], told["lastSuccessAt"]) == ("failing", None)
    assert told["reason"] == f"{told['lastError']}; no success yet"
    assert told["lastError"].startswith(f"the storage failed: the disk is full ({home}/raw/")


@pytest.mark.slow
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
@pytest.mark.sqlite  # as above
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
    assert str(disk / "home") in errors[0]
    assert errors[0].endswith("run the command again; nothing is half-written")
    assert done.stdout.endswith("second 0\n")
    same(state(large_home), state(kept))
    assert unfinished(kept) == []


#: Commands in a home that was mounted read-only.
READ_ONLY = """
mount --bind "$ALMANAC_HOME" "$ALMANAC_HOME" && mount -o remount,ro,bind "$ALMANAC_HOME" || exit 99
for words in "serve" "ingest us-treasury" "accounts list" "status" "worker --once"; do
    "$@" $words ; echo "$?"
done
"""


@pytest.mark.slow
@pytest.mark.sqlite  # as above
def test_a_home_that_is_read_only_is_told_of_at_the_start(tmp_path):
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to mount something read-only with")
    home = tmp_path / "home"
    run(home, "status")  # makes the store
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", READ_ONLY, "sh", *command()],
        env=environment(home), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"nothing may be mounted here: {done.stderr.strip()}")
    told = f"Error: ALMANAC_HOME: {home} cannot be used as the data folder: it is read-only for this user"
    assert done.stderr.splitlines() == [told] * 5
    assert done.stdout.split() == ["1"] * 5


#: Run in a name space of its own, on a small file system of its own: a service whose disk is filled under it. It tells, as
#: JSON, what was answered before, while and after the disk was full, and by which processes.
SERVED_ON_A_FULL_DISK = """
import json, os, pathlib, subprocess, sys, time
sys.path.insert(0, sys.argv[2])
import httpx2
from tests.faults.test_hosting import until, workers
from tests.support.processes import run
from tests.support.servers import serving

disk = pathlib.Path(sys.argv[1])
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "small", disk]).returncode:
    sys.exit(99)
home, log = disk / "home", disk.parent / "log"
run(home, "accounts", "create", "a@example.org", "--plan", "enterprise")
key = run(home, "keys", "create", "--account", "a@example.org").stdout.strip()
PATHS = ["coverage", "sources", "providers", "indicators", "countries", "observations", "events", "nothing"]
told = {}

def fill():
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass

def ask(when):
    answers = {}
    for path in PATHS:
        for method in ("GET", "HEAD", "POST", "PUT"):
            for headers in ({"x-api-key": key}, {}):
                answer = httpx2.request(method, f"{server.base}/{path}", headers=headers)
                answers[f"{method} {path} {bool(headers)}"] = answer.status_code
    time.sleep(0.5)
    ops = [httpx2.get(f"{server.ops}/{path}", timeout=30).status_code for path in ("healthz", "readyz", "metrics")]
    told[when] = [answers, ops, sorted(workers(server)), server.process.poll()]

with serving(home, log, WORKERS="2", LOG_LEVEL="error") as server:
    until(lambda: httpx2.get(f"{server.ops}/readyz", timeout=30).status_code == 200 and len(workers(server)) == 2)
    ask("before")
    fill()
    ask("full")
    (disk / "filler").unlink()
    ask("room")
fill()
with serving(home, log, WORKERS="2", LOG_LEVEL="error") as server:
    ask("started full")
    (disk / "filler").unlink()
    until(lambda: httpx2.get(f"{server.ops}/readyz", timeout=30).status_code == 200 and len(workers(server)) == 2)
    ask("started full, room")
told["log"] = log.read_text()
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.sqlite  # as above
def test_a_service_goes_on_while_its_disk_is_full(tmp_path):
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to make a file system of our own with")
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", sys.executable, "-c", SERVED_ON_A_FULL_DISK, str(disk), str(ROOT)],
        env=environment(tmp_path), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"a file system of our own may not be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    answers, ops, workers, ended = told["before"]
    assert (ops, len(workers), ended) == ([200, 200, 200], 2, None)
    assert {answers["GET coverage True"], answers["GET coverage False"], answers["POST coverage True"]} == {
        200,
        401,
        405,
    }
    # The same processes gave the same answers on the full disk.
    assert told["full"] == told["before"]
    assert told["room"] == told["before"]
    # A service that starts on a full disk answers what needs no store, and the rest when there is room.
    assert told["started full"][0]["GET coverage False"] == 401
    assert [told["started full"][1][0], told["started full"][3]] == [200, None]
    assert told["started full, room"][0] == answers
    assert told["started full, room"][1:] == [[200, 200, 200], told["started full"][2], None]
