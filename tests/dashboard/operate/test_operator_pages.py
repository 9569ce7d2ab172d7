"""Operators' pages: for operators alone, nothing rendered that came from elsewhere, each deed noted, no key of others."""

import re
from typing import Any

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.operate import accounts, feeds
from almanac.store.accounts.administration import AuditLog
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.links import Invitations
from almanac.store.log import payloads
from almanac.store.usage.counts import CountedUse, UsageFile
from tests.support.browser import Browser
from tests.support.page_visitor import NOW, dashboard, signed_in
from tests.support.service import Service

PAGES = (*feeds.PAGES, *accounts.PAGES)
EVIL = b"<script>alert(1)</script><b>424242.42</b>"


@pytest.fixture(scope="module")
def app(service: Service) -> Dashboard:
    return dashboard(service)


def address(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: {"deed": "plan", "number": "1"}.get(name[1], "acc_1"), path)


def account_id(service: Service, email: str) -> str:
    return service.accounts.account(email).id


def quarantine(service: Service, source: str, body: bytes, reason: str = "an <i>invented</i> reason") -> int:
    """A payload that could not be read; its number."""
    with service.world() as world:
        capture = world.raw.keep(
            source, f"https://publisher.example/{len(body)}", body, "text/html", 1_700_000_000, 1_700_000_000
        )
        with world.batch("test") as batch:
            batch.touch()
            return payloads.put(world.db, capture, "run1", payloads.QUARANTINED, reason).number


def test_health_is_the_interfaces(app: Dashboard, service: Service) -> None:
    text = signed_in(app, "op").get("/operate/sources").text
    for row in service.ok("/sources", limit=500):
        start = text.index(f'href="/sources/{row["id"]}"')
        assert row["health"].replace("_", " ") in text[start : text.index("</tr>", start)]


def test_runs_are_those_of_the_log(app: Dashboard, service: Service) -> None:
    with service.reader.view() as view:
        told = [(one.run, one.outcome) for one in payloads.runs(view, 100)]
    text = signed_in(app, "op").get("/operate/runs").text
    assert told
    for run, outcome in told:
        assert run in text
        assert outcome is not None
        assert outcome in text
    one = signed_in(app, "op").get("/operate/runs", source="fred").text
    assert "us-treasury-par</a>" not in one


def test_a_payload_is_text_and_never_markup(own: Service) -> None:
    number = quarantine(own, "us-treasury-par", EVIL)
    browser = signed_in(dashboard(own), "op")
    listed = browser.get("/operate/quarantine").text
    assert "an &lt;i&gt;invented&lt;/i&gt; reason" in listed
    assert f"/operate/quarantine/{number}" in listed
    text = browser.get(f"/operate/quarantine/{number}").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert" not in text
    assert "almanac ingest us-treasury-par" in text


def test_only_the_head_of_a_payload_is_shown(own: Service) -> None:
    number = quarantine(own, "us-treasury-par", b"a" * 2047 + "é".encode() + b"zqzq" * 5000)
    text = signed_in(dashboard(own), "op").get(f"/operate/quarantine/{number}").text
    assert "a" * 2047 in text
    assert "zqzq" not in text
    assert "2,048 of 22,049 bytes" in text


def test_what_is_no_text_is_hexadecimal(own: Service) -> None:
    number = quarantine(own, "us-treasury-par", b"PK\x03\x04\x00\xff")
    text = signed_in(dashboard(own), "op").get(f"/operate/quarantine/{number}").text
    assert "0000  50 4b 03 04 00 ff" in text


def test_a_damaged_payload_is_told(own: Service) -> None:
    number = quarantine(own, "us-treasury-par", b"gone")
    for path in own.settings.raw_path.joinpath("objects").rglob("*.zst"):
        path.write_bytes(b"rot")
    text = signed_in(dashboard(own), "op").get(f"/operate/quarantine/{number}").text
    assert "cannot be decompressed" in text


def test_a_raw_store_that_cannot_be_read_is_no_fault_of_ours(own: Service) -> None:
    number = quarantine(own, "us-treasury-par", b"out of reach")
    objects = own.settings.raw_path / "objects"
    objects.rename(objects.with_name("away"))
    objects.write_bytes(b"no folder")
    answer = signed_in(dashboard(own), "op").get(f"/operate/quarantine/{number}")
    assert answer.status_code == 503
    assert "The raw store cannot be read just now" in answer.text


def test_payloads_that_were_read_are_not_shown(app: Dashboard) -> None:
    browser = signed_in(app, "op")
    for number in ("1", "99999", "x", "1" * 40):
        assert browser.get(f"/operate/quarantine/{number}").status_code == 404


def test_keys_of_others_are_counted_only(app: Dashboard, service: Service) -> None:
    text = signed_in(app, "op").get("/operate/accounts").text
    for key in service.accounts.list_keys():
        assert key.prefix not in text
        assert key.id not in text
    row = text[text.index("pro@example.org") :]
    assert 'data-label="Live keys">7<' in row[: row.index("</tr>")]


