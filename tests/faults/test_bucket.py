"""Raw payloads in a bucket, from an ingest to a rebuild: the same as in a folder, whoever dies and whatever goes away."""

import functools
import re
import signal

import msgspec
import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from almanac.__main__ import main
from almanac.pipeline.operate.backup import backup
from almanac.pipeline.operate.restore import restore
from almanac.pipeline.operate.status import room
from almanac.serving import check_raw
from almanac.store.raw.blobs import blobs_at
from tests.support.bucket import BUCKET, SECRET, bucket
from tests.support.processes import run
from tests.support.treasury_home import NOW, SOURCE, settings, write_mirror

from .states import same, state

PLACE = f"s3://{BUCKET}/kept"
#: Kills its own process inside the n-th write to the bucket: before it is sent, or when it is answered.
DIES = """
import os, signal, obstore
real, calls = obstore.put, {when}
def put(*a, **k):
    global calls
    calls -= 1
    if not calls and not {after}: os.kill(os.getpid(), signal.SIGKILL)
    try:
        return real(*a, **k)
    finally:  # refused, too: the name was taken
        if not calls: os.kill(os.getpid(), signal.SIGKILL)
obstore.put = put
"""


@pytest.fixture
def held(monkeypatch):
    with bucket() as one:
        for name, value in one.environment.items():
            monkeypatch.setenv(name, value)
        yield one


def give(home, *arguments, expect=0):
    done = CliRunner().invoke(main, list(map(str, arguments)), env={"ALMANAC_HOME": str(home), "ALMANAC_NOW": NOW})
    assert done.exit_code == expect, done.output
    return done


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Commands on a home that keeps its payloads in the bucket."""
    monkeypatch.setenv("ALMANAC_RAW_URL", PLACE)
    return functools.partial(give, tmp_path / "bucket")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A home that keeps them in itself, with the same responses taken in."""
    path = tmp_path_factory.mktemp("in a folder")
    give(path / "home", "ingest", SOURCE, "--from", write_mirror(path / "mirror"), expect=3)
    return path / "home"


@pytest.fixture
def mirror(tmp_path):
    return write_mirror(tmp_path / "mirror")


def take(command, mirror, expect=3):
    """One response of this mirror is none that can be read: exit code 3."""
    return command("ingest", SOURCE, "--from", mirror, expect=expect)


def contents(place):
    blobs = blobs_at(str(place))
    return {name: blobs.get(name) for name in [*blobs.names("index"), *blobs.names("objects")]}


def alike(folder, home):
    """Both homes have the same ids, values and payloads, byte for byte."""
    same(state(folder), state(home))
    kept = contents(folder / "raw")
    assert kept == contents(PLACE)
    assert len(kept) == 12
    assert not (home / "raw").exists()


def test_the_same_mirror_gives_the_same_in_either_and_a_rebuild_too(held, command, mirror, folder, tmp_path):
    take(command, mirror)
    alike(folder, tmp_path / "bucket")
    command("rebuild")
    alike(folder, tmp_path / "bucket")
    assert command("verify").stdout.startswith("no problem; ")
    rotten = next(name for name in sorted(held.objects) if "/objects/" in name)
    held.objects[rotten] = b"rot"
    assert rotten.removeprefix("kept/") in command("rebuild", expect=1).output


@pytest.mark.slow
def test_what_is_kept_already_is_kept_once_and_what_rots_is_named_and_mended(held, command, mirror, folder, tmp_path):
    take(command, mirror)
    before = dict(held.objects)
    rotten = next(name for name in sorted(held.objects) if "/objects/" in name)
    held.objects[rotten] = b"rot"
    assert rotten.removeprefix("kept/") in command("verify", expect=1).output
    take(command, mirror)
    assert held.objects == before
    alike(folder, tmp_path / "bucket")


