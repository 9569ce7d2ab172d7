"""Pausing the search for cycles."""

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.domain.memory import seldom_searched, uncollected
from almanac.pipeline import processes
from almanac.pipeline.workplace import Workplace
from almanac.store.engine.errors import StoreError
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


def test_whoever_loads_searches_seldom_meanwhile():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), seldom_searched():
        assert gc.get_threshold()[0] > 100 * before[0]
        _ = 1 / 0
    assert gc.get_threshold() == before


def test_a_worker_of_a_load_searches_seldom():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=processes._begin) as pool:
        assert pool.submit(gc.get_threshold).result()[0] > 100 * gc.get_threshold()[0]


@pytest.mark.parametrize("words", [["ingest", "--all", "--from", "nowhere"], ["sandbox"], ["derive"], ["rebuild"]])
def test_a_load_is_such_a_process(words, tmp_path, monkeypatch):
    seen = []

    def opened(*_, **__):
        seen.append(gc.get_threshold()[0])
        raise StoreError("enough seen")

    monkeypatch.setattr(Workplace, "__init__", opened)
    monkeypatch.setenv("ALMANAC_HOME", str(tmp_path))
    before = gc.get_threshold()[0]
    CliRunner().invoke(main, words)
    assert len(seen) == 1
    assert seen[0] > 100 * before
    assert gc.get_threshold()[0] == before
