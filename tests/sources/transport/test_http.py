"""The polite client against a publisher that misbehaves. Nothing here leaves this machine."""

import gzip
import ssl
from email.utils import formatdate
from urllib.parse import quote, quote_plus

import httpx2
import pytest
import stamina

from almanac.config import Http
from almanac.distribution import version
from almanac.sources.base import Request
from almanac.sources.transport.answers import Fetched, Validators
from almanac.sources.transport.http import Fetcher
from tests.support import certificates
from tests.support.misbehaving import Server, answer, drip, endless, raw, reset, silence
from tests.support.polite import failure, pauses, table


def test_an_answer_is_handed_on_with_what_it_says_of_itself(server, fetcher):
    headers = {
        "content_type": "Text/CSV; charset=utf-8",
        "etag": '"v1"',
        "last_modified": "Mon, 14 Sep 2026 00:00:00 GMT",
    }
    server.acts["/a"] = [answer(body=b"a,b\n1,2\n", **headers)]
    url = f"{server.url}/a?x=1|2&y=M.N.B.*"
    assert fetcher().fetch(Request(url, headers={"accept": "text/csv"})) == Fetched(
        url, 200, b"a,b\n1,2\n", "text/csv", '"v1"', "Mon, 14 Sep 2026 00:00:00 GMT", not_modified=False
    )
    (asked,) = server.asked
    assert asked.headers["user-agent"] == "Almanac-Test (invented; invented@example.org)"
    assert asked.headers["accept"] == "text/csv"
    assert asked.headers["accept-encoding"] == "gzip"


def test_the_settings_fit_and_a_missing_type_is_bytes(server, clock):
    server.acts["/a"] = [answer()]
    with Fetcher(Http(), clock=clock, sleep=clock.sleep, private=True) as fetcher:
        fetched = fetcher.fetch(Request(f"{server.url}/a"))
    assert (fetched.body, fetched.media_type, fetched.etag) == (b"invented", "application/octet-stream", None)
    assert server.asked[0].headers["user-agent"] == f"Almanac/{version()} (self-hosted financial data service)"


def test_cookies_are_not_taken(server, fetcher):
    server.acts["/a"] = [answer(set_cookie="id=invented; Path=/")]
    client = fetcher()
    client.fetch(Request(f"{server.url}/a"))
    client.fetch(Request(f"{server.url}/a"))
    assert [asked.headers.get("cookie") for asked in server.asked] == [None, None]


# --- conditional requests


@pytest.mark.parametrize(
    ("validators", "sent"),
    [
        (Validators('"v1"', "Mon, 14 Sep 2026 00:00:00 GMT"), ('"v1"', "Mon, 14 Sep 2026 00:00:00 GMT")),
        (Validators('"v1"'), ('"v1"', None)),
        (Validators(None, "Mon, 14 Sep 2026 00:00:00 GMT"), (None, "Mon, 14 Sep 2026 00:00:00 GMT")),
    ],
)
def test_unchanged_is_told_apart(server, fetcher, validators, sent):
    server.acts["/a"] = [answer(304, b"", content_length=None, etag='"v1"')]
    fetched = fetcher().fetch(Request(f"{server.url}/a"), validators)
    assert (fetched.status, fetched.not_modified, fetched.body, fetched.etag) == (304, True, b"", '"v1"')
    (asked,) = server.asked
    assert (asked.headers.get("if-none-match"), asked.headers.get("if-modified-since")) == sent


def test_changed_after_all_is_an_ordinary_answer(server, fetcher):
    server.acts["/a"] = [answer(etag='"v2"')]
    fetched = fetcher().fetch(Request(f"{server.url}/a"), Validators('"v1"'))
    assert (fetched.status, fetched.not_modified, fetched.body, fetched.etag) == (200, False, b"invented", '"v2"')


@pytest.mark.parametrize("validators", [None, Validators()])
def test_unchanged_without_having_asked_is_a_failure(server, fetcher, validators):
    server.acts["/a"] = [answer(304, b"", content_length=None)]
    assert failure(fetcher(), Request(f"{server.url}/a"), validators).status == 304


# --- trying again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_passing_troubles_are_tried_again_with_growing_pauses(server, fetcher, clock, status):
    server.acts["/a"] = [answer(status), answer(status), answer(body=b"at last")]
    assert fetcher().fetch(Request(f"{server.url}/a")).body == b"at last"
    assert len(server.asked) == 3
    assert pauses(clock) == [1.0, 2.0]


