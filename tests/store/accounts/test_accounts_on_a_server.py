"""What only a server brings: it is made by several at once, it goes and comes back, and it has the data beside."""

import contextlib
import re
import threading
from pathlib import Path

import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.file import SCHEMA
from almanac.store.accounts.records import UNKNOWN, AccountError
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, statements, tables_of
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.opening import Server
from almanac.store.usage import counts
from almanac.store.usage.counts import UsageFile
from tests.support import postgres
from tests.support.invented_accounts import ADA, NOW, PLANS
from tests.support.places import end_connections, place_for
from tests.support.servers import free_port

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


@pytest.fixture
def server():
    with place_for("postgres", Path()) as found:
        yield found


@pytest.fixture
def hosts(server):
    """The accounts as two hosts have them open."""
    with contextlib.closing(Accounts(server)) as one, contextlib.closing(Accounts(server)) as other:
        one.create_account(ADA, "free", PLANS, now=NOW)
        yield one, other


def test_no_table_of_one_area_has_the_name_of_another():
    data = [name for part in statements() for name in tables_of(part)]
    every = [*data, *SCHEMA.tables, *counts.SCHEMA.tables, "change_token"]
    assert "vintages" in data
    assert len(every) == len(set(every))


def test_data_accounts_and_counts_are_made_at_once_by_many(server):
    start, made, secrets = threading.Barrier(6), [], []

    def work(open_it, look):
        start.wait()
        with contextlib.closing(open_it(server)) as opened:
            look(opened)
            made.append(1)

    ways = [
        (opening.create, lambda db: meta(db, "version")),
        (Accounts, lambda accounts: secrets.append(accounts.secret("cursor"))),
        (UsageFile, lambda file: file.add([])),
    ]
    threads = [threading.Thread(target=work, args=way) for way in ways * 2]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(made) == 6
    assert len(secrets) == 2
    assert secrets[0] == secrets[1]


def test_a_server_that_began_anew_is_asked_again_and_nobody_notices(hosts):
    one, other = hosts
    text, info = one.create_key(ADA, now=NOW)
    assert other.verify(text, NOW)
    assert end_connections(one._at) == 2
    assert other.verify(text, NOW).plan == "free"
    one.revoke(info.id, now=NOW)
    assert other.verify(text, NOW) is UNKNOWN
    end_connections(one._at)
    assert one.flush() == 0
    assert [key.id for key in one.list_keys()] == [info.id]


def test_a_connection_lost_within_a_deed_leaves_nothing_of_it(hosts):
    one, other = hosts
    with pytest.raises(UnavailableError), one.changing():
        one.create_key(ADA, now=NOW)
        end_connections(one._at)
        one.create_key(ADA, now=NOW)
    assert other.list_keys() == one.list_keys() == []
    text, _ = one.create_key(ADA, now=NOW)
    assert other.verify(text, NOW)


def test_a_server_that_is_gone_is_told_without_its_password(server):
    gone = Server(f"postgresql://almanac:hush@127.0.0.1:{free_port()}/almanac")
    with pytest.raises(UnavailableError) as caught:
        Accounts(gone)
    assert "hush" not in str(caught.value)
    assert "hush" not in f"{gone} {gone!r}"


def test_tables_that_were_taken_away_refuse_until_they_are_made_again(hosts, server):
    one, other = hosts
    text, _ = one.create_key(ADA, now=NOW)
    assert other.verify(text, NOW)
    (before,) = one.list_keys()
    name = re.search(r"search_path%3D(\w+)", server.url)[1]
    postgres.drop(name)
    for _ in range(2):
        with pytest.raises(UnavailableError):
            other.verify(text, NOW)
    postgres.schema(name)
    with contextlib.closing(Accounts(server)) as made:
        assert other.verify(text, NOW) is UNKNOWN  # it is another database: nothing of the old one is remembered
        made.create_account(ADA, "pro", PLANS, now=NOW)
        fresh, _ = made.create_key(ADA, now=NOW)
        assert other.verify(fresh, NOW).plan == "pro"
        assert [key.id for key in other.list_keys()] != [before.id]


def test_accounts_of_a_newer_version_say_so(hosts, server):
    with hosts[0].opened() as db:
        db.execute("UPDATE change_token SET schema_number = 9 WHERE area = 'accounts'")
    with pytest.raises(AccountError, match="has schema 9 of a newer version of Almanac, this one knows 4"):
        Accounts(server)


def test_accounts_of_an_earlier_schema_are_brought_to_this_one(server):
    with contextlib.closing(opening.open_auxiliary(server, schema=SCHEMA._replace(steps=SCHEMA.steps[:1]))) as old:
        old.execute(
            "INSERT INTO account(n, id, email, email_key, plan, created) VALUES(1, 'a', ?1, ?1, 'pro', 1)", (ADA,)
        )
    with contextlib.closing(Accounts(server)) as accounts:
        (ada,) = accounts.list_accounts()
        assert (ada.id, ada.email, ada.role, ada.disabled) == ("a", ADA, "user", None)
        text, _ = accounts.create_key(ADA, now=NOW)
        accounts.disable(ADA, now=NOW)
        assert accounts.verify(text, NOW).disabled


def test_a_commit_is_on_disk_also_where_the_server_is_set_to_answer_before(server):
    hasty = Server(server.url.replace("options=", "options=-csynchronous_commit%3Doff%20"))
    asked = "SELECT current_setting('synchronous_commit')"
    with contextlib.closing(Accounts(hasty)) as accounts:
        with accounts.opened() as db:
            assert db.execute(asked).get == "off"
        with accounts.changing() as db:
            assert db.execute(asked).get == "on"
    with contextlib.closing(UsageFile(hasty)) as file, file.opened() as db, db.transaction():
        assert db.execute(asked).get == "off"
