"""Keys are sent and never told: not in errors, not in logs, not in what is kept."""

import logging
import traceback
from urllib.parse import quote, quote_plus

import pytest
import structlog

from almanac.sources.base import Request
from almanac.sources.transport.secrecy import Secrecy
from tests.support.misbehaving import answer, raw, reset
from tests.support.polite import failure

SECRET = 's3cr+t/k&y="invented"'


def every_word(error):
    """All that a log could print of an error: texts, reprs, arguments and attributes, of the whole chain."""
    seen, words = set(), ["".join(traceback.format_exception(error))]
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        words += [
            str(one),
            repr(one),
            repr(one.args),
            repr(getattr(one, "__dict__", {})),
            repr(getattr(one, "request", None)),
        ]
        waiting += [one.__cause__, one.__context__]
    return "\n".join(words)


FORMS = {SECRET, quote(SECRET), quote(SECRET, safe=""), quote_plus(SECRET), quote(SECRET, safe="").lower()}
ECHO = f"bad key {SECRET} or {quote(SECRET, safe='')} or {quote_plus(SECRET).lower()}".encode()
LEAKS = {
    "error page": [answer(403, ECHO)],
    "long error page": [answer(403, b" " * 16_370 + SECRET.encode() * 99)],
    "passing error": [answer(503, ECHO)],
    "redirect to http": [answer(302, location=f"http://publisher.example/?key={quote(SECRET, safe='')}")],
    "redirect abroad": [answer(302, location=f"https://publisher.example/?key={quote_plus(SECRET)}")],
    "redirect into the host": [answer(302, location="http://s3cr.example/")],
    "redirect loop": [answer(302, location=f"/a?key={quote(SECRET, safe='')}")],
    "garbage": [raw(ECHO + b"\r\n\r\n")],
    "reset": [reset],
    "cut": [answer(body=b"", content_length=5)],
    "packing": [answer(content_encoding=SECRET)],
}


def test_of_two_secrets_the_longer_is_taken_out_whole():
    secrecy = Secrecy({"id": "invented", "key": "invented-and-more"})
    assert secrecy.clean("invented, INVENTED-and-more") == "[secret], [secret]"


@pytest.mark.parametrize("name", LEAKS)
def test_a_secret_is_sent_and_never_told(server, fetcher, caplog, capfd, name):
    server.acts["/a"] = LEAKS[name]
    caplog.set_level(logging.DEBUG)
    for logger in ("httpx2", "httpcore2", "httpcore2.http11", "httpcore2.connection"):
        caplog.set_level(logging.DEBUG, logger)
    request = Request(f"{server.url}/a?id=GDP", secret={"api_key": SECRET, "none": ""})
    with structlog.testing.capture_logs() as logs:
        error = failure(fetcher(), request)
    assert server.asked[0].target == f"/a?id=GDP&api_key={quote_plus(SECRET)}&none="
    assert error.url == f"{server.url}/a?id=GDP"
    told = "\n".join([every_word(error), caplog.text, repr(logs), *capfd.readouterr()])
    assert [form for form in FORMS if form.lower() in told.lower()] == []
    # Nor a piece of it that a cut left.
    assert SECRET[:6] not in told.replace("s3cr.example", "")


def test_a_secret_is_not_in_what_is_kept_nor_logged_when_all_goes_well(server, fetcher, caplog):
    caplog.set_level(logging.DEBUG)
    server.acts["/a"] = [answer(302, location=f"/b?api_key={quote_plus(SECRET)}")]
    server.acts["/b"] = [answer()]
    found = fetcher().fetch(Request(f"{server.url}/a#top", secret={"api_key": SECRET}))
    assert found.url == f"{server.url}/a#top"
    assert [asked.target for asked in server.asked] == [
        f"/a?api_key={quote_plus(SECRET)}",
        f"/b?api_key={quote_plus(SECRET)}",
    ]
    assert [form for form in FORMS if form in repr(found) + caplog.text] == []


def test_the_rest_of_an_error_page_stays_readable(server, fetcher):
    server.acts["/a"] = [answer(400, f"The key {SECRET} is not registered.".encode())]
    error = failure(fetcher(), Request(f"{server.url}/a", secret={"api_key": SECRET}))
    assert "answered 400 Bad Request: The key [secret] is not registered. (attempt 1 of 3)" in str(error)


def test_a_header_that_cannot_be_sent_is_not_quoted(server, fetcher):
    error = failure(fetcher(), Request(f"{server.url}/a", headers={"x-key": "invented\nkey"}))
    assert "local protocol error (attempt 1 of 3)" in str(error)
    assert "key" not in every_word(error)
    assert server.asked == []
