"""Request ids: ULIDs that are unique, sort by time, and start anew in a forked process."""

import os
import re
import warnings

from almanac.api.server import request_ids
from almanac.api.server.request_ids import RequestIds

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def decoded(text):
    bits = 0
    for letter in text[4:].decode():
        bits = bits << 5 | ALPHABET.index(letter)
    return bits >> 80, bits & ((1 << 80) - 1)


def test_time_comes_first():
    """48 bits of milliseconds, then 80 bits; the sample time is that of the specification."""
    made = RequestIds(lambda: 1_469_918_176_385 * 1_000_000 + 999_999)()
    assert re.fullmatch(rb"req_[0-9A-HJKMNP-TV-Z]{26}", made)
    assert made.startswith(b"req_01ARYZ6S41")
    assert decoded(made)[0] == 1_469_918_176_385
    assert decoded(RequestIds(lambda: ((1 << 48) - 1) * 1_000_000)())[0] == (1 << 48) - 1


def test_they_are_counted_up_and_sort_by_time():
    moment = [1_700_000_000_000]
    ids = RequestIds(lambda: moment[0] * 1_000_000)
    made = []
    for number in range(3_000):
        moment[0] += number % 2
        made.append(ids())
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {decoded(one)[1] - decoded(made[0])[1] for one in made} == set(range(3_000))


def test_the_random_part_is_fresh_after_a_million(monkeypatch):
    monkeypatch.setattr(request_ids, "_NUMBERED", 4)
    ids = RequestIds(lambda: 0)
    parts = [decoded(ids())[1] >> 20 for _ in range(12)]
    assert len(set(parts)) == 3
    assert all(len(set(parts[start : start + 4])) == 1 for start in (0, 4, 8))


def test_a_forked_process_has_its_own():
    """Workers that are forked from one process must not repeat each other's ids."""
    ids = RequestIds(lambda: 0)
    ids()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Newer interpreters warn of forking a process with threads; this child does next to nothing.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.write(writing, ids())
        os._exit(0)
    os.waitpid(child, 0)
    theirs, ours = os.read(reading, 100), ids()
    os.close(reading)
    os.close(writing)
    assert decoded(theirs)[1] >> 20 != decoded(ours)[1] >> 20
