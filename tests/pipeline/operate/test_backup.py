"""One file out, the same home in; and nothing at all from a file that is not what it was."""

import io
import tarfile
import threading

import msgspec
import pytest
import zstandard

from almanac.config import Settings
from almanac.pipeline.operate import backup as module
from almanac.pipeline.operate.backup import BackupError, backup, restore
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.verify import Checked, verify
from almanac.pipeline.world import World
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine import sqlite
from almanac.store.raw.captures import RawStore
from almanac.store.raw.folder import Folder
from tests.support.treasury_home import FIRST, NOW, ROWS, served, take, url


@pytest.fixture
def home(world):
    """The settings of a home with accounts, raw payloads and data."""
    accounts = Accounts(world.settings.accounts_path, None)
    accounts.create_account("ada@example.org", "free", world.settings.plans, now=1)
    accounts.close()
    return world.settings


@pytest.fixture
def other(tmp_path):
    return Settings(home=tmp_path / "other" / "home", now=NOW)


def members(file):
    with zstandard.open(file, "rb") as plain, tarfile.open(fileobj=io.BytesIO(plain.read())) as archive:
        return [(member.name, archive.extractfile(member).read()) for member in archive]


def rewrite(file, parts):
    """An archive with these members, links where the content is a string."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in parts:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    file.write_bytes(zstandard.compress(out.getvalue()))


def emails(chosen):
    accounts = Accounts(chosen.accounts_path, None)
    try:
        return [account.email for account in accounts.list_accounts()]
    finally:
        accounts.close()


def test_a_restored_home_is_the_one_that_was_backed_up(world, home, other, tmp_path):
    file = tmp_path / "all.almanac"
    made = backup(home, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (made.data_version, made.created_at) == (int(sqlite.meta(world.db, "version")), home.clock())
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []
    assert restore(other, file) == made
    assert {path.name for path in other.home.iterdir()} == {"data.db", "accounts.db", "raw"}
    assert other.home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in other.home.rglob("*") if path.is_file()} == {0o600}
    assert emails(other) == ["ada@example.org"]
    with World(other) as again:
        assert served(again) == served(world)
        assert sqlite.meta(again.db, "version") == sqlite.meta(world.db, "version")
        assert list(verify(again, Checked())) == []
    assert [path.name for path in other.home.parent.iterdir()] == ["home"]


def test_without_data_the_raw_store_brings_it_back(world, home, other, tmp_path):
    file = tmp_path / "small.almanac"
    made = backup(home, file, with_data=False)
    assert made.data_version is None
    assert "data.db" not in made.members
    restore(other, file)
    with World(other, rebuilding=True) as again:
        rebuild(again, lambda _: None)
        assert served(again) == served(world)


def test_an_empty_folder_that_is_there_is_as_good_as_none(home, other, tmp_path):
    backup(home, tmp_path / "b")
    other.home.mkdir(parents=True)
    restore(other, tmp_path / "b")
    assert emails(other) == ["ada@example.org"]


def test_a_home_that_holds_anything_is_left_alone(home, other, tmp_path):
    backup(home, tmp_path / "b")
    other.home.mkdir(parents=True)
    (other.home / "almanac.toml").write_text("port = 1\n")
    with pytest.raises(BackupError, match="is not empty; restore only into an empty ALMANAC_HOME"):
        restore(other, tmp_path / "b")
    assert [path.name for path in other.home.iterdir()] == ["almanac.toml"]


def test_a_file_that_is_there_is_never_written_over(home, tmp_path):
    (tmp_path / "b").write_text("mine")
    with pytest.raises(BackupError, match="is there already"):
        backup(home, tmp_path / "b")
    assert (tmp_path / "b").read_text() == "mine"


def test_nothing_to_back_up_and_nowhere_to_put_it(home, tmp_path):
    with pytest.raises(BackupError, match="there is nothing to back up"):
        backup(Settings(home=tmp_path / "none"), tmp_path / "b")
    with pytest.raises(BackupError, match=r"there is no folder .*missing"):
        backup(home, tmp_path / "missing" / "b")
    assert not (tmp_path / "none").exists()


def test_storage_outside_the_home_is_refused(home, other, tmp_path):
    backup(home, tmp_path / "b")
    apart = msgspec.structs.replace(other, raw_url=str(tmp_path / "elsewhere"))
    with pytest.raises(BackupError, match="unset ALMANAC_DATABASE_URL and ALMANAC_RAW_URL"):
        restore(apart, tmp_path / "b")


def changed(parts, name, content):
    return [(held, content if held == name else body) for held, body in parts]


def with_manifest(parts, **fields):
    told = msgspec.json.decode(parts[-1][1]) | fields
    return [*parts[:-1], ("manifest.json", msgspec.json.encode(told))]


def listed(parts, name):
    """A member more, which the manifest lists as it should."""
    told = msgspec.json.decode(parts[-1][1])["members"]
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of b"x"
    return with_manifest([*parts[:-1], (name, b"x"), parts[-1]], members={**told, name: digest})


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda p: changed(p, "accounts.db", b"x"), "'accounts.db' is not what the manifest says"),
        (lambda p: [one for one in p if one[0] != "accounts.db"], "'accounts.db' is not what the manifest says"),
        (lambda p: [("raw/index/a/b", b"x"), *p], "'raw/index/a/b' is not what the manifest says"),
        (lambda p: [*p[:1], *p], "'data.db' is there twice"),
        (lambda p: p[:-1], "has no manifest"),
        (lambda p: [*p, ("raw/index/a/b", b"x")], "comes after the manifest"),
        (lambda p: [*p[:-1], ("manifest.json", b"{}")], "its manifest cannot be read"),
        (lambda p: with_manifest(p, format=2), "has format 2, this version of Almanac reads 1"),
        (lambda p: with_manifest(p, more=1), "its manifest cannot be read"),
        (lambda p: [("raw/index/a/b", "/etc/passwd"), *p], "is not a plain file"),
        *((lambda p, name=name: listed(p, name), "is not a name that belongs in a backup") for name in (
            "../escaped", "/etc/escaped", "raw/../../escaped", "raw/index/../escaped", "raw/index/a/../../escaped",
            "raw/other/a/b", "raw/index/./b", "raw//index/b", "almanac.toml", "raw/index/a/b/c",
        )),
    ],
)  # fmt: skip
def test_a_file_that_was_tampered_with_leaves_nothing_behind(home, other, tmp_path, tamper, message):
    file = tmp_path / "b"
    backup(home, file)
    rewrite(file, tamper(members(file)))
    with pytest.raises(BackupError, match=message):
        restore(other, file)
    assert list(other.home.parent.iterdir()) == []
    assert list(tmp_path.rglob("*escaped*")) == []


def test_a_member_that_is_listed_and_named_well_is_taken(home, other, tmp_path):
    """The counterpart of the names above: it is the name that is refused, not the addition."""
    file = tmp_path / "b"
    backup(home, file)
    rewrite(file, listed(members(file), "raw/objects/aa/x"))
    restore(other, file)
    assert (other.home / "raw/objects/aa/x").read_bytes() == b"x"


@pytest.mark.parametrize("keep", [0, 10, -1000])
def test_a_file_that_was_cut_off_is_refused(home, other, tmp_path, keep):
    file = tmp_path / "b"
    backup(home, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(BackupError):
        restore(other, file)
    assert list(other.home.parent.iterdir()) == []


def test_a_file_of_something_else_is_refused(other, tmp_path):
    (tmp_path / "b").write_bytes(b"not a backup at all")
    with pytest.raises(BackupError, match="is not a whole backup"):
        restore(other, tmp_path / "b")


def test_a_backup_that_fails_leaves_no_file(home, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(module, "_sync", broken)
    with pytest.raises(OSError, match="disk full"):
        backup(home, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


def test_every_payload_the_data_refers_to_is_in_it_whenever_a_payload_arrives(
    world, home, other, tmp_path, monkeypatch
):
    """A payload kept and folded after the data snapshot, and one kept between listing the index and the objects."""
    snapshot, names = module._snapshot, Folder.names

    def late_payload(path, copy):
        found = snapshot(path, copy)
        if copy.name == "data.db":
            take(world, tmp_path / "later", [(url(2022), "2026-02-01T00:00:01Z", FIRST.replace(b"2026", b"2022"), 200)])
        return found

    def late_object(self, prefix):
        found = list(names(self, prefix))
        if prefix == "index":
            RawStore(Folder(home.raw_path)).keep("us-treasury-par", url(2021), b"later still", "text/xml", 1, 2)
        return iter(found)

    monkeypatch.setattr(module, "_snapshot", late_payload)
    monkeypatch.setattr(Folder, "names", late_object)
    made = backup(home, tmp_path / "b")
    monkeypatch.undo()
    restore(other, tmp_path / "b")
    with World(other) as again:
        assert list(verify(again, Checked())) == []
        assert sqlite.meta(again.db, "version") == str(made.data_version)
        assert len(list(again.raw.captures())) == len(ROWS) - 1 + 1
    assert int(sqlite.meta(world.db, "version")) > made.data_version


def test_a_backup_beside_a_busy_writer_is_consistent(world, home, other, tmp_path):
    stop, written = threading.Event(), []

    def write():
        connection = sqlite.connect(home.data_path)
        while not stop.is_set():
            with connection.transaction():
                written.append(len(written))
                for name in ("left", "right"):
                    sqlite.set_meta(connection, name, str(len(written)))
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(3):
            backup(home, tmp_path / f"b{number}")
    finally:
        stop.set()
        thread.join()
    restore(other, tmp_path / "b2")
    copy = sqlite.connect(other.data_path, read_only=True)
    assert sqlite.meta(copy, "left") == sqlite.meta(copy, "right") != "0"
    assert copy.execute("PRAGMA integrity_check").get == "ok"
    copy.close()
    assert list(other.home.parent.iterdir()) == [other.home]
