"""Bodies that are too large, packed, or both."""

import gzip

import pytest

from almanac.sources.base import Request
from tests.support.misbehaving import answer, endless
from tests.support.polite import failure


def test_the_size_limit_is_exact(server, fetcher):
    server.acts["/a"] = [answer(body=bytes(1_000))]
    assert len(fetcher(max_bytes=1_000).fetch(Request(f"{server.url}/a")).body) == 1_000
    error = failure(fetcher(max_bytes=999), Request(f"{server.url}/a"))
    assert "the body is larger than the 999 bytes allowed" in str(error)
    assert len(server.asked) == 2


def test_an_endless_body_is_cut_off_while_streaming_and_not_asked_for_again(server, fetcher):
    server.acts["/a"] = [endless(b"HTTP/1.1 200 OK\r\n\r\n")]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert "larger than the 1000000 bytes allowed" in str(error)
    assert len(server.asked) == 1


def test_a_gzip_bomb_is_cut_off_by_its_plain_size(server, fetcher):
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    server.acts["/a"] = [answer(body=bomb, content_encoding="gzip")]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert "larger than the 1000000 bytes allowed" in str(error)
    assert len(server.asked) == 1


def test_packed_bytes_that_unpack_to_nothing_are_counted_too(server, fetcher):
    server.acts["/a"] = [answer(body=gzip.compress(b"") * 60_000, content_encoding="gzip")]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert "larger than the 1000000 bytes allowed" in str(error)


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


def test_a_packing_nobody_asked_for_is_refused_by_name(server, fetcher):
    server.acts["/a"] = [answer(content_encoding="br")]
    error = failure(fetcher(), Request(f"{server.url}/a"))
    assert "packed with 'br', which was not asked for; allowed are gzip and none" in str(error)
    assert len(server.asked) == 1
