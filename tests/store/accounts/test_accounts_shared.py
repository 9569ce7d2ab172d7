"""The accounts database among processes and threads; its secrets; its file."""

import contextlib
import secrets
import subprocess
import sys
import threading

import apsw
import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.file import SCHEMA, hkdf
from almanac.store.accounts.records import UNKNOWN, AccountError
from almanac.store.engine import opening
from almanac.store.engine.errors import UnavailableError
from tests.support.invented_accounts import NOW, PLANS
from tests.support.places import SPOKEN, told
from tests.support.processes import told_by_four


def other(place, body):
    """Another process with `a` open on the same database. It says `ready`, then runs `body` for each line it is sent."""
    code = f"""
import sys
{SPOKEN}
from almanac.store.accounts.accounts import Accounts
a = Accounts(spoken(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    line = line.strip()
    print({body}, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, told(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"

    def ask(line=""):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def stop():
        process.stdin.close()
        assert process.wait(10) == 0
        process.stdout.close()

    return ask, stop


# Other connections, other processes


def test_another_process_refuses_a_revoked_key_at_its_next_request(accounts, place):
    text, info = accounts.create_key("ada@example.org", now=NOW)
    ask, stop = other(place, f"getattr(a.verify(line, {NOW}), 'plan', 'refused')")
    assert [ask(text), ask(text)] == ["free", "free"]
    accounts.set_plan("ADA@example.org", "pro", PLANS)
    assert ask(text) == "pro"
    accounts.revoke(info.prefix, now=NOW)
    assert ask(text) == "refused"
    stop()


def test_what_others_change_may_go_unnoticed_for_a_while_and_no_longer(accounts, place):
    text, info = accounts.create_key("ada@example.org", now=NOW)
    moment = 100.0
    worker = Accounts(place, notice_seconds=0.5, monotonic=lambda: moment)
    assert worker.verify(text, NOW).plan == "free"
    accounts.revoke(info.id, now=NOW)
    moment = 100.4
    assert worker.verify(text, NOW).plan == "free"
    moment = 100.5
    assert worker.verify(text, NOW) is UNKNOWN
    # A new key needs no notice.
    assert worker.verify(accounts.create_key("ada@example.org", now=NOW)[0], NOW).plan == "free"
    worker.close()


def test_own_changes_hold_at_once_too(accounts):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    assert accounts.verify(text, NOW).plan == "free"
    assert accounts.set_plan("ada@example.org", "pro", PLANS).plan == "pro"
    assert accounts.verify(text, NOW).plan == "pro"


def test_a_deleted_account_takes_its_keys_with_it(accounts, place):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    assert accounts.verify(text, NOW)
    with contextlib.closing(opening.open_auxiliary(place, schema=SCHEMA)) as second:
        second.execute("DELETE FROM account")
    assert accounts.verify(text, NOW) is UNKNOWN
    assert accounts.list_keys() == []


def test_a_restored_backup_is_noticed(accounts, path, tmp_path):
    _, info = accounts.create_key("ada@example.org", now=NOW)
    accounts.revoke(info.id, now=NOW)
    Accounts(tmp_path / "copy.db").close()
    with (
        apsw.Connection(str(tmp_path / "copy.db")) as kept,
        kept.backup("main", apsw.Connection(str(path)), "main") as copy,
    ):
        copy.step()
    kept.close()
    fresh, _ = accounts.create_key("ada@example.org", now=NOW)
    assert accounts.verify(fresh, NOW)
    target = apsw.Connection(str(path))
    with target.backup("main", apsw.Connection(str(tmp_path / "copy.db")), "main") as restore:
        restore.step()
    # What was made after the backup is gone, also for a process that had verified it.
    assert accounts.verify(fresh, NOW) is UNKNOWN
    assert [each.id for each in accounts.list_keys()] == [info.id]


def test_noting_a_use_does_not_empty_the_memory_of_others(place, accounts, monkeypatch):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    reader = Accounts(place)
    assert reader.verify(text, NOW)
    looked_up = []
    live = Accounts._live
    monkeypatch.setattr(Accounts, "_live", lambda self, *rest: looked_up.append(1) or live(self, *rest))
    accounts.verify(text, NOW)
    assert accounts.flush() == 1
    looked_up.clear()
    assert reader.verify(text, NOW)
    assert looked_up == []
    accounts.set_plan("ada@example.org", "pro", PLANS)
    assert reader.verify(text, NOW).plan == "pro"
    assert looked_up == [1]
    reader.close()


def test_last_used_is_written_once_a_minute_and_key_over_all_processes(place, accounts):
    text, _ = accounts.create_key("ada@example.org", now=NOW)
    second = Accounts(place)

    def used(by, now):
        assert by.verify(text, now)
        return by.flush(), accounts.list_keys()[0].last_used

    assert accounts.flush() == 0
    assert used(accounts, NOW) == (1, NOW)
    assert used(accounts, NOW + 59) == (0, NOW)
    assert used(second, NOW + 59) == (0, NOW)
    assert used(second, NOW + 60) == (1, NOW + 60)
    assert used(accounts, NOW + 30) == (0, NOW + 60)  # never back
    second.close()


def test_refused_keys_are_not_noted_as_used(accounts):
    text, info = accounts.create_key("ada@example.org", now=NOW)
    accounts.revoke(info.id, now=NOW)
    accounts.verify(text, NOW)
    assert accounts.flush() == 0


def test_threads_share_one_object(accounts):
    texts = [accounts.create_key("ada@example.org", now=NOW)[0] for _ in range(4)]
    verified, start = [], threading.Barrier(4)

    def work(text):
        start.wait()
        verified.extend(accounts.verify(text, NOW).prefix == text[:12] for _ in range(200))

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert verified == [True] * 800
    assert accounts.flush() == 4


# Secrets and the file


def test_hkdf_is_the_one_of_rfc_5869():
    # Appendix A.1; the first block of its 42 bytes.
    made = hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)))
    assert made.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


def test_secrets_are_made_once_and_differ_by_purpose(accounts, place):
    ask, stop = other(place, "a.secret(line).hex()")
    assert ask("cursor") == accounts.secret("cursor").hex()
    assert accounts.secret("session").hex() == ask("session")
    stop()
    three = {accounts.secret(name) for name in ("cursor", "session", "pepper")}
    assert {len(each) for each in three} == {32}
    assert len(three) == 3


def test_a_secret_setting_makes_all_hosts_agree_and_is_not_kept(place, another_place):
    setting = secrets.token_urlsafe(32)
    hosts = [Accounts(one, setting) for one in (place, another_place)]
    assert hosts[0].secret("cursor") == hosts[1].secret("cursor") != hosts[0].secret("session")
    assert hosts[0].secret("cursor") == hkdf(setting.encode(), b"almanac", b"cursor")
    with hosts[0].opened() as db:
        assert db.execute("SELECT count(*) FROM secret").get == 0
    for host in hosts:
        host.close()


def test_keys_under_another_secret_are_a_loud_mistake(place):
    Accounts(place).close()
    opened = Accounts(place, "another-secret")  # nothing is lost yet: there is no key
    opened.create_account("ada@example.org", "free", PLANS, now=NOW)
    text, _ = opened.create_key("ada@example.org", now=NOW)
    opened.close()
    for wrong in (None, "a-third-secret"):
        with pytest.raises(AccountError, match="were made under another ALMANAC_SECRET") as caught:
            Accounts(place, wrong)
        assert "third" not in str(caught.value)
    with contextlib.closing(Accounts(place, "another-secret")) as right:
        assert right.verify(text, NOW)


def test_an_empty_secret_is_refused(place):
    with pytest.raises(AccountError, match="ALMANAC_SECRET must not be empty"):
        Accounts(place, "")


def test_only_the_owner_may_read_the_files(accounts, path):
    accounts.create_key("ada@example.org", now=NOW)
    assert {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == dict.fromkeys(
        ("accounts.db", "accounts.db-shm", "accounts.db-wal"), 0o600
    )


@pytest.mark.sqlite  # it is about files
def test_a_file_of_another_kind_or_version_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database, however long the text may be " * 50)
    with pytest.raises(AccountError, match=r"text\.db is not an accounts database"):
        Accounts(tmp_path / "text.db")
    Accounts(tmp_path / "newer.db").close()
    apsw.Connection(str(tmp_path / "newer.db")).pragma("user_version", 9)
    with pytest.raises(AccountError, match=r"newer\.db has schema 9 of a newer version of Almanac, this one knows 4"):
        Accounts(tmp_path / "newer.db")


def test_four_processes_may_make_the_database_at_once(place):
    code = f"""
