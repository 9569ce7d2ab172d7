"""Chunks of candidates, found as far as pages need them and remembered."""

from almanac.store.observations.newest.candidates import Chunk, FoundChunks, MoreChunks

ALL = [Chunk((name, name), (name, name), "[]") for name in "abcd"]


def more(after):
    place = 0 if after is None else "abcd".index(after[0]) + 1
    return MoreChunks(ALL[place : place + 1], ALL[place].last, place == len(ALL) - 1)


def test_none_is_passed_over_by_one_who_waits_while_another_finds_more():
    found = FoundChunks()
    slow = found.chunks(more)
    given = [next(slow), next(slow)]
    assert list(found.chunks(more)) == ALL
    assert given + list(slow) == ALL


def test_what_was_found_is_not_looked_for_again():
    found = FoundChunks()
    assert list(found.chunks(more)) == ALL
    assert list(found.chunks(lambda _: 1 / 0)) == ALL
