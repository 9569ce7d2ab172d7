"""Envelopes, pages and cursors."""

import base64

import pytest

from almanac.api.contract.cursor import Cursor, Signer, fingerprint
from almanac.api.contract.endpoint import ListAnswer
from almanac.api.server.envelope import list_body

WEEK = 7 * 86_400


def page(frame, query="", key=None):
    answer = frame.get(f"/observations?{query}", key or frame.PRO)
    assert answer.status_code == 200, answer.text
    return answer.json()


def first_cursor(frame, query="limit=10"):
    return page(frame, query)["meta"]["pagination"]["next_cursor"]


def test_list_envelope(frame):
    """List: data, meta{request_id, requestId, api_version, pagination{limit, cursor, next_cursor, has_more}}, requestId."""
    answer = frame.get("/observations?limit=2")
    body = answer.json()
    request_id = answer.headers["x-request-id"]
    following = body["meta"]["pagination"].pop("next_cursor")
    assert body == {
        "data": [
            {"id": "r0", "periodEnd": "2026-10-31", "valueNumeric": 0},
            {"id": "r1", "periodEnd": "2026-10-31", "valueNumeric": 1},
        ],
        "meta": {
            "request_id": request_id,
            "requestId": request_id,
            "api_version": "v1",
            "pagination": {"limit": 2, "cursor": None, "has_more": True},
        },
        "requestId": request_id,
    }
    assert isinstance(following, str)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.content))
    assert b" " not in answer.content.replace(b": ", b"").replace(b", ", b"")


def test_item_envelope(frame):
    """Item: the same `meta` without `pagination`."""
    answer = frame.get("/indicators/cpi")
    request_id = answer.headers["x-request-id"]
    assert answer.json() == {
        "data": {"id": "r1", "periodEnd": "2026-10-31", "valueNumeric": 1.5},
        "meta": {"request_id": request_id, "requestId": request_id, "api_version": "v1"},
        "requestId": request_id,
    }


def test_empty_page(frame):
    """An empty page has `has_more` false and `next_cursor` null; a total is stated where declared."""
    assert frame.get("/screener?filter=a:gt:1").json()["meta"]["pagination"] == {
        "limit": 100,
        "cursor": None,
        "next_cursor": None,
        "has_more": False,
        "total": 0,
    }
    assert "total" not in page(frame)["meta"]["pagination"]


def test_text_answer(frame):
    """`/llms.txt` is text/plain, the one answer that is not JSON, whatever Accept says."""
    for accept in ("*/*", "application/json", "image/png"):
        answer = frame.get("/llms.txt", accept=accept)
        assert answer.text == "Almanac\n"
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("accept", [None, "*/*", "text/csv", "nonsense", "application/xml;q=1"])
def test_accept_is_never_refused(frame, accept):
    """Accept absent, `*/*` or unknown → JSON, never 406."""
    answer = frame.get("/coverage", **({"accept": accept} if accept else {}))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_join_to_the_whole(frame, order):
    """The opaque next_cursor is passed back as cursor; page size may change between pages; rows come once each."""
    seen, cursor, sizes = [], "", iter([3, 10, 1, 500])
    while cursor is not None:
        body = page(frame, f"limit={next(sizes)}&order={order}" + (f"&cursor={cursor}" if cursor else ""))
        told = body["meta"]["pagination"]
        assert told["cursor"] == (cursor or None)
        seen += [row["valueNumeric"] for row in body["data"]]
        cursor = told["next_cursor"]
        assert told["has_more"] is (cursor is not None)
    assert seen == sorted(range(25), reverse=order == "desc")


def test_default_order_of_an_endpoint(frame):
    """Events: newest first (`order` defaults to desc)."""
    assert frame.get("/events?limit=1").json()["data"][0]["id"] == "r24"


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
        text = signer.write(Cursor(0, "e", 1, 0, b"q", key))
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


def test_list_body_bytes():
    """The envelope is one join: no space, no escape, exactly these bytes."""
    body = list_body(ListAnswer([b"1"], [1], 5), b"1", b"req_X", limit=1, cursor="a-b", following="c_d")
    assert body == (
        b'{"data":[1],"meta":{"request_id":"req_X","requestId":"req_X","api_version":"v1","pagination":'
        b'{"limit":1,"cursor":"a-b","next_cursor":"c_d","has_more":true,"total":5}},"requestId":"req_X"}'
    )