def test_what_accounts_used_stands_beside_them(own: Service) -> None:
    file = UsageFile(own.settings.home / "usage.db")
    free = account_id(own, "free@example.org")
    for days, requests in ((0, 41_000), (29, 200), (30, 7)):
        file.add([CountedUse(NOW // 86_400 - days, free, "alm_x", "/coverage", 200, requests, 5)])
    file.close()
    text = signed_in(dashboard(own), "op").get("/operate/accounts").text
    row = next(line for line in text.split("<tr")[1:] if "free@example.org" in line)
    assert 'data-label="Requests, 30 days">41,200<' in row


def deed(browser: Browser, service: Service, name: str, fields: dict[str, str] | None = None) -> Any:
    """Open the page of a deed to the free account, and send its form."""
    where = f"/operate/accounts/{account_id(service, 'free@example.org')}/{name}"
    assert browser.get(where).status_code == 200
    return browser.post(where, fields)


def test_deeds_are_done_and_noted(own: Service) -> None:
    browser = signed_in(dashboard(own), "op")
    email = "free@example.org"
    assert deed(browser, own, "plan", {"plan": "pro"}).status_code == 303
    assert own.accounts.account(email).plan == "pro"
    assert deed(browser, own, "disable").headers["location"] == "/operate/accounts?done=disable"
    assert own.accounts.account(email).disabled == NOW
    assert deed(browser, own, "enable").status_code == 303
    assert own.accounts.account(email).disabled is None
    lines = [(one.who, one.what, one.subject, one.detail) for one in AuditLog(own.accounts).latest()]
    assert lines == [
        ("op@example.org", "enable", email, ""), ("op@example.org", "disable", email, ""),
        ("op@example.org", "plan", email, "free to pro"),
    ]  # fmt: skip
    foot = browser.get("/operate/accounts").text.partition('id="deeds"')[2]
    assert foot.count("op@example.org") == 3
    assert "free to pro" in foot


def test_nobody_suspends_themselves(own: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    from tests.support import page_visitor

    made = own.accounts.create_account("op@example.org", "pro", own.settings.plans, now=NOW, role="operator")
    me = msgspec.structs.replace(page_visitor.PEOPLE["op"], account=made.id)
    monkeypatch.setitem(page_visitor.PEOPLE, "op", me)
    browser = signed_in(dashboard(own), "op")
    browser.get(f"/operate/accounts/{made.id}/disable")
    assert browser.post(f"/operate/accounts/{made.id}/disable").status_code == 403
    assert own.accounts.account("op@example.org").disabled is None


def test_a_reset_link_is_shown_once_and_works(own: Service) -> None:
    browser = signed_in(dashboard(own), "op")
    answer = deed(browser, own, "reset")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    token = re.search(r"/reset/([\w-]+)", answer.text)
    assert token is not None
    found = Authentication(own.accounts).resets.find(token[1], now=NOW)
    assert found is not None
    assert found.email == "free@example.org"
    assert token[1] not in browser.get("/operate/accounts").text


def test_an_invitation_is_made_and_withdrawn(own: Service) -> None:
    browser = signed_in(dashboard(own), "op")
    browser.get("/operate/invitations")
    answer = browser.post("/operate/invitations", {"email": "new@example.org", "plan": "free", "role": "user"})
    token = re.search(r"/signup/([\w-]{20,})", answer.text)
    assert token is not None
    stranger = Browser(browser.app)
    assert "For new@example.org." in stranger.get(token[0]).text
    found = Invitations(own.accounts).find(token[1], now=NOW)
    assert found is not None
    assert (found.email, found.plan, found.role, found.made_by) == ("new@example.org", "free", "user", "op@example.org")
    browser.get(f"/operate/invitations/{found.id}/withdraw")
    assert browser.post(f"/operate/invitations/{found.id}/withdraw").status_code == 303
    assert Invitations(own.accounts).find(token[1], now=NOW) is None
    assert [one.what for one in AuditLog(own.accounts).latest()] == ["withdraw", "invite"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"email": "no address", "plan": "free", "role": "user"}, "email"),
        ({"email": "pro@example.org", "plan": "free", "role": "user"}, "email"),
        ({"email": "new@example.org", "plan": "gold", "role": "user"}, "plan"),
        ({"email": "new@example.org", "plan": "free", "role": "king"}, "role"),
    ],
)
def test_a_refused_invitation_names_its_field(own: Service, fields: dict[str, str], field: str) -> None:
    browser = signed_in(dashboard(own), "op")
    browser.get("/operate/invitations")
    answer = browser.post("/operate/invitations", fields)
    assert answer.status_code == 400
    assert f'href="#field-{field}"' in answer.text
    assert fields["email"] in answer.text
    assert AuditLog(own.accounts).latest() == []
