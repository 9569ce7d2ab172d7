"""Where the client lets itself be sent, and what it takes along."""

from urllib.parse import quote, quote_plus

import httpx2
import pytest

from almanac.sources.base import Request
from almanac.sources.transport.answers import Validators
from tests.support.misbehaving import answer
from tests.support.polite import failure, table

SECRET = 's3cr+t/k&y="invented"'


def test_redirects_are_followed_and_the_url_stays_the_one_asked_for(server, fetcher):
    server.acts["/a"] = [answer(301, location="/b")]
    server.acts["/b"] = [answer(307, location=f"{server.url}/c?x=1")]
    server.acts["/c"] = [answer(body=b"here")]
    found = fetcher().fetch(Request(f"{server.url}/a", headers={"x-mine": "1"}), Validators('"v1"'))
    assert (found.url, found.body) == (f"{server.url}/a", b"here")
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


def test_a_redirect_to_nowhere_is_an_answer_like_others(server, fetcher):
    server.acts["/a"] = [answer(302)]
    assert "answered 302 Found" in str(failure(fetcher(), Request(f"{server.url}/a")))


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://publisher.example/a", "redirects to http://publisher.example, only https is asked"),
        ("http://192.0.2.1/a", "redirects to http://192.0.2.1, only https is asked"),
        ("ftp://publisher.example/a", "redirects to ftp://publisher.example, only https is asked"),
        ("file:///etc/hostname", "redirects to not a URL with a host"),
        ("https://someone:password@publisher.example/", "redirects to a URL with a user name or password"),
        ("https://publisher.example:port/", "redirects to not a URL with a host"),
    ],
)
def test_a_redirect_away_from_https_is_refused(server, fetcher, location, message):
    server.acts["/a"] = [answer(302, location=location)]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert message in str(error)
    assert "password@" not in str(error)
    assert len(server.asked) == 1


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
    transport, seen = table(
        {
            "https://one.example/a": (302, {"location": "https://two.example/a"}),
            "https://two.example/a": (200, {}),
        }
    )
    request = Request("https://one.example/a", headers={"Accept": "text/csv", "x-key": "mine", "authorization": "mine"})
    assert fetcher(transport=transport).fetch(request, Validators('"v1"')).status == 200
    names = [
        ("x-key" in r.headers, "authorization" in r.headers, r.headers["accept"], r.headers["if-none-match"])
        for r in seen
    ]
    assert names == [(True, True, "text/csv", '"v1"'), (False, False, "text/csv", '"v1"')]


def test_a_redirect_to_another_host_with_the_key_in_it_is_not_followed(fetcher):
    transport, seen = table(
        {
            f"https://one.example/a?key={quote_plus(SECRET)}": (
                302,
                {"location": f"https://two.example/{quote(SECRET)}"},
            ),
        }
    )
    error = failure(fetcher(transport=transport), Request("https://one.example/a", secret={"key": SECRET}))
    assert "redirects to two.example with the key in the address" in str(error)
    assert len(seen) == 1