import sys
{SPOKEN}
from almanac.store.accounts.accounts import Accounts
print("ready", flush=True)
sys.stdin.readline()
print(Accounts(spoken(sys.argv[1])).secret("cursor").hex())
"""
    command = [sys.executable, "-c", code, told(place)]
    said = told_by_four(command)
    assert len(set(said)) == 1
    assert len(said[0]) == 64


def test_a_database_that_is_long_in_not_answering_is_left_alone_as_long(place, monkeypatch):
    clock, tried = [100.0], []
    worker = Accounts(place, notice_seconds=0.5, monotonic=lambda: clock[0])
    worker.create_account("lost@example.org", "free", PLANS, now=NOW)
    key, _ = worker.create_key("lost@example.org", now=NOW)
    assert worker.verify(key, NOW) != UNKNOWN

    def lost():
        tried.append(clock[0])
        clock[0] += 3.0
        raise UnavailableError("nobody answers")

    notice = worker._notice
    monkeypatch.setattr(worker, "_notice", lost)
    clock[0] = 200.0
    for _ in range(3):
        with pytest.raises(UnavailableError):
            worker.verify(key, NOW)
    assert tried == [200.0]
    clock[0] = 206.0
    with pytest.raises(UnavailableError):
        worker.verify(key, NOW)
    assert tried == [200.0, 206.0]
    monkeypatch.setattr(worker, "_notice", notice)
    clock[0] = 212.0
    assert worker.verify(key, NOW) != UNKNOWN
    worker.close()
