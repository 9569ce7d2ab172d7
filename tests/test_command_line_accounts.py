"""`almanac accounts …` and `almanac keys …`: data on stdout, talk on stderr, exit 1 and nothing done on a mistake."""

import json
import re
import time

import apsw
import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication, SignedIn
from almanac.store.accounts.keytext import checksum
from almanac.store.accounts.records import SCOPES, UNKNOWN
from almanac.store.engine import schemas
from almanac.store.engine.errors import FullError
from almanac.store.engine.opening import Server
from tests.support import places

ADA = "ada@example.org"


pytest_generate_tests = places.on_each_engine
place = places.placed("deep/home/accounts.db")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "deep" / "home"


@pytest.fixture
def run(home, place):
    def call(*arguments, expect=0, given=None, **env):
        url = {"ALMANAC_DATABASE_URL": place.url} if isinstance(place, Server) else {}
        settings = {"ALMANAC_HOME": str(home), **url, **env}
        result = CliRunner(env=settings).invoke(main, list(arguments), input=given)
        assert result.exit_code == expect, result.output
        return result

    return call


@pytest.fixture
def ada(run):
    run("accounts", "create", ADA, "--plan", "free")


def verified(place, text):
    accounts = Accounts(place)
    try:
        return accounts.verify(text, int(time.time()))
    finally:
        accounts.close()


def test_an_account_is_made_in_a_home_of_its_own(run, home):
    result = run("accounts", "create", ADA, "--plan", "pro")
    (listed,) = json.loads(run("accounts", "list", "--json").stdout)
    assert result.stdout == listed["id"] + "\n"
    assert (listed["email"], listed["plan"]) == (ADA, "pro")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed["created"])
    assert result.stderr == f"{ADA} is on the pro plan. Make it a key: almanac keys create --account {ADA}\n"
    assert home.stat().st_mode & 0o777 == 0o700


