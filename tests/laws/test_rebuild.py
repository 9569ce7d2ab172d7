"""A store built anew from its raw payloads serves the same rows under the same ids, whatever order they once came in."""

import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.pipeline.operate.rebuild import rebuild
from tests.support.generators import histories
from tests.support.small_world import Reader, SmallWorld, shown


@pytest.fixture
def connector(monkeypatch):
    """The invented format, where the pipeline looks for connectors."""
    module = types.ModuleType("almanac.sources.feeds.invented")
    module.CONNECTOR = Reader()
    monkeypatch.setitem(sys.modules, module.__name__, module)


@given(histories, st.data())
def test_a_rebuilt_store_serves_the_same_rows_under_the_same_ids(connector, found, data):
    with SmallWorld() as world:
        world.send(data.draw(st.permutations(found)))
        rows, lists = world.open_rows(), [shown(world.rows(every=every)) for every in (True, False)]
        version, captures = world.version, len(list(world.raw.captures()))
        assert rebuild(world, lambda _: None) == captures
        assert world.open_rows() == rows
        assert [shown(world.rows(every=every)) for every in (True, False)] == lists
        assert world.version == version + 1
        # And it goes on from there as if nothing had been.
        with SmallWorld() as straight:
            more = data.draw(histories, label="later")
            world.send(more)
            straight.send(sorted([*found, *more], key=lambda one: one.order))
            assert world.open_rows() == straight.open_rows()