def test_retries_are_told_by_the_error_alone(server, fetcher, capfd, caplog):
    """No lines of a library's own beside it."""
    stamina.instrumentation.set_on_retry_hooks(None)  # its own ones, as where nothing was fetched before
    server.acts["/a"] = [answer(503)]
    error = failure(fetcher(attempts=3), Request(f"{server.url}/a"))
    assert len(server.asked) == 3
    assert "(attempt 3 of 3)" in str(error)
    assert [*capfd.readouterr()] == ["", ""]
    assert caplog.records == []


def test_pauses_are_random_between_half_and_whole_and_end_growing(server, fetcher, clock):
    server.acts["/a"] = [answer(503)]
    failure(fetcher(jitter=0.5, attempts=9, total_timeout=10_000), Request(f"{server.url}/a"))
    assert pauses(clock) == [0.75, 1.5, 3, 6, 12, 24, 45, 45]


def test_after_the_last_attempt_the_reason_is_told(server, fetcher):
    server.acts["/a"] = [answer(503, b"down for\r\n\x1b[31m maintenance \x00" + b"x" * 300)]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert len(server.asked) == 3
    shown = ("down for [31m maintenance " + "x" * 300)[:200]
    assert str(error) == f"{server.url}/a: answered 503 Service Unavailable: {shown} (attempt 3 of 3)"
    assert (error.url, error.status) == (f"{server.url}/a", 503)


@pytest.mark.parametrize("status", [201, 204, 206, 400, 401, 403, 404, 410, 418, 501, 799])
def test_other_answers_are_final(server, fetcher, status):
    server.acts["/a"] = [answer(status, b"" if status == 204 else b"invented")]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert (error.status, len(server.asked)) == (status, 1)
    assert f"answered {status}" in str(error)


def test_an_error_page_that_never_ends_or_breaks_still_counts_by_its_status(server, fetcher):
    head = b"HTTP/1.1 404 Invented\r\ncontent-length: 99999999999\r\n\r\n"
    server.acts["/endless"] = [endless(head)]
    # Members without content: nothing to show, however much is read.
    hollow = b"HTTP/1.1 404 Invented\r\ncontent-encoding: gzip\r\n\r\n"
    server.acts["/hollow"] = [endless(hollow, gzip.compress(b"") * 1_000)]
    server.acts["/cut"] = [raw(head + b"some")]
    server.acts["/rubbish"] = [answer(404, b"not gzip", content_encoding="gzip")]
    server.acts["/long"] = [answer(404, b"long story " * 9_000)]
    server.acts["/cut-gzip"] = [answer(404, gzip.compress(b"packed story")[:-4], content_encoding="gzip")]
    said = {}
    for path in server.acts:
        error = failure(fetcher(), Request(server.url + path))
        assert error.status == 404
        said[path] = error.reason.removeprefix("answered 404 Not Found")
    shown = {"/long": ": " + ("long story " * 20)[:200], "/cut-gzip": ": packed story"}
    assert said == dict.fromkeys(server.acts, "") | shown
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0"}, None),
        ({"retry_after": formatdate(1_000_030, usegmt=True), "date": formatdate(1_000_000, usegmt=True)}, 30.0),
        ({"retry_after": formatdate(1_000_000, usegmt=True), "date": formatdate(1_000_030, usegmt=True)}, None),
        # Unreadable, or a date with nothing to measure it by: the ordinary pause.
        ({"retry_after": formatdate(1_000_030, usegmt=True)}, 1.0),
        ({"retry_after": "-5"}, 1.0),
        ({"retry_after": "1e1"}, 1.0),
        ({"retry_after": "soon", "date": formatdate(1_000_000, usegmt=True)}, 1.0),
        ({"retry_after": "Mon, 01 Jan 2035 00:00:00 -0000", "date": formatdate(1_000_000, usegmt=True)}, 1.0),
    ],
)
def test_retry_after_is_honoured(server, fetcher, clock, headers, expected):
    server.acts["/a"] = [answer(429, **headers), answer()]
    assert fetcher().fetch(Request(f"{server.url}/a")).status == 200
    assert pauses(clock) == ([] if expected is None else [expected])


def test_a_wait_beyond_the_total_time_fails_at_once_and_for_the_whole_host(server, fetcher, clock):
    server.acts["/a"] = [answer(429, b"slow down", retry_after="3600")]
    server.acts["/b"] = [answer()]
    client = fetcher()
    error = failure(client, Request(f"{server.url}/a"))
    assert str(error).endswith(
        "answered 429 Too Many Requests: slow down (attempt 1; the next may be in 3600.0 s, 100.0 s are left)"
    )
    assert pauses(clock) == []
    error = failure(client, Request(f"{server.url}/b"))
    assert "127.0.0.1 is to be left alone for 3600 s, longer than the 100 s allowed" in str(error)
    assert server.paths() == ["/a"]
    clock.now += 3_550
    assert client.fetch(Request(f"{server.url}/b")).status == 200
    assert pauses(clock) == [50.0]


