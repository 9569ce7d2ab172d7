"""Certificates count, the environment does not."""

import ssl

import httpx2
import pytest

from almanac.sources.base import Request
from tests.support import certificates
from tests.support.misbehaving import Server, answer
from tests.support.polite import failure, pauses


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
