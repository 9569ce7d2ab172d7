"""Derived series whose cells are computed elsewhere, and only when all before them are begun, are stored the same."""

import pickle
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.pipeline.derive import series_at_work
from almanac.pipeline.derive.derivation import Deriver
from almanac.pipeline.processes import Job, Processes
from tests.laws.test_lists import apply, arrivals, consents, orders
from tests.support.generators import histories
from tests.support.small_world import SmallWorld

#: Of these rows bear the time of the clock, or an id or a beginning by chance.
OF_THE_RUN = {"meta", "version", "run", "payload", "change_token"}


class Elsewhere(Processes):
    """As if a worker were always free: what it is given and what it gives goes through what carries it there."""

    def __init__(self):
        super().__init__(2)
        self.done = 0

    def job(self, work, *arguments, weight):
        assert weight > 0
        work, arguments = pickle.loads(pickle.dumps((work, arguments)))
        self.done += 1
        sent = Future()
        sent.set_result(pickle.loads(pickle.dumps(work(*arguments))))
        return Job(work, arguments, sent)


def tables(world):
    """Every row of every table, numbers of rows too."""
    names = [name for name in world.db.tables() if name not in OF_THE_RUN]
    return {name: sorted(map(repr, world.db.execute(f'SELECT * FROM "{name}"'))) for name in names}


@pytest.fixture
def every_cell(monkeypatch):
    """No series has too few cells to be computed elsewhere, but for those that have none."""
    monkeypatch.setattr(series_at_work, "_FEW_CELLS", 0)


def check(done, found, events):
    with SmallWorld() as here, SmallWorld() as there:
        away = Elsewhere()
        there.deriver = Deriver(there.catalog, there.db, away)
        for world in (here, there):
            world.send(found)
            for event in events:
                apply(world, event)
        assert tables(there) == tables(here)
        done.append(away.done)


def test_cells_that_are_computed_elsewhere_are_stored_the_same(every_cell):
    done = []

    @given(histories, st.lists(consents | orders | arrivals, max_size=3))
    def law(found, events):
        check(done, found, events)

    law()
    assert sum(done) > 10