def test_attempts_end_when_the_total_time_does(server, fetcher, clock):
    server.acts["/a"] = [answer(503)]
    error = failure(fetcher(attempts=99, total_timeout=20), Request(f"{server.url}/a"))
    assert pauses(clock) == [1, 2, 4, 8]
    assert str(error).endswith("(attempt 5; the next may be in 16.0 s, 5.0 s are left)")


BROKEN = {
    "reset": (reset, "read error"),
    "closed": (raw(b""), "disconnected without sending a response"),
    "garbage": (raw(b"\x00\x01 invented rubbish\r\n\r\n"), "remote protocol error"),
    "cut": (answer(body=b"half", content_length=8), "received 4 bytes, expected 8"),
    "cut chunk": (raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf"), "remote protocol error"),
    "cut gzip": (answer(body=gzip.compress(b"invented" * 9)[:-9], content_encoding="gzip"), "gzip body is broken"),
    "damaged gzip": (
        answer(body=gzip.compress(b"invented" * 9)[:-8] + b"checksum", content_encoding="gzip"),
        "gzip body is broken",
    ),
    "no gzip": (answer(body=b"invented", content_encoding="gzip"), "gzip body is broken"),
    "half head": (raw(b"HTTP/1.1 200 OK\r\ncontent-"), "without sending a response"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_tried_again_and_never_taken_for_data(server, fetcher, name):
    act, message = BROKEN[name]
    server.acts["/once"] = [act, answer(body=b"whole")]
    server.acts["/always"] = [act]
    assert fetcher().fetch(Request(f"{server.url}/once")).body == b"whole"
    error = failure(fetcher(), Request(f"{server.url}/always"))
    assert message in str(error)
    assert server.paths() == ["/once"] * 2 + ["/always"] * 3


def test_nobody_listening_is_tried_again(fetcher, clock):
    with Server() as gone:
        url = f"{gone.url}/a"
    error = failure(fetcher(), Request(url))
    assert error.status is None
    assert "connect error" in str(error)
    assert pauses(clock) == [1.0, 2.0]


def test_slow_headers_time_out_and_are_tried_again(server, fetcher):
    server.acts["/a"] = [silence, answer()]
    assert fetcher(read_timeout=0.02).fetch(Request(f"{server.url}/a")).body == b"invented"
    server.acts["/b"] = [silence]
    error = failure(fetcher(read_timeout=0.02), Request(f"{server.url}/b"))
    assert "read timeout" in str(error)
    assert server.paths() == ["/a"] * 2 + ["/b"] * 3


@pytest.mark.parametrize(
    ("head", "piece"),
    [(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b"x"), (b"HTTP/1.1 200 OK\r\nx-slow: ", b"x")],
    ids=["body", "headers"],
)
def test_a_drip_ends_with_the_total_time_though_every_byte_is_in_time(server, fetcher, clock, head, piece):
    server.acts["/a"] = [drip(head, piece)]
    clock.step = 1.0
    error = failure(fetcher(total_timeout=40), Request(f"{server.url}/a"))
    assert "timeout (the time allowed in all is over)" in str(error)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "body", "later"),
    [
        (413, b'{"warning":{"status":413,"label":"ASYNCHRONOUS_RESPONSE. Please try again later."}}', True),
        (200, b'{"warning":{"status":413,"label":"ASYNCHRONOUS_RESPONSE. Please try again later."}}', True),
        (200, b"<Envelope><Body><syncResponse><queued><id>7</id></queued></syncResponse></Body></Envelope>", True),
        (413, b"<faultstring>EXTRACTION_TOO_BIG: please change your filters</faultstring>", False),
        (503, b"ASYNCHRONOUS", False),
    ],
)
def test_data_that_are_being_prepared_are_no_failure_and_are_not_asked_for_at_once(
    server, fetcher, status, body, later
):
    server.acts["/a"] = [answer(status, body)]
    request = Request(f"{server.url}/a", later=("ASYNCHRONOUS_RESPONSE", "syncResponse"))
    failed = failure(fetcher(), request)
    assert (failed.later, failed.status) == (later, status)
    assert len(server.paths()) == (3 if status == 503 else 1)


def test_a_large_answer_that_holds_the_words_is_data(server, fetcher):
    body = b"x" * 20_000 + b"syncResponse"
    server.acts["/a"] = [answer(200, body)]
    assert fetcher().fetch(Request(f"{server.url}/a", later=("syncResponse",))).body == body


def test_a_body_in_a_file_is_not_held_and_has_the_time_that_its_bound_takes(server, fetcher, clock):
    body = bytes(range(256)) * 8_000  # more than may be held
    server.acts["/a"] = [answer(429, retry_after="300"), answer(200, body)]
    got = fetcher().fetch(Request(f"{server.url}/a", most_in_file=300_000_000))
    with got.file as file:
        assert (got.body, file.read()) == (b"", body)
    assert pauses(clock) == [300.0]
    # Of one that is held the time is the settings'.
    server.acts["/b"] = [answer(429, retry_after="300"), answer(200, b"small")]
    assert "100.0 s are left" in str(failure(fetcher(), Request(f"{server.url}/b")))
    server.acts["/c"] = [answer(200, body)]
    refused = failure(fetcher(), Request(f"{server.url}/c", most_in_file=len(body) - 1))
    assert "larger than the 2047999 bytes allowed" in str(refused)


# -- bodies that are too large, packed, or both -----------------------------------------------------------------------


def test_the_size_limit_is_exact(server, fetcher):
    server.acts["/a"] = [answer(body=bytes(1_000))]
    assert len(fetcher(max_bytes=1_000).fetch(Request(f"{server.url}/a")).body) == 1_000
    error = failure(fetcher(max_bytes=999), Request(f"{server.url}/a"))
    assert "the body is larger than the 999 bytes allowed" in str(error)
    assert len(server.asked) == 2


TOO_LARGE = "larger than the 1000000 bytes allowed"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (endless(b"HTTP/1.1 200 OK\r\n\r\n"), TOO_LARGE),
        (answer(body=gzip.compress(bytes(5_000_000)), content_encoding="gzip"), TOO_LARGE),
        (answer(body=gzip.compress(b"") * 60_000, content_encoding="gzip"), TOO_LARGE),  # unpacks to nothing
        (answer(content_encoding="br"), "packed with 'br', which was not asked for; allowed are gzip and none"),
        (answer(302), "answered 302 Found"),
        (answer(302, location="http://publisher.example/a"), "redirects to http://publisher.example, only https is asked"),
        (answer(302, location="http://192.0.2.1/a"), "redirects to http://192.0.2.1, only https is asked"),
        (answer(302, location="ftp://publisher.example/a"), "redirects to ftp://publisher.example, only https is asked"),
        (answer(302, location="file:///etc/hostname"), "redirects to not a URL with a host"),
        (answer(302, location="https://someone:password@publisher.example/"), "redirects to a URL with a user name or password"),
        (answer(302, location="https://publisher.example:port/"), "redirects to not a URL with a host"),
    ],
    ids=["endless", "bomb", "hollow", "packing", "nowhere", "http", "http address", "ftp", "file", "password", "port"],
)  # fmt: skip
def test_an_answer_that_is_refused_is_not_asked_for_again(server, fetcher, act, message):
    server.acts["/a"] = [act]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert message in str(error)
    assert "password@" not in str(error)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("packed", "encoding", "plain"),
    [
        (gzip.compress(b"one,") + gzip.compress(b"two"), "gzip", b"one,two"),
        (gzip.compress(b"invented"), "X-GZip", b"invented"),
        (b"invented", "identity", b"invented"),
        (b"", "gzip", b""),
        (gzip.compress(bytes(range(256)) * 3_000), "gzip", bytes(range(256)) * 3_000),
    ],
    ids=["members", "other name", "not at all", "empty", "long"],
)
def test_gzip_is_unpacked(server, fetcher, packed, encoding, plain):
    server.acts["/a"] = [answer(body=packed, content_encoding=encoding)]
    assert fetcher().fetch(Request(f"{server.url}/a")).body == plain


