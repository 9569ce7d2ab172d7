"""Envelopes, pages and cursors."""

import base64

import pytest

from almanac.api.contract.cursor import Cursor, Signer, fingerprint

WEEK = 7 * 86_400


def page(frame, query="", key=None):
    answer = frame.get(f"/observations?{query}", key or frame.PRO)
    assert answer.status_code == 200, answer.text
    return answer.json()


def first_cursor(frame, query="limit=10"):
    return page(frame, query)["meta"]["pagination"]["next_cursor"]


def test_cursor_pins_version_and_moment(frame):
    """The first page fixes the data version and T = now, all further pages answer from them."""
    cursor = first_cursor(frame, "limit=10&as_of=2026-11-20")
    pinned = frame.now
    frame.view.version, frame.now = 9, frame.now + 2 * 86_400
    answer = frame.get(f"/observations?limit=10&as_of=2026-11-20&cursor={cursor}")
    context = frame.seen[-1]
    assert (context.version, context.at, context.now) == (7, pinned, pinned + 2 * 86_400)
    assert context.as_of == context.params["as_of"] == pinned
    assert context.after == [9]
    assert answer.headers["x-data-version"] == "7"
    frame.get(f"/observations?limit=10&as_of=2026-11-20&cursor={answer.json()['meta']['pagination']['next_cursor']}")
    assert (frame.seen[-1].version, frame.seen[-1].at) == (7, pinned)


def test_window_is_not_pinned(frame):
    """Rights, plan and revocation are never pinned."""
    cursor = page(frame, "limit=10", frame.FREE)["meta"]["pagination"]["next_cursor"]
    frame.now += 31 * 86_400
    page(frame, f"cursor={cursor}", frame.FREE)
    assert frame.seen[-1].window_start.isoformat() == "2024-12-21"


@pytest.mark.parametrize(
    "other",
    [
        "/observations?country=usa",
        "/observations?order=desc",
        "/observations?sort=period_end",
        "/observations?as_of=2026-11-01",
        "/events?order=asc",
    ],
)
def test_cursor_of_another_query(frame, other):
    """Cursors are bound to endpoint, filters, sort, order."""
    error = frame.error(f"{other}&cursor={first_cursor(frame)}", 400)
    assert error["message"].startswith("'cursor' belongs to another query")
    assert error["details"] == {"parameter": "cursor", "reason": "other_query"}


def test_fingerprint_is_of_typed_values():
    """The same query spelt otherwise is the same query; `limit` and `cursor` take no part."""
    one = fingerprint("/a/{x}", {"x": "CPI"}, {"limit": 1, "cursor": None, "country": "a"})
    assert one == fingerprint("/a/{x}", {"x": "cpi"}, {"country": "a", "limit": 9, "cursor": "z"})
    assert one != fingerprint("/a/{x}", {"x": "gdp"}, {"country": "a"})
    assert one != fingerprint("/b/{x}", {"x": "cpi"}, {"country": "a"})
    assert fingerprint("/a", {}, {"a": "b,c"}) != fingerprint("/a", {}, {"a": ("b", "c")})


def test_forged_cursors(frame):
    """A cursor that is forged → 400: any changed, missing or added character."""
    cursor = first_cursor(frame)
    swapped = [cursor[:i] + ("A" if c != "A" else "B") + cursor[i + 1 :] for i, c in enumerate(cursor)]
    for text in (*swapped, cursor[:-1], cursor + "A", cursor + "=", "A", "é", "!!!!", "A" * 4096, cursor[:20]):
        error = frame.error(f"/observations?limit=10&cursor={text}", 400)
        assert error["details"] == {"parameter": "cursor", "reason": "forged"}, text
    error = frame.error(f"/observations?limit=10&cursor={'A' * 5000}", 400)
    assert (error["details"]["parameter"], error["details"]["reason"]) == ("cursor", "range")


def test_cursor_has_one_spelling():
    """Stray low bits that base64 would ignore make a cursor forged, and so does another secret."""
    signer = Signer(b"s" * 32, 7)
    for key in ([1], [1, "ab"], [1, "abc"]):
        text = signer.write(Cursor(0, "e", 1, 0, b"q", None), key)
        assert signer.read(text, b"q", "e", 1, 0).key == key
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        twins = [text[:-1] + c for c in alphabet if c != text[-1]]
        same = [t for t in twins if base64.urlsafe_b64decode(t + "=" * (-len(t) % 4)) == raw]
        assert bool(same) is (len(text) % 4 != 0)
        for twin in same:
            with pytest.raises(Exception, match="was not issued"):
                signer.read(twin, b"q", "e", 1, 0)
        with pytest.raises(Exception, match="was not issued"):
            Signer(b"t" * 32, 7).read(text, b"q", "e", 1, 0)


def test_cursors_expire(frame):
    """They expire after 7 days (setting), counted in real time from the first page."""
    cursor = first_cursor(frame)
    frame.real += WEEK
    second = page(frame, f"limit=10&cursor={cursor}")["meta"]["pagination"]["next_cursor"]
    frame.real += 1
    for text in (cursor, second):
        error = frame.error(f"/observations?limit=10&cursor={text}", 400)
        assert error["message"].startswith("'cursor' has expired")
        assert error["details"] == {"parameter": "cursor", "reason": "expired"}


@pytest.mark.parametrize(("version", "epoch"), [(7, "e2"), (6, "e1")])
def test_cursor_from_other_data(frame, version, epoch):
    """A cursor from before a rebuild, or of a version the store does not have, has expired."""
    cursor = first_cursor(frame)
    frame.view.version, frame.view.epoch = version, epoch
    assert frame.error(f"/observations?limit=10&cursor={cursor}", 400)["details"]["reason"] == "expired"
