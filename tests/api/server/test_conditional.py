"""ETag, conditional requests, HEAD, content coding, cache headers."""

import gzip

import pytest
import zstandard

from almanac.api.server.envelope import choose_coding

DAY = 86_400
LONG = "/observations?limit=25"


def test_etag_is_of_the_data(frame):
    """Equal from second to second, for other pages another one, none on an error; a 304 tells the plan's window too."""
    urls = ["/coverage", "/observations?limit=3", "/observations?limit=4", LONG, "/observations?limit=26"]
    cursor = frame.get(urls[1]).json()["meta"]["pagination"]["next_cursor"]
    urls.append(f"{urls[1]}&cursor={cursor}")
    etags = [frame.get(url).headers["etag"] for url in urls]
    assert len(set(etags)) == len(urls)
    frame.real, frame.now = frame.real + 5, frame.now + 5
    assert [frame.get(url).headers["etag"] for url in urls] == etags
    kept = frame.get(LONG, frame.FREE, if_none_match=frame.get(LONG, frame.FREE).headers["etag"])
    assert (kept.status_code, kept.headers["x-history-from"]) == (304, "2024-11-20")
    missing = frame.get("/indicators/none", if_none_match="*")
    assert (missing.status_code, "etag" in missing.headers) == (404, False)


def test_cached_page_does_not_outlive_its_cursor(frame):
    """A page with a next cursor is confirmed on the day of its issue only, one without on any day."""
    paged, whole = frame.get("/observations?limit=3").headers["etag"], frame.get(LONG).headers["etag"]
    frame.real += DAY
    assert frame.get("/observations?limit=3", if_none_match=paged).status_code == 200
    assert frame.get(LONG, if_none_match=whole).status_code == 304


@pytest.mark.parametrize("url", [LONG, "/heavy"])
def test_codings(frame, url):
    """zstd and gzip by Accept-Encoding; the ETag is equal for all encodings."""
    plain = frame.get(url)
    assert "content-encoding" not in plain.headers
    etags = {plain.headers["etag"]}
    for coding, decoder in (("gzip", gzip.decompress), ("zstd", zstandard.decompress)):
        sent = raw(frame, url, coding)
        assert sent.headers[b"content-encoding"] == coding.encode()
        assert len(sent.body) == int(sent.headers[b"content-length"]) < len(plain.content)
        assert decoder(sent.body).startswith(plain.content[:100])
        etags.add(sent.headers[b"etag"].decode())
    assert len(etags) == 1


def test_small_bodies_stay_plain(frame):
    """Bodies below about 1 KiB are sent as they are."""
    assert "content-encoding" not in frame.get("/coverage", accept_encoding="gzip, zstd").headers


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (b"gzip", b"gzip"),
        (b"gzip, deflate, br, zstd", b"zstd"),
        (b"gzip;q=0", None),
        (b"*", b"zstd"),
        (b"br", None),
        (b"identity, gzip;q=0.5", None),
        (b"gzip;q=nonsense", None),
        (b"gzip ; q=0.3", b"gzip"),
    ],
)
def test_quality_values(accept, chosen):
    """Codings by q-value; 0 forbids, `*` speaks for those not named, ties go to zstd."""
    assert choose_coding(accept) == chosen


class Raw:
    """An answer as it left the app: the client library would decode it."""

    headers: dict
    body: bytes = b""


def raw(frame, url, coding):
    import asyncio

    path, _, query = url.partition("?")
    answer = Raw()

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            answer.headers = dict(message["headers"])
        else:
            answer.body += message["body"]

    scope = {
        "type": "http",
        "http_version": "2",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"x-api-key", frame.PRO.encode()), (b"accept-encoding", coding.encode())],
        "client": ("192.0.2.1", 1),
    }
    asyncio.run(frame.app(scope, receive, send))
    return answer