# -- certificates count, the environment does not ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for `localhost` that nobody has signed, made anew: no key lies in the repository."""
    return certificates.make(tmp_path_factory.mktemp("tls"), "localhost")[0]


def test_a_certificate_nobody_signed_is_refused_at_once(certificate, fetcher, clock):
    with Server(certificate) as server:
        error = failure(fetcher(), Request(f"https://localhost:{server.port}/a"))
        assert "certificate verify failed" in str(error).lower().replace("_", " ")
        assert (server.connections, server.asked, pauses(clock)) == (1, [], [])


def test_a_trusted_certificate_counts_for_its_own_name_only(certificate, fetcher, monkeypatch):
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: trusting)
    with Server(certificate) as server:
        server.acts["/a"] = [answer(body=b"over tls")]
        assert fetcher().fetch(Request(f"https://localhost:{server.port}/a")).body == b"over tls"
        error = failure(fetcher(), Request(f"https://127.0.0.1:{server.port}/a"))
        assert "certificate" in str(error)
        assert len(server.asked) == 1


def test_the_environment_neither_redirects_nor_trusts(server, fetcher, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    server.acts["/a"] = [answer()]
    assert fetcher().fetch(Request(f"{server.url}/a")).status == 200


# -- where the client lets itself be sent, and what it takes along ----------------------------------------------------


SECRET = 's3cr+t/k&y="invented"'


def test_redirects_are_followed_and_the_url_stays_the_one_asked_for(server, fetcher):
    server.acts["/a"] = [answer(301, location="/b")]
    server.acts["/b"] = [answer(307, location=f"{server.url}/c?x=1")]
    server.acts["/c"] = [answer(body=b"here")]
    fetched = fetcher().fetch(Request(f"{server.url}/a", headers={"x-mine": "1"}), Validators('"v1"'))
    assert (fetched.url, fetched.body) == (f"{server.url}/a", b"here")
    assert [(asked.target, asked.headers["x-mine"], asked.headers["if-none-match"]) for asked in server.asked] == [
        ("/a", "1", '"v1"'),
        ("/b", "1", '"v1"'),
        ("/c?x=1", "1", '"v1"'),
    ]


def test_five_redirects_are_followed_and_no_sixth(server, fetcher):
    for n in range(6):
        server.acts[f"/{n}"] = [answer(302, location=f"/{n + 1}")]
    server.acts["/6"] = [answer()]
    assert fetcher().fetch(Request(f"{server.url}/1")).status == 200
    assert len(server.asked) == 6
    error = failure(fetcher(), Request(f"{server.url}/0"))
    assert "redirects more than 5 times, at last to 127.0.0.1" in str(error)
    assert len(server.asked) == 12


def test_a_redirect_loop_ends(server, fetcher):
    server.acts["/a"] = [answer(302, location="/a")]
    assert "redirects more than 5 times" in str(failure(fetcher(), Request(f"{server.url}/a")))
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://publisher.example/a", "is http://publisher.example, only https is asked"),
        ("publisher.example/a", "is not a URL with a host"),
        ("https://someone:password@publisher.example/a", "is a URL with a user name or password"),
    ],
)
def test_an_address_that_is_not_https_is_never_asked(fetcher, url, message):
    def never(request):
        raise AssertionError(request.url)

    error = failure(fetcher(transport=httpx2.MockTransport(never)), Request(url))
    assert message in str(error)
    assert "password@" not in str(error)


