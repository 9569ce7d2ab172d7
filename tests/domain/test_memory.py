"""Pausing the search for cycles."""

import gc

import pytest

from almanac.domain.memory import uncollected
from tests.support.small_world import SmallWorld


def test_the_search_goes_on_afterwards_whatever_happened():
    with pytest.raises(ZeroDivisionError), uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()


def test_who_turned_it_off_finds_it_off():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_batch_pauses_it_until_it_is_written_or_undone():
    with SmallWorld() as world:
        with world.batch("test") as batch:
            assert not gc.isenabled()
            batch.touch()
        assert gc.isenabled()
        with pytest.raises(ZeroDivisionError), world.batch("test"):
            _ = 1 / 0
        assert gc.isenabled()
