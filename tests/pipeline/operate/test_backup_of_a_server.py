"""Accounts and counts of a server in a backup, which either engine takes; and what a restore leaves alone."""

import contextlib
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.config import Settings
from almanac.domain.times import EPOCH_ORDINAL, day_at
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.operate import restore as restoring
from almanac.pipeline.operate.backup import BackupError, backup
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.restore import check, restore
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.administration import AuditLog
from almanac.store.accounts.links import Invitations
from almanac.store.engine.opening import place
from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import RawStore
from almanac.store.usage.counts import CountedUse, UsageFile
from almanac.store.usage.reports import UsageReports
from tests.support import postgres, treasury_home
from tests.support.invented_accounts import ADA, NOW, PLANS
from tests.support.places import place_for

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]
DAY = day_at(29_000_000 * 60)


@pytest.fixture
def server(tmp_path):
    with place_for("postgres", Path()) as found:
        yield Settings(home=tmp_path / "server", database_url=found.url)


@pytest.fixture
def other_server(tmp_path):
    with place_for("postgres", Path()) as found:
        yield Settings(home=tmp_path / "other", database_url=found.url)


@pytest.fixture
def key(server):
    """The text of a key; beside it everything else that is kept of people, and a payload."""
    with contextlib.closing(Accounts(place(server.accounts_place))) as accounts:
        for number in range(20):
            accounts.create_account(f"{number}@example.org", "pro", PLANS, now=NOW)
        accounts.create_account(ADA, "free", PLANS, now=NOW)
        AuditLog(accounts).note("ada", "plan", "0@example.org", "free to pro", now=NOW)
        Invitations(accounts).invite("bob@example.org", "pro", PLANS, made_by=ADA, now=NOW)
        text, _ = accounts.create_key(ADA, ["macro:read"], "laptop", NOW + 10, now=NOW)
        assert accounts.verify(text, NOW)
    with contextlib.closing(UsageFile(place(server.usage_place))) as usage:
        usage.add([CountedUse(DAY - EPOCH_ORDINAL, "acc_1", "alm_a", "/x", 200, 3, 3_000)])
    server.home.mkdir()
    RawStore(Folder(server.raw_path)).keep("fred", "https://example.org/1", b"a response", "text/plain", 1, 2)
    return text


def held(settings, key):
    """What a home has of accounts and counts, as far as it is asked for."""
    with contextlib.closing(Accounts(place(settings.accounts_place))) as accounts:
        verified = accounts.verify(key, NOW)
        people = (accounts.list_accounts(), accounts.list_keys(), AuditLog(accounts).latest())
        invited = Invitations(accounts).open(now=NOW)
    with contextlib.closing(UsageFile(place(settings.usage_place))) as usage:
        return verified, people, invited, UsageReports(usage).by("endpoint", "acc_1", DAY, DAY)


@pytest.mark.sqlite  # files of its own beside the servers of its own
def test_from_a_server_to_files_and_back_to_another_server(server, other_server, key, tmp_path):
    before = held(server, key)
    assert before[0].scopes == ("macro:read",)
    assert len(before[1][0]) == 21
    made = backup(server, tmp_path / "one")
    assert {name for name in made.members if "/" not in name} == {"accounts.db", "usage.db"}
    assert check(tmp_path / "one")[1] == []
    files = Settings(home=tmp_path / "files")
    restore(files, tmp_path / "one")
    assert held(files, key) == before
    assert {path.name for path in files.home.iterdir()} == {"accounts.db", "usage.db", "raw"}
    backup(files, tmp_path / "two")
    restore(other_server, tmp_path / "two")
    assert held(other_server, key) == before
    assert {path.name for path in other_server.home.iterdir()} == {"raw"}
    # And it goes on: numbers follow those that were brought.
    with contextlib.closing(Accounts(place(other_server.accounts_place))) as accounts:
        accounts.create_account("last@example.org", "free", PLANS, now=NOW)
        assert [one.email for one in accounts.list_accounts()][-2:] == [ADA, "last@example.org"]


@pytest.mark.sqlite  # files of its own beside the server of its own
def test_a_home_of_files_moves_to_a_server(server, tmp_path):
    files = Settings(home=tmp_path / "files", now=treasury_home.NOW)
    with PipelineContext(files) as world:
        treasury_home.take(world, tmp_path / "mirror", treasury_home.ROWS)
        before = treasury_home.served(world)
    with contextlib.closing(Accounts(place(files.accounts_place))) as accounts:
        accounts.create_account(ADA, "free", PLANS, now=NOW)
    backup(files, tmp_path / "file")
    moved = msgspec.structs.replace(server, now=treasury_home.NOW)
    restore(moved, tmp_path / "file")
    with PipelineContext(moved, rebuilding=True) as world:
        assert rebuild(world, lambda _: None) == len(treasury_home.ROWS) - 1  # one answer was none
        assert treasury_home.served(world) == before
        assert list(verify(world, Checked())) == []
    with contextlib.closing(Accounts(place(moved.accounts_place))) as accounts:
        assert [account.email for account in accounts.list_accounts()] == [ADA]


def test_a_server_with_accounts_of_its_own_is_left_alone(server, other_server, key, tmp_path):
    backup(server, tmp_path / "one")
    with contextlib.closing(Accounts(place(other_server.accounts_place))) as accounts:
        accounts.create_account("eve@example.org", "free", PLANS, now=NOW)
    with pytest.raises(BackupError, match=r"holds rows in account, which a restore would overwrite") as caught:
        restore(other_server, tmp_path / "one")
    assert "postgres@" not in str(caught.value)
    assert held(other_server, key)[1][0][0].email == "eve@example.org"
    assert not other_server.home.exists()


@pytest.mark.parametrize("times", [1, 2])
def test_a_restore_that_is_killed_between_two_steps_is_ended_by_the_next(
    server, other_server, key, tmp_path, monkeypatch, times
):
    backup(server, tmp_path / "one")
    copy_tables, left = restoring.copy_tables, [times]

    def cut_off(source, target, area):
        copy_tables(source, target, area)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(restoring, "copy_tables", cut_off)
    with pytest.raises(KeyboardInterrupt):
        restore(other_server, tmp_path / "one")
    monkeypatch.undo()
    assert other_server.restored_path.exists()
    restore(other_server, tmp_path / "one")
    assert held(other_server, key) == held(server, key)
    assert {path.name for path in other_server.home.iterdir()} == {"raw"}


def test_the_commands_say_what_is_not_among_it(server, other_server, key, tmp_path):
    def run(settings, *arguments):
        given = {"ALMANAC_HOME": str(settings.home), "ALMANAC_DATABASE_URL": settings.database_url}
        result = CliRunner(env=given).invoke(main, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        return result.stderr

    assert (
        "the data on the server are not among them: `almanac rebuild` makes them anew, or pg_dump keeps them\n"
        in run(server, "backup", tmp_path / "one")
    )
    assert run(other_server, "restore", tmp_path / "one").endswith(
        "accounts and counts of requests are on the server, data were left out: run `almanac rebuild`\n"
    )