@pytest.mark.parametrize("host", ["publisher.example", "127.0.0.1", "localhost", "[::1]"])
def test_a_redirect_from_https_to_http_is_refused_even_to_this_machine(fetcher, host):
    transport, seen = table({"https://publisher.example/a": (302, {"location": f"http://{host}/a"})})
    error = failure(fetcher(transport=transport), Request("https://publisher.example/a"))
    assert "only https is asked" in str(error)
    assert len(seen) == 1


def test_headers_that_say_who_we_are_do_not_follow_to_another_host(fetcher):
    moved = (302, {"location": "https://two.example/a"})
    transport, seen = table({"https://one.example/a": moved, "https://two.example/a": (200, {})})
    request = Request("https://one.example/a", headers={"Accept": "text/csv", "x-key": "mine", "authorization": "mine"})
    assert fetcher(transport=transport).fetch(request, Validators('"v1"')).status == 200
    names = [
        ("x-key" in r.headers, "authorization" in r.headers, r.headers["accept"], r.headers["if-none-match"])
        for r in seen
    ]
    assert names == [(True, True, "text/csv", '"v1"'), (False, False, "text/csv", '"v1"')]


def test_a_redirect_to_another_host_with_the_key_in_it_is_not_followed(fetcher):
    moved = (302, {"location": f"https://two.example/{quote(SECRET)}"})
    transport, seen = table({f"https://one.example/a?key={quote_plus(SECRET)}": moved})
    error = failure(fetcher(transport=transport), Request("https://one.example/a", secret={"key": SECRET}))
    assert "redirects to two.example with the key in the address" in str(error)
    assert len(seen) == 1