@pytest.mark.slow
def test_a_backup_holds_what_the_bucket_does_and_is_restored_to_a_folder_or_a_bucket(
    held, command, mirror, folder, tmp_path
):
    take(command, mirror)
    ours = msgspec.structs.replace(settings(tmp_path), home=tmp_path / "bucket", raw_url=PLACE)
    assert backup(ours, tmp_path / "file").data_version is not None
    restore(msgspec.structs.replace(ours, home=tmp_path / "back", raw_url=None), tmp_path / "file")
    same(state(folder), state(tmp_path / "back"))
    assert contents(folder / "raw") == contents(tmp_path / "back/raw")
    restore(msgspec.structs.replace(ours, home=tmp_path / "third", raw_url=f"{PLACE}-too"), tmp_path / "file")
    assert contents(folder / "raw") == contents(f"{PLACE}-too")
    assert not (tmp_path / "third/raw").exists()


@pytest.mark.slow
def test_a_folder_moves_by_being_copied(held, command, folder, tmp_path):
    root = folder / "raw"
    for path in root.rglob("*.*"):
        held.objects[f"kept/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    command("rebuild")
    alike(folder, tmp_path / "bucket")


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("when", range(2, 15, 3))
def test_a_kill_at_any_write_loses_nothing(held, command, mirror, folder, tmp_path, when, after):
    dies = DIES.format(when=when, after=after)
    run(
        tmp_path / "bucket", "ingest", SOURCE, "--from", mirror, before=dies, expect=-signal.SIGKILL,
        RAW_URL=PLACE, NOW=NOW,
    )  # fmt: skip
    take(command, mirror)
    alike(folder, tmp_path / "bucket")


def test_a_bucket_that_goes_away_ends_an_ingest_with_its_name_and_the_next_one_goes_on(
    held, command, mirror, folder, tmp_path
):
    held.writes_left = 6
    lost = take(command, mirror, expect=1).stderr.splitlines()[-1]
    assert re.match(
        rf"Error: ALMANAC_RAW_URL: {PLACE}: the storage cannot be reached, or does not answer .*SlowDown", lost
    )
    assert SECRET not in lost
    assert len(held.objects) == 6
    held.writes_left = None
    take(command, mirror)
    alike(folder, tmp_path / "bucket")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ALMANAC_RAW_URL", "s3://no-such-bucket", "ALMANAC_RAW_URL: s3://no-such-bucket: there is no such bucket"),
        ("AWS_ACCESS_KEY_ID", "stranger", f"ALMANAC_RAW_URL: {PLACE}: the storage lets nobody in"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_kept(held, command, monkeypatch, mirror, name, value, words):
    monkeypatch.setenv(name, value)
    done = take(command, mirror, expect=1)
    assert done.stderr.startswith(f"Error: {words}")
    assert done.stderr.count("\n") == 1
    assert held.objects == {}


def test_a_server_that_keeps_the_last_writers_word_is_told_before_anything_is_kept(held, command, mirror):
    held.conditional = False
    assert "this server overwrites what it is asked to create" in take(command, mirror, expect=1).stderr
    assert list(held.objects) == ["kept/conditional-put"]


@pytest.mark.parametrize(("name", "words"), [("s3://no-such-bucket", "no such bucket"), (PLACE, None)])
def test_a_service_starts_without_a_bucket_that_is_away_and_not_without_one_that_is_none(
    held, tmp_path, caplog, name, words
):
    ours = msgspec.structs.replace(settings(tmp_path), raw_url=name)
    if words is None:
        held.writes_left = 0
        with capture_logs() as told:
            check_raw(ours)
        assert [one["event"] for one in told] == ["the raw store cannot be reached"]
        assert told[0]["reason"].startswith(f"ALMANAC_RAW_URL: {PLACE}: ")
    else:
        with pytest.raises(OSError, match=words):
            check_raw(ours)


def test_the_room_on_disk_is_that_of_folders(tmp_path):
    ours = settings(tmp_path)
    assert room(msgspec.structs.replace(ours, raw_url=PLACE)).free.keys() == room(ours).free.keys() == {"home"}
