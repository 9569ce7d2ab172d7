"""The load generator: what it counts, and what it refuses to count."""

import asyncio
import contextlib

import pytest

from bench.load import LoadError, body_length, encode, run

COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-a: b\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"


@contextlib.asynccontextmanager
async def server(answer, *, piece=None):
    """Answers every request alike, in pieces of so many bytes; yields its port and the requests it got."""
    got = []
    serving = []

    async def serve(reader, writer):
        serving.append(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                got.append(await reader.readuntil(b"\r\n\r\n"))
                size = piece or len(answer)
                for start in range(0, len(answer), size):
                    writer.write(answer[start : start + size])
                    await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        try:
            yield listening.sockets[0].getsockname()[1], got
        finally:
            await asyncio.gather(*serving)


async def loaded(answer, *, most, piece=None, connections=2, first=0):
    async with server(answer, piece=piece) as (port, got):
        requests = encode([f"/{n}" for n in range(5)], port, {"x-api-key": "k"})
        outcome = await run(port, requests, connections=connections, seconds=30, first=first, most=most)
        return outcome, [request.split()[1].decode() for request in got]


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED], ids=["counted", "chunked"])
@pytest.mark.parametrize("piece", [None, 1, 7])
def test_every_answer_is_counted_once_however_it_comes(answer, piece):
    outcome, asked = asyncio.run(loaded(answer, most=12, piece=piece))
    assert len(outcome.latencies) == 12
    assert outcome.bytes == 12 * len(answer)
    assert sorted(asked) == sorted([f"/{n % 5}" for n in range(12)])


def test_it_goes_on_where_it_is_told():
    _, asked = asyncio.run(loaded(COUNTED, most=3, connections=1, first=4))
    assert asked == ["/4", "/0", "/1"]


def test_it_ends_when_the_time_is_up():
    async def timed():
        async with server(COUNTED) as (port, _):
            return await run(port, encode(["/"], port, {}), connections=3, seconds=0.05)

    outcome = asyncio.run(timed())
    assert len(outcome.latencies) >= 3
    assert 0.05 <= outcome.seconds < 10


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n", "429"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", "end cannot be told"),
        (COUNTED + b"more", "longer than"),
    ],
)
def test_any_other_answer_ends_the_run(answer, word):
    with pytest.raises(LoadError, match=word):
        asyncio.run(loaded(answer, most=5))


def test_a_closed_connection_ends_the_run():
    async def closing():
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            await run(port, encode(["/"], port, {}), connections=1, seconds=30)

    with pytest.raises(LoadError, match="closed a connection"):
        asyncio.run(closing())


def test_lengths():
    assert body_length(b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH:  12 \r\n") == 12
    assert body_length(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n") == -1
    assert body_length(b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n", 304) == 0
