"""Whom the client lets itself be led to: public addresses only, those that were judged, through a proxy if there is one."""

import logging
import socket
import threading
import traceback
from urllib.parse import quote, quote_plus

import pytest
import structlog

from almanac.sources.base import Request
from almanac.sources.transport import addresses
from almanac.sources.transport.secrecy import Secrecy
from tests.support import certificates
from tests.support.misbehaving import Server, answer, raw, reset
from tests.support.polite import failure, pauses

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    ("address", "word"),
    [
        (PUBLIC, None), ("2606:2800:21f:cb07::1", None), ("::ffff:93.184.215.14", None), ("64:ff9b::5db8:d70e", None),
        ("127.0.0.1", "loopback"), ("127.8.8.8", "loopback"), ("::1", "loopback"), ("::ffff:127.0.0.1", "loopback"),
        ("10.1.2.3", "private"), ("172.16.0.1", "private"), ("192.168.1.1", "private"), ("100.64.0.1", "private"),
        ("fd00::1", "private"), ("192.0.2.7", "private"), ("::ffff:10.0.0.1", "private"), ("64:ff9b::a00:1", "private"),
        ("2002:a00:1::", "private"), ("169.254.169.254", "link-local"), ("fe80::1", "link-local"),
        ("fe80::1%lo", "link-local"), ("224.0.0.1", "multicast"), ("ff02::1", "multicast"), ("0.0.0.0", "unspecified"),
        ("240.0.0.1", "reserved"), ("255.255.255.255", "reserved"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_address(address, word):
    assert addresses.kind(address) == word


@pytest.mark.parametrize(
    ("host", "word"),
    [
        ("127.0.0.1", "loopback"), ("localhost", "loopback"), ("a.localhost", "loopback"), ("127.1", "loopback"),
        ("2130706433", "loopback"), ("0x7f.1", "loopback"), ("[::1]", "loopback"), ("[::ffff:10.0.0.1]", "private"),
        ("169.254.169.254", "link-local"), ("10.0.0.1", "private"),
        # The same, spelt as a reader of texts would pass them and a resolver would not.
        ("localhost.", "loopback"), ("LOCALHOST.", "loopback"), ("a.localhost.", "loopback"), ("127.0.0.1.", "loopback"),
        ("127.1.", "loopback"), ("0x7f000001", "loopback"), ("0x7f000001.", "loopback"), ("017700000001", "loopback"),
        ("127\u30020\u30020\u30021", "loopback"), ("localhost\u3002", "loopback"), ("[::7f00:1]", "reserved"),
        ("[::ffff:7f00:1]", "loopback"), ("[::ffff:0:7f00:1]", "reserved"), ("[64:ff9b:1::7f00:1]", "reserved"),
        ("[2002:7f00:1::]", "loopback"), ("[fe80::1%25lo]", "link-local"), ("0", "unspecified"), ("0.", "unspecified"),
        ("%6c%6fcalhost", "malformed"), ("a..b", "malformed"), ("localhost..", "malformed"),
        ("localhost.localdomain", "loopback"), ("ip6-localhost", "loopback"), ("metadata.google.internal", "local"),
        ("metadata", "local"), ("intranet.", "local"), ("printer.local", "local"), ("nas.home.arpa.", "local"),
    ],
)  # fmt: skip
def test_an_address_that_is_written_out_is_refused_before_anything_is_asked(server, fetcher, host, word):
    """Also behind a redirect, and where a proxy would connect to it; no name is looked up, and nothing connected to."""

    def never(host, port):
        raise AssertionError(host)

    for more in ({}, {"proxy": "http://127.0.0.1:9"}):
        error = failure(fetcher(private=False, resolve=never, **more), Request(f"https://{host}/a"))
        assert f"a {word} address; only public ones are asked" in str(error)
    with pytest.raises(addresses.AddressRefused, match=f"redirects to .* a {word} address"):
        addresses.following(addresses.first("https://publisher.example/a"), f"https://{host}:1/a")


def test_http_to_this_machine_is_for_tests_alone(server, fetcher, monkeypatch):
    """There is an argument for it, and nothing in the environment."""
    monkeypatch.setenv("ALMANAC_PRIVATE", "true")
    error = failure(fetcher(private=False), Request(f"{server.url}/a"))
    assert "only https is asked" in str(error) or "loopback" in str(error)
    assert server.connections == 0


@pytest.mark.parametrize("found", [["10.0.0.5"], ["::1", "127.0.0.1"], ["169.254.169.254"], ["::ffff:10.0.0.1"]])
def test_a_name_that_leads_inside_is_refused_before_connecting(fetcher, clock, found):
    with Server() as server:
        looked = []

        def resolve(host, port):
            looked.append(host)
            return found

        error = failure(fetcher(private=False, resolve=resolve), Request(f"https://publisher.example:{server.port}/a"))
        assert "leads to publisher.example, which has a " in str(error)
        assert found[0] not in str(error)
        assert (looked, server.connections, pauses(clock)) == (["publisher.example"], 0, [])


def test_public_addresses_are_tried_in_turn_and_no_other(fetcher, monkeypatch):
    """Those beside them that lead inside are left out."""
    tried = []

    def refuse(address, timeout=None, source_address=None):
        tried.append(address[0])
        raise ConnectionRefusedError("invented")

    monkeypatch.setattr(socket, "create_connection", refuse)
    client = fetcher(private=False, resolve=lambda *_: ["10.0.0.1", PUBLIC, "::1", "2606:2800:21f:cb07::1"], attempts=1)
    assert "invented" in str(failure(client, Request("https://publisher.example/a")))
    assert tried == [PUBLIC, "2606:2800:21f:cb07::1"]


def test_the_connection_is_made_to_the_address_that_was_judged(tmp_path, fetcher):
    """
    Under the host's own name, in TLS and in the Host header. A second look-up, whose answer might be another, never comes.
    """
    certificate, bundle = certificates.make(tmp_path, "publisher.example")
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    with Server(certificate) as server:
        server.acts["/a"] = [answer(body=b"here")]
        client = fetcher(resolve=lambda *_: answers.pop(0), ca_bundle=str(bundle))
        url = f"https://publisher.example:{server.port}/a"
        assert client.fetch(Request(url)).body == b"here"
        assert server.asked[0].headers["host"] == f"publisher.example:{server.port}"
        assert len(answers) == 1
        server.acts["/b"] = [answer(body=b"not under this name")]
        other = fetcher(resolve=lambda *_: ["127.0.0.1"], ca_bundle=str(bundle), attempts=1)
        assert "certificate" in str(failure(other, Request(f"https://other.example:{server.port}/b")))


def test_without_the_bundle_its_authority_is_not_trusted(tmp_path, fetcher):
    certificate, _ = certificates.make(tmp_path, "publisher.example")
    with Server(certificate) as server:
        client = fetcher(resolve=lambda *_: ["127.0.0.1"])
        assert "certificate verify failed" in str(
            failure(client, Request(f"https://publisher.example:{server.port}/a"))
        )


class Proxy:
    """Takes CONNECT and passes everything on to one server, whatever host was named."""

    def __init__(self, to):
        self.asked = []
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://user:word@127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _run(self):
        try:
            while True:
                client, _ = self._listener.accept()
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                self.asked.append(head.decode())
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                server = socket.create_connection(("127.0.0.1", self._to))
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()
        except OSError:
            return

    @staticmethod
    def _pass_on(one, other):
        try:
            while piece := one.recv(65_536):
                other.sendall(piece)
        except OSError:
            pass
        finally:
            other.close()


def test_all_goes_through_the_proxy_but_what_is_named(tmp_path, fetcher):
    """The proxy looks names up, and the TLS is with the publisher; a host below one that is named goes direct."""
    certificate, bundle = certificates.make(tmp_path, "publisher.example", "data.direct.example")
    looked = []

    def resolve(host, port):
        looked.append(host)
        return ["127.0.0.1"]

    with Server(certificate) as server, Proxy(server.port) as proxy:
        for host in ("publisher.example", "data.direct.example"):
            server.acts["/a"] = [answer(body=host.encode())]
            client = fetcher(
                resolve=resolve, ca_bundle=str(bundle), proxy=proxy.url, no_proxy=("direct.example", "*.other.example")
            )
            assert client.fetch(Request(f"https://{host}:{server.port}/a")).body == host.encode()
        (asked,) = proxy.asked
        assert asked.startswith(f"CONNECT publisher.example:{server.port} HTTP/1.1\r\n")
        assert "proxy-authorization: basic dxnlcjp3b3jk" in asked.lower()
        assert looked == ["data.direct.example"]


def test_a_proxy_that_cannot_be_reached_is_told_without_its_password(fetcher):
    error = failure(
        fetcher(private=False, proxy="http://user:word@127.0.0.1:9"), Request("https://publisher.example/a")
    )
    assert "connect error" in str(error)
    assert "word" not in str(error)


def test_a_host_that_cannot_be_reached_is_asked_three_times_in_a_run(fetcher, clock):
    """Whatever is asked of it; other hosts go on, and one that answers in between begins anew."""
    tried = []

    def resolve(host, port):
        tried.append(host)
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    client = fetcher(resolve=resolve, attempts=5)
    error = failure(client, Request("https://gone.example/1"))
    assert str(error).endswith("(attempt 3; gone.example is not asked again in this run)")
    assert error.given_up == "gone.example"
    for number in range(2, 38):
        error = failure(client, Request(f"https://gone.example/{number}"))
        assert "gone.example could not be reached 3 times in this run" in str(error)
        assert error.given_up == "gone.example"
    assert tried == ["gone.example"] * 3
    assert failure(client, Request("https://other.example/1")).given_up == "other.example"
    assert tried[3:] == ["other.example"] * 3


def test_failures_to_connect_count_in_a_row(server, fetcher):
    server.acts["/a"] = [answer()]
    down = [True, True, False, True, True, False]
    client = fetcher(resolve=lambda *_: ["127.0.0.1"] if not down.pop(0) else [], attempts=5)
    for _ in range(2):
        assert client.fetch(Request(f"{server.url}/a")).status == 200
    assert down == []


# -- keys are sent and never told: not in errors, not in logs, not in what is kept ------------------------------------


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
