"""One file out, the same home in; and nothing at all from a file that is not what it was."""

import hashlib
import io
import re
import tarfile
import threading
from pathlib import Path

import msgspec
import pytest
import zstandard
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.config import Settings
from almanac.distribution import version
from almanac.domain.times import day_at
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.missing_payloads import LossError
from almanac.pipeline.operate import backup as module
from almanac.pipeline.operate import restore as restoring
from almanac.pipeline.operate.backup import FORMAT, BackupError, backup
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.restore import check, restore
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine import sqlite
from almanac.store.engine.data_schema import SCHEMA, meta, set_meta
from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import RawStore
from almanac.store.usage.counts import CountedUse, UsageFile
from almanac.store.usage.reports import UsageReports
from tests.support.treasury_home import FIRST, NOW, ROWS, served, take, url

pytestmark = pytest.mark.sqlite  # a backup of files; test_backup_of_a_server is about the other


@pytest.fixture
def home(world):
    """The settings of a home with accounts, raw payloads and data."""
    accounts = Accounts(world.settings.home / "accounts.db", None)
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
    accounts = Accounts(chosen.home / "accounts.db", None)
    try:
        return [account.email for account in accounts.list_accounts()]
    finally:
        accounts.close()


def test_what_was_used_is_backed_up_with_the_rest(world, home, other, tmp_path):
    serving = UsageFile(home.home / "usage.db")
    serving.add(
        [CountedUse(29_000_000 // 1_440, "acc_1", "alm_aaaaaaaa", "/coverage", 200, 3, 3_000)]
    )  # and it stays open
    file = tmp_path / "all.almanac"
    assert "usage.db" in backup(home, file, with_data=False).members
    serving.close()
    restore(other, file)
    assert (other.home / "usage.db").stat().st_mode & 0o777 == 0o600
    restored, day = UsageFile(other.home / "usage.db"), day_at(29_000_000 * 60)
    assert UsageReports(restored).total("acc_1", day, day).requests == 3
    restored.close()


def test_a_restored_home_is_the_one_that_was_backed_up(world, home, other, tmp_path):
    file = tmp_path / "all.almanac"
    made = backup(home, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (made.data_version, made.created_at) == (int(meta(world.db, "version")), home.clock())
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []
    assert restore(other, file) == made
    assert {path.name for path in other.home.iterdir()} == {"data.db", "accounts.db", "raw"}
    assert other.home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in other.home.rglob("*") if path.is_file()} == {0o600}
    assert emails(other) == ["ada@example.org"]
    with PipelineContext(other) as again:
        assert served(again) == served(world)
        assert meta(again.db, "version") == meta(world.db, "version")
        assert list(verify(again, Checked())) == []
    assert [path.name for path in other.home.parent.iterdir()] == ["home"]


def test_without_data_the_raw_store_brings_it_back(world, home, other, tmp_path):
    file = tmp_path / "small.almanac"
    made = backup(home, file, with_data=False)
    assert made.data_version is None
    assert "data.db" not in made.members
    restore(other, file)
    with PipelineContext(other, rebuilding=True) as again:
        rebuild(again, lambda _: None)
        assert served(again) == served(world)


def test_settings_in_place_stay_as_they_are(world, home, other, tmp_path):
    """A home made ready by hand: its settings, an empty lock folder, a note. None of it is in a backup."""
    backup(home, tmp_path / "b")
    other.home.mkdir(parents=True, mode=0o755)
    (other.home / "almanac.toml").write_text("port = 1\n")
    (other.home / "run").mkdir()
    inode = other.home.stat().st_ino
    restore(other, tmp_path / "b")
    assert {path.name for path in other.home.iterdir()} == {"almanac.toml", "run", "data.db", "accounts.db", "raw"}
    assert (other.home / "almanac.toml").read_text() == "port = 1\n"
    # The folder itself was never replaced: it may be a mount.
    assert other.home.stat().st_ino == inode
    with PipelineContext(other) as again:
        assert served(again) == served(world)


@pytest.mark.parametrize("name", ["data.db", "data.db-wal", "accounts.db", "accounts.db-journal", "raw"])
def test_a_home_with_data_of_its_own_is_left_alone(home, other, tmp_path, name):
    backup(home, tmp_path / "b")
    other.home.mkdir(parents=True)
    (other.home / "almanac.toml").write_text("port = 1\n")
    (other.home / name).write_text("mine")
    with pytest.raises(BackupError, match=f"holds {name}, which a restore would overwrite: move that away"):
        restore(other, tmp_path / "b")
    assert {path.name: path.read_text() for path in other.home.iterdir()} == {
        "almanac.toml": "port = 1\n", name: "mine",
    }  # fmt: skip


def test_data_that_came_while_the_backup_was_read_are_left_alone(home, other, tmp_path, monkeypatch):
    backup(home, tmp_path / "b")

    def meanwhile(*arguments):
        Accounts(other.home / "accounts.db", None).close()
        return module.extract(*arguments)

    monkeypatch.setattr(restoring, "extract", meanwhile)
    with pytest.raises(BackupError, match=r"holds accounts\.db"):
        restore(other, tmp_path / "b")
    assert {path.name.partition("-")[0] for path in other.home.iterdir()} == {"accounts.db"}


def test_a_restore_cut_off_on_its_last_step_is_ended_by_the_next(world, home, other, tmp_path, monkeypatch):
    """Killed between two moves: nothing else uses the home until the rest is in place."""
    made = backup(home, tmp_path / "b")
    real, moved = Path.rename, []

    def dies(path, target):
        if path.parent.name == ".restored" and len(moved) == 1:
            raise KeyboardInterrupt
        moved.extend([path] if path.parent.name == ".restored" else [])
        return real(path, target)

    monkeypatch.setattr(Path, "rename", dies)
    with pytest.raises(KeyboardInterrupt):
        restore(other, tmp_path / "b")
    monkeypatch.undo()
    assert other.restored_path.exists()
    with pytest.raises(BackupError, match="was cut off: end it first"):
        backup(other, tmp_path / "b2")
    refused = CliRunner(env={"ALMANAC_HOME": str(other.home)}).invoke(main, ["status"])
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"Error: a restore into {other.home} was cut off: run `almanac restore` again, which puts the rest in place\n",
    )
    assert restore(other, tmp_path / "b") == made
    assert {path.name for path in other.home.iterdir()} == {"data.db", "accounts.db", "raw"}
    with PipelineContext(other) as again:
        assert served(again) == served(world)


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


def test_raw_payloads_are_restored_to_the_raw_store_of_the_settings(world, home, other, tmp_path):
    backup(home, tmp_path / "b")
    apart = msgspec.structs.replace(other, raw_url=str(tmp_path / "elsewhere"))
    restore(apart, tmp_path / "b")
    assert not (apart.home / "raw").exists()
    with PipelineContext(apart) as again:
        assert served(again) == served(world)
        assert list(verify(again, Checked())) == []
        assert again.raw.identity() == world.raw.identity()
    third = msgspec.structs.replace(apart, home=tmp_path / "third")
    with pytest.raises(BackupError, match="elsewhere holds payloads: name an empty one in ALMANAC_RAW_URL"):
        restore(third, tmp_path / "b")
    assert not third.home.exists()


def test_a_raw_store_that_does_not_give_back_what_was_written_ends_a_restore(home, other, tmp_path, monkeypatch):
    backup(home, tmp_path / "b")
    apart = msgspec.structs.replace(other, raw_url=str(tmp_path / "elsewhere"))
    monkeypatch.setattr(Folder, "put", lambda self, name, content: self.create(name, content[:-1]))
    with pytest.raises(BackupError, match="is not what was written: run `almanac restore` again"):
        restore(apart, tmp_path / "b")
    monkeypatch.undo()
    restore(apart, tmp_path / "b")
    with PipelineContext(apart) as again:
        assert list(verify(again, Checked())) == []


def test_a_database_file_outside_the_home_is_refused(home, other, tmp_path):
    backup(home, tmp_path / "b")
    apart = msgspec.structs.replace(other, database_url=f"sqlite:///{tmp_path}/elsewhere.db")
    with pytest.raises(BackupError, match="unset ALMANAC_DATABASE_URL"):
        restore(apart, tmp_path / "b")


def changed(parts, name, content):
    return [(held, content if held == name else body) for held, body in parts]


def with_head(parts, **fields):
    return [("backup.json", msgspec.json.encode(msgspec.json.decode(parts[0][1]) | fields)), *parts[1:]]


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
        (lambda p: [p[0], ("raw/index/a/b", b"x"), *p[1:]], "'raw/index/a/b' is not what the manifest says"),
        (lambda p: [*p[:2], *p[1:]], "'data.db' is there twice"),
        (lambda p: [*p[1:2], *p], "begins with 'data.db', not with backup.json"),
        (lambda p: changed(p, "backup.json", b"{}"), "its head cannot be read"),
        (lambda p: p[:-1], "has no manifest"),
        (lambda p: [*p, ("raw/index/a/b", b"x")], "comes after the manifest"),
        (lambda p: [*p[:-1], ("manifest.json", b"{}")], "its manifest cannot be read"),
        (lambda p: with_manifest(p, format=FORMAT + 1), f"has format {FORMAT + 1}, this version of Almanac "),
        (lambda p: with_head(p, format=FORMAT + 1, almanac="9.9", more=1), "install Almanac 9.9 or a later one, then restore"),
        (lambda p: with_manifest(p, more=1), "its manifest cannot be read"),
        (lambda p: [("raw/index/a/b", "/etc/passwd"), *p], "is not a plain file"),
        *((lambda p, name=name: listed(p, name), "is not a name that belongs in a backup") for name in (
            "../escaped", "/etc/escaped", "raw/../../escaped", "raw/index/../escaped", "raw/index/a/../../escaped",
            "raw/other/a/b", "backup.json", "raw/index/./b", "raw//index/b", "almanac.toml", "raw/index/a/b/c",
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


def test_a_backup_names_the_version_that_made_it(home, tmp_path):
    made = backup(home, tmp_path / "b")
    (first, head), *_ = members(tmp_path / "b")
    told = msgspec.json.decode(head)
    assert first == "backup.json"
    assert (told["format"], told["almanac"], made.almanac) == (FORMAT, version(), version())
    assert told["bytes"] == sum(len(content) for _, content in members(tmp_path / "b")[1:-1])


@pytest.mark.parametrize(("name", "column"), [("data.db", "schema"), ("accounts.db", "user_version")])
def test_databases_of_a_later_version_are_refused(home, other, tmp_path, name, column):
    """The format may be the same while the tables are not: then the store would be refused after the restore."""
    db = sqlite.connect(home.home / name)
    if column == "schema":
        set_meta(db, "schema", str(int(SCHEMA) + 1))
    else:
        db.pragma("user_version", 77)
    db.close()
    backup(home, tmp_path / "b")
    told = (
        rf"{name} has schema \d+, this version of Almanac \({re.escape(version())}\) reads up to \d+: install Almanac "
    )
    with pytest.raises(BackupError, match=told):
        restore(other, tmp_path / "b")
    assert list(other.home.parent.iterdir()) == []
    _, (problem,) = check(tmp_path / "b")
    assert re.match(told, problem)


# -- looking at one ---------------------------------------------------------------------------------------------------


def test_a_good_backup_has_no_problem_and_the_look_leaves_nothing(home, tmp_path):
    made = backup(home, tmp_path / "b")
    before = {path.name for path in tmp_path.iterdir()}
    assert check(tmp_path / "b") == (made, [])
    assert {path.name for path in tmp_path.iterdir()} == before


def test_every_member_that_is_not_as_it_was_is_named(home, tmp_path):
    backup(home, tmp_path / "b")
    parts = members(tmp_path / "b")
    raw = next(name for name, _ in parts if name.startswith("raw/objects/"))
    rewrite(tmp_path / "b", [one for one in changed(parts, raw, b"x") if one[0] != "accounts.db"])
    manifest, problems = check(tmp_path / "b")
    assert manifest is not None
    assert problems == [f"{name}: is not what the manifest says" for name in ("accounts.db", raw)]


def test_a_database_that_was_damaged_before_it_was_backed_up_is_found(home, tmp_path):
    """Its hash is right: what is kept is what was there. Only a look inside tells."""
    backup(home, tmp_path / "b")
    parts = members(tmp_path / "b")
    data = bytearray(dict(parts)["data.db"])
    pages = len(data) // 8192
    for page in range(pages // 2, pages):
        data[page * 8192 : page * 8192 + 64] = b"\xff" * 64
    digest = hashlib.sha256(data).hexdigest()
    told = msgspec.json.decode(parts[-1][1])["members"]
    rewrite(tmp_path / "b", with_manifest(changed(parts, "data.db", bytes(data)), members={**told, "data.db": digest}))
    _, problems = check(tmp_path / "b")
    assert problems
    assert all(one.startswith("data.db: ") for one in problems)


@pytest.mark.parametrize("name", ["data.db", "accounts.db"])
def test_a_damaged_database_is_told_of_at_once(world, home, tmp_path, name):
    """A page that SQLite copies as it is would be found when somebody needs the backup."""
    world.db.close()  # the last of its connections puts all into the file
    path = home.home / name
    content = bytearray(path.read_bytes())
    for page in range(len(content) // 8192 // 2, len(content) // 8192):
        content[page * 8192 : page * 8192 + 64] = b"\xff" * 64
    path.write_bytes(content)
    with pytest.raises(BackupError, match=rf"{name} is damaged \(.*--no-verify$") as caught:
        backup(home, tmp_path / "b")
    assert ("--without-data" in str(caught.value)) == (name == "data.db")
    assert list(tmp_path.glob("*b*")) == []


def test_a_payload_that_was_damaged_before_it_was_backed_up_is_found(home, tmp_path):
    victim = next((home.raw_path / "objects").rglob("*.zst"))
    victim.write_bytes(victim.read_bytes()[:-9])
    with pytest.raises(LossError, match=f"1 of the 6 payloads .*/{victim.name}: "):
        backup(home, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    backup(home, tmp_path / "b", without=1)
    _, (problem,) = check(tmp_path / "b")
    assert problem.startswith(f"raw store: {victim.relative_to(home.raw_path)}: ")


@pytest.mark.parametrize("content", [b"", b"not a backup at all"])
def test_what_cannot_be_read_is_one_problem(tmp_path, content):
    (tmp_path / "b").write_bytes(content)
    manifest, (problem,) = check(tmp_path / "b")
    assert manifest is None
    assert "is not a whole backup" in problem or "has no manifest" in problem


def test_the_command_tells_what_it_found_and_exits_1_for_problems(home, tmp_path):
    def run(*words):
        return CliRunner(env={"ALMANAC_HOME": str(home.home)}).invoke(main, [str(word) for word in words])

    backup(home, tmp_path / "b")
    good = run("backup", "--verify", tmp_path / "b")
    assert (good.exit_code, good.stderr) == (0, "")
    assert re.fullmatch(
        rf"no problem; \d+ members, data version \d+, made by Almanac {re.escape(version())} at \S+Z\n",
        good.stdout,
    )
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:-1000])
    bad = run("backup", "--verify", tmp_path / "b")
    assert (bad.exit_code, bad.stdout != "") == (1, True)
    assert bad.stderr == f"1 problems: {tmp_path / 'b'} is not to be relied upon\n"
    assert "there is no file" in run("backup", "--verify", tmp_path / "none").stderr
    assert run("backup", "--verify", "--without-data", tmp_path / "b").exit_code == 2


def test_progress_is_told_and_adds_up(home, other, tmp_path):
    told = {}

    def meter(name, total):
        told[name] = [total, 0.0]

        def advance(more):
            told[name][1] += more

        return advance

    backup(home, tmp_path / "b", meter=meter)
    restore(other, tmp_path / "b", meter)
    assert set(told) == {"MiB of data.db copied", "MiB of accounts.db copied", "MiB packed", "MiB unpacked"}
    assert [name for name, (total, done) in told.items() if not total <= done < total + 1] == [], told


@pytest.mark.parametrize("keep", [0, 10, -1000])
def test_a_file_that_was_cut_off_is_refused(home, other, tmp_path, keep):
    file = tmp_path / "b"
    backup(home, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(BackupError):
        restore(other, file)
    assert list(other.home.parent.iterdir()) == []


def test_a_backup_that_fails_leaves_no_file(home, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(module, "sync", broken)
    with pytest.raises(OSError, match="disk full"):
        backup(home, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


def test_every_payload_the_data_refers_to_is_in_it_whenever_a_payload_arrives(
    world, home, other, tmp_path, monkeypatch
):
    """A payload kept and folded after the data snapshot, and one kept between listing the index and the objects."""
    snapshot, names = module._snapshot, Folder.names

    def late_payload(at, part, copy, meter):
        found = snapshot(at, part, copy, meter)
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
    with PipelineContext(other) as again:
        assert list(verify(again, Checked())) == []
        assert meta(again.db, "version") == str(made.data_version)
        assert len(list(again.raw.captures())) == len(ROWS) - 1 + 1
    assert int(meta(world.db, "version")) > made.data_version


def test_a_backup_beside_a_busy_writer_is_consistent(world, home, other, tmp_path):
    stop, written = threading.Event(), []

    def write():
        connection = sqlite.connect(home.home / "data.db")
        while not stop.is_set():
            with connection.transaction():
                written.append(len(written))
                for name in ("left", "right"):
                    set_meta(connection, name, str(len(written)))
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
    copy = sqlite.connect(other.home / "data.db", read_only=True)
    assert meta(copy, "left") == meta(copy, "right") != "0"
    assert copy.execute("PRAGMA integrity_check").get == "ok"
    copy.close()
    assert list(other.home.parent.iterdir()) == [other.home]
