"""What goes wrong with publishers, as a stand-in's trouble."""

import random
from collections.abc import Callable
from dataclasses import replace

from tests.publishers.room import Asked, Reply, Room
from tests.publishers.standin import Trouble


def now_and_then(share: float, chance: random.Random) -> Trouble:
    """So many of all answers fail: with an error of the server's, or cut off in the middle."""

    def trouble(room: Room, asked: Asked, reply: Reply) -> Reply:
        if chance.random() >= share:
            return reply
        bad = chance.choice([503, 500, 502, 0])
        return Reply(b"Service Unavailable", "text/html", bad) if bad else replace(reply, cut=True)

    return trouble


def down(name: str, first: float, last: float) -> Trouble:
    """A publisher answers nothing but 503 for a while."""

    def trouble(room: Room, asked: Asked, reply: Reply) -> Reply:
        if room.name == name and first <= asked.now < last:
            return Reply(b"Down for maintenance", "text/html", 503)
        return reply

    return trouble


def altered(name: str, word: str, first: float, last: float, change: Callable[[bytes], bytes]) -> Trouble:
    """For a while the answers whose address has a word in it are others. What they have of series is not told."""

    def trouble(room: Room, asked: Asked, reply: Reply) -> Reply:
        if room.name == name and word in asked.url and reply.status == 200 and first <= asked.now < last:
            return replace(reply, body=change(reply.body), series={})
        return reply

    return trouble


def without_the_middle(body: bytes) -> bytes:
    """A file that has shrunk: of its lines the first and the last twenty."""
    lines = body.split(b"\r\n")
    return b"\r\n".join([*lines[:20], *lines[-20:]])
