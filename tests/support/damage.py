"""Payloads with bytes altered, the same ones every time."""

import random


def altered(whole, count):
    """So many copies, each with one byte or three set to anything."""
    chance = random.Random(7)
    for _ in range(count):
        body = bytearray(whole)
        for _ in range(chance.choice((1, 3))):
            body[chance.randrange(len(body))] = chance.randrange(256)
        yield bytes(body)
