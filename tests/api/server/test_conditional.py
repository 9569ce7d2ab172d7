"""ETag, conditional requests, HEAD, content coding, cache headers."""

import gzip

import pytest
import zstandard

from almanac.api.server.envelope import choose_coding

DAY = 86_400
LONG = "/observations?limit=25"


def test_cache_headers(frame):
    """`Cache-Control: private, no-cache`, `Vary: x-api-key, authorization, accept, accept-encoding`."""
    answer = frame.get("/coverage")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"].startswith("x-api-key, authorization, accept, accept-encoding")


@pytest.mark.parametrize("url", ["/coverage", LONG, "/observations?limit=3", "/llms.txt"])
def test_etag_is_of_the_data(frame, url):
    """Weak ETag over data and pagination, without request id: equal from request to request and second to second."""
    one = frame.get(url)
    frame.real, frame.now = frame.real + 5, frame.now + 5
    assert one.headers["etag"].startswith('W/"')
    assert frame.get(url).headers["etag"] == one.headers["etag"]


def test_etag_tells_pages_apart(frame):
    """Another page size, another page, another rest: another ETag."""
    urls = ["/observations?limit=3", "/observations?limit=4", "/observations?limit=25", "/observations?limit=26"]
    cursor = frame.get(urls[0]).json()["meta"]["pagination"]["next_cursor"]
    urls.append(f"{urls[0]}&cursor={cursor}")
    assert len({frame.get(url).headers["etag"] for url in urls}) == len(urls)


def test_cached_page_does_not_outlive_its_cursor(frame):
    """A page with a next cursor is confirmed on the day of its issue only, one without on any day."""
    paged, whole = frame.get("/observations?limit=3").headers["etag"], frame.get(LONG).headers["etag"]
    frame.real += DAY
    assert frame.get("/observations?limit=3", if_none_match=paged).status_code == 200
    assert frame.get(LONG, if_none_match=whole).status_code == 304


@pytest.mark.parametrize("form", ["{}", "*", '"nope", {}', '"nope",{} ,W/"x"', "strong"])
def test_not_modified(frame, form):
    """`*`, lists and `W/` in If-None-Match; a 304 carries request id and limit headers."""
    etag = frame.get(LONG, frame.FREE).headers["etag"]
    condition = etag.removeprefix("W/") if form == "strong" else form.format(etag)
    answer = frame.get(LONG, frame.FREE, if_none_match=condition)
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == etag
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["x-ratelimit-remaining"] == "98"
    assert answer.headers["x-data-version"] == "7"
    assert answer.headers["x-history-from"] == "2024-11-20"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert "content-type" not in answer.headers


def test_modified(frame):
    """Another tag is no match."""
    assert frame.get(LONG, if_none_match='"nope", W/"nor-this"').status_code == 200


def test_never_on_an_error(frame):
    """Never on an error: no ETag, and `*` does not make one a 304."""
    answer = frame.get("/indicators/none", if_none_match="*")
    assert answer.status_code == 404
    assert "etag" not in answer.headers


@pytest.mark.parametrize("url", ["/coverage", LONG, "/nowhere", "/observations?limit=0"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_head(frame, url, coding):
    """HEAD is GET without body: same status, same headers, content-length of the GET."""
    got = frame.request("GET", url, headers={"accept-encoding": coding})
    head = frame.request("HEAD", url, headers={"accept-encoding": coding})
    assert (head.status_code, head.content) == (got.status_code, b"")
    vary = {"x-request-id", "x-ratelimit-remaining", "ratelimit", "content-length"}
    assert {k: v for k, v in head.headers.items() if k not in vary} == {
        k: v for k, v in got.headers.items() if k not in vary
    }
    # Request ids are random, so a compressed body may differ by a few bytes between two requests.
    assert abs(int(head.headers["content-length"]) - int(got.headers["content-length"])) <= (
        40 if "content-encoding" in got.headers else 0
    )


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
        (b"GZIP", b"gzip"),
        (b"gzip, deflate, br, zstd", b"zstd"),
        (b"gzip;q=1.0, zstd;q=0.5", b"gzip"),
        (b"gzip;q=0", None),
        (b"zstd;q=0, *", b"gzip"),
        (b"*", b"zstd"),
        (b"*;q=0", None),
        (b"br", None),
        (b"", None),
        (b"identity, gzip;q=0.5", None),
        (b"identity;q=0.5, gzip;q=0.8", b"gzip"),
        (b"gzip;q=nonsense", None),
        (b"gzip;q=7", None),
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