GOLD = "unknown plan 'gold': allowed are free, pro, enterprise"
NOBODY = "no account has the address 'bob@example.org'"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["accounts", "create", "ADA@example.org", "--plan", "pro"], "the address ADA@example.org has an account already"),
        (["accounts", "create", "bob@example.org", "--plan", "gold"], GOLD),
        (["accounts", "plan", ADA, "--plan", "gold"], GOLD),
        (["accounts", "role", ADA, "--role", "king"], "unknown role 'king': allowed are user, operator"),
        (["accounts", "plan", "bob@example.org", "--plan", "pro"], NOBODY),
        (["accounts", "role", "bob@example.org", "--role", "user"], NOBODY),
        (["accounts", "disable", "bob@example.org"], NOBODY),
        (["accounts", "enable", "bob@example.org"], NOBODY),
        (["accounts", "delete", "bob@example.org", "--yes"], NOBODY),
        (["accounts", "password", "bob@example.org"], NOBODY),
        (["keys", "create", "--account", "bob@example.org"], NOBODY),
        (["keys", "create", "--account", ADA, "--scope", "all"], f"unknown scope 'all': allowed are {', '.join(SCOPES)}"),
        (["keys", "create", "--account", ADA, "--expires", "2001-01-01"], "the expiry of a key must lie in the future"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_exits_1_with_its_reason_and_changes_nothing(run, ada, words, message):
    result = run(*words, expect=1)
    assert (result.stdout, result.stderr) == ("", f"Error: {message}\n")
    (account,) = json.loads(run("accounts", "list", "--json").stdout)
    assert (account["email"], account["plan"], account["role"]) == (ADA, "free", "user")
    assert json.loads(run("keys", "list", "--json").stdout) == []


def test_a_start_of_several_keys_or_of_none_revokes_nothing(run, ada, monkeypatch):
    texts = iter([f"alm_{body}{checksum(body)}" for body in ("twin" + "a" * 30, "twin" + "b" * 30)])
    monkeypatch.setattr("almanac.store.accounts.accounts.new_key", lambda: next(texts))
    for _ in range(2):
        run("keys", "create", "--account", ADA)
    for which, reason in (("alm_twin", "2 keys start with"), ("alm_zzzzzzzz", "no key matches")):
        assert run("keys", "revoke", which, expect=1).stderr.startswith(f"Error: {reason} '{which}'")
    assert [key["revokedAt"] for key in json.loads(run("keys", "list", "--json").stdout)] == [None, None]


def test_a_key_as_json(run, ada, place):
    arguments = ["--scope", "macro:read", "--scope", "events:read", "--expires", "2999-12-31T00:00:00+01:00"]
    made = json.loads(run("keys", "create", "--account", ADA, *arguments, "--json").stdout)
    assert list(made) == ["id", "key", "prefix", "scopes", "expiresAt"]
    assert made["scopes"] == ["macro:read", "events:read"]
    assert made["expiresAt"] == "2999-12-30T23:00:00Z"
    assert made["prefix"] == made["key"][:12]
    record = verified(place, made["key"])
    assert (record.id, record.scopes, record.plan) == (made["id"], ("macro:read", "events:read"), "free")


def test_a_key_alone_is_all_of_stdout(run, ada, place):
    result = run("keys", "create", "--account", ADA)
    assert re.fullmatch(r"alm_[0-9A-Za-z]{40}\n", result.stdout)
    assert verified(place, result.stdout.strip()).scopes == ("data:read",)
    assert result.stdout.strip() not in result.stderr
    assert "shown this once" in result.stderr


def test_a_bare_date_expires_at_its_end(run, ada):
    assert json.loads(run("keys", "create", "--account", ADA, "--json").stdout)["expiresAt"] is None
    made = json.loads(run("keys", "create", "--account", ADA, "--expires", "2999-12-31", "--json").stdout)
    assert made["expiresAt"] == "2999-12-31T23:59:59Z"


@pytest.mark.parametrize("text", ["", "tomorrow", "2999-13-01", "2999-12-31T00:00:00", "0001-01-01T00:00:00+14:00"])
def test_an_expiry_that_is_no_time_is_a_usage_error(run, ada, text):
    result = run("keys", "create", "--account", ADA, "--expires", text, expect=2)
    assert "Invalid value for '--expires': must be a date like 2027-06-30 or a time with a zone" in result.stderr


def test_keys_are_listed_without_their_text(run, ada):
    run("accounts", "create", "bob@example.org", "--plan", "pro")
    text = run("keys", "create", "--account", ADA, "--name", "laptop").stdout.strip()
    run("keys", "create", "--account", "bob@example.org")
    result = run("keys", "list", "--account", ADA)
    head, line = result.stdout.splitlines()
    assert head.split() == ["prefix", "account", "name", "scopes", "lastUsedAt", "expiresAt", "revokedAt"]
    assert line.split() == [text[:12], ADA, "laptop", "data:read", "-", "-", "-"]
    assert text not in result.stdout
    assert [each["account"] for each in json.loads(run("keys", "list", "--json").stdout)] == [ADA, "bob@example.org"]


@pytest.mark.parametrize("way", ["key", "prefix", "id"])
def test_a_key_is_revoked(run, ada, place, way):
    made = json.loads(run("keys", "create", "--account", ADA, "--json").stdout)
    result = run("keys", "revoke", made[way])
    assert result.stdout == made["id"] + "\n"
    assert made["key"] not in result.output
    assert verified(place, made["key"]) is UNKNOWN
    assert json.loads(run("keys", "list", "--json").stdout)[0]["revokedAt"] is not None


# What an operator does to accounts


def listed(run):
    return {each["email"]: each for each in json.loads(run("accounts", "list", "--json").stdout)}


def test_an_account_is_made_and_printed_as_json(run):
    made = json.loads(run("accounts", "create", ADA, "--plan", "pro", "--operator", "--json").stdout)
    assert list(made) == ["id", "email", "plan", "role", "created", "disabledAt", "signedInAt"]
    assert (made["email"], made["plan"], made["role"], made["disabledAt"]) == (ADA, "pro", "operator", None)
    assert listed(run)[ADA] == made


def test_an_account_gets_another_plan_and_another_role(run, ada, place):
    text = run("keys", "create", "--account", ADA).stdout.strip()
    result = run("accounts", "plan", ADA, "--plan", "pro")
    assert result.stderr == f"{ADA} is on the pro plan.\n"
    assert verified(place, text).plan == "pro"
    assert json.loads(run("accounts", "plan", ADA, "--plan", "free", "--json").stdout)["plan"] == "free"
    run("accounts", "plan", ADA, "--plan", "gold", ALMANAC_PLANS__GOLD__REQUESTS_PER_MINUTE="7")
    assert json.loads(run("accounts", "role", ADA, "--role", "operator", "--json").stdout)["role"] == "operator"


def test_an_account_is_disabled_and_enabled(run, ada, place):
    text = run("keys", "create", "--account", ADA).stdout.strip()
    assert json.loads(run("accounts", "disable", ADA, "--json").stdout)["disabledAt"] is not None
    assert verified(place, text).disabled
    run("accounts", "enable", ADA)
    assert not verified(place, text).disabled
    assert listed(run)[ADA]["disabledAt"] is None


def test_deleting_needs_a_word(run, ada, place):
    text = run("keys", "create", "--account", ADA).stdout.strip()
    refused = run("accounts", "delete", ADA, expect=2)
    assert f"deleting {ADA} with its 1 keys cannot be undone: say --yes" in refused.stderr
    assert verified(place, text)
    gone = json.loads(run("accounts", "delete", ADA, "--yes", "--json").stdout)
    assert (gone["email"], gone["keys"]) == (ADA, 1)
    assert verified(place, text) is UNKNOWN
    assert listed(run) == {}


def test_a_key_is_rotated(run, ada, place):
    made = json.loads(run("keys", "create", "--account", ADA, "--name", "laptop", "--json").stdout)
    rotated = json.loads(run("keys", "rotate", made["prefix"], "--grace", "24h", "--json").stdout)
    assert list(rotated) == ["id", "key", "prefix", "scopes", "expiresAt", "replaces", "replacesUntil"]
    assert rotated["replaces"] == made["prefix"]
    assert verified(place, made["key"]).id == made["id"]
    assert verified(place, rotated["key"]).id == rotated["id"]
    old, new = json.loads(run("keys", "list", "--json").stdout)
    assert (old["replacedBy"], old["expiresAt"], new["name"]) == (new["id"], rotated["replacesUntil"], "laptop")
    third = run("keys", "rotate", rotated["key"], "--grace", "0").stdout.strip()
    assert verified(place, rotated["key"]) is UNKNOWN
    assert verified(place, third)


@pytest.mark.parametrize("grace", ["", "24", "1w", "-1h", "1.5h", "366d", "٣h"])
def test_a_grace_that_is_none_is_a_usage_error(run, ada, grace):
    made = json.loads(run("keys", "create", "--account", ADA, "--json").stdout)
    result = run("keys", "rotate", made["prefix"], "--grace", grace, expect=2)
    assert "must be 0, or a number with s, m, h or d" in result.stderr
    assert len(json.loads(run("keys", "list", "--json").stdout)) == 1


def test_a_password_comes_by_standard_input_and_is_shown_nowhere(run, place):
    secret = "correct horse battery"
    said = run("accounts", "create", ADA, "--plan", "free", "--password-stdin", given=secret + "\n")
    assert secret not in said.output
    assert signed_in(place, secret)
    run("accounts", "password", ADA, "--password-stdin", given="another long password\n")
    assert not signed_in(place, secret)
    assert signed_in(place, "another long password")
    short = run("accounts", "password", ADA, "--password-stdin", given="short\n", expect=1)
    assert short.stderr == "Error: a password has at least 12 characters\n"
    assert run("accounts", "create", "b@c", "--plan", "free", "--password-stdin", given="short\n", expect=1)
    assert list(listed(run)) == [ADA]  # nothing is half made


def signed_in(place, password):
    accounts = Accounts(place)
    try:
        outcome = Authentication(accounts).sign_in(ADA, password, address="192.0.2.1", agent="", now=int(time.time()))
    finally:
        accounts.close()
    return isinstance(outcome, SignedIn)


def test_links_lead_to_the_dashboard(run, place):
    made = run("accounts", "create", ADA, "--plan", "free", "--link", ALMANAC_DASHBOARD_URL="https://data.example.org")
    assert re.fullmatch(r"acc_\w+\nhttps://data\.example\.org/reset/[\w-]{43}\n", made.stdout)
    reset = json.loads(run("accounts", "password", ADA, "--json").stdout)["link"]
    invited = run("accounts", "invite", "bob@example.org", ALMANAC_HOST="::1", ALMANAC_DASHBOARD_PORT="8011").stdout
    assert re.fullmatch(r"http://\[::1\]:8011/signup/[\w-]{43}\n", invited)
    accounts = Accounts(place)
    people, at = Authentication(accounts), int(time.time())
    assert people.resets.find(reset.rpartition("/")[2], now=at).email == ADA
    assert people.resets.find(made.stdout.strip().rpartition("/")[2], now=at) is None  # the newer one ended it
    assert people.invitations.find(invited.strip().rpartition("/")[2], now=at).plan == "free"
    accounts.close()
    assert "has an account already" in run("accounts", "invite", ADA, expect=1).stderr


def test_what_was_done_is_listed(run, ada):
    run("accounts", "plan", ADA, "--plan", "pro")
    run("accounts", "delete", ADA, "--yes")
    deeds = json.loads(run("accounts", "deeds", "--json").stdout)
    assert [(deed["who"], deed["what"], deed["subject"], deed["detail"]) for deed in deeds] == [
        ("command line", "delete", ADA, "0 keys"),
        ("command line", "plan", ADA, "free to pro"),
        ("command line", "create", ADA, "free, user"),
    ]


def test_a_bad_setting_is_one_line(run):
    result = run("accounts", "list", expect=1, ALMANAC_PORT="many")
    assert result.stderr.startswith("Error: ALMANAC_PORT: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_home_that_is_a_file_is_one_line(run, home):
    home.parent.mkdir()
    home.write_text("not a folder")
    result = run("accounts", "list", expect=1)
    assert result.stderr.startswith("Error: ")
    assert str(home) in result.stderr


@pytest.mark.parametrize("words", [("accounts", "create", ADA, "--plan", "free"), ("accounts", "list")])
def test_a_full_disk_is_told_with_the_place_and_what_to_do(run, home, place, monkeypatch, words):
    """The engine's own words are neither."""

    def full(*_, **__):
        raise FullError("database or disk is full")

    monkeypatch.setattr(Accounts, words[1].replace("create", "create_account").replace("list", "list_accounts"), full)
    error = run(*words, expect=1).stderr
    assert ("127.0.0.1" if isinstance(place, Server) else f"the disk is full ({home}/accounts.db: ") in error
    assert error.endswith("make room and run the command again; nothing is half-written\n")


def test_accounts_that_cannot_be_opened_for_want_of_room_are_told_alike(run, home, place, monkeypatch):
    if isinstance(place, Server):
        return  # it opens them on its own disk

    def full(*_):
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(schemas.AuxiliarySchema, "upgrade", full)
    assert f"the disk is full ({home}/accounts.db: " in run("accounts", "list", expect=1).stderr
