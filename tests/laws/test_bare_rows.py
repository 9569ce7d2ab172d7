"""Cells that have no row of `current`, as those of companies have not: nobody can tell it from an answer."""

import contextlib
from datetime import date
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from almanac.api.rows.redaction import Redaction
from almanac.pipeline.operate import verify as verifying
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.observations.newest.columns import Readings
from almanac.store.observations.reading import pages, runs, states
from almanac.store.observations.reading import selection as selecting
from almanac.store.observations.reading.selection import SORTS, Selection
from almanac.store.observations.writing import batch
from tests.laws.test_now_and_pages import arrivals, consents, orders
from tests.support.generators import histories
from tests.support.small_world import START, SmallWorld, shown

FAST = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
BARE = "country_bbb"
ENTITIES = ("country_aaa", BARE)
FILTERS = [{}, {"entities": (BARE,)}, {"entities": ("country_aaa",)}, {"entities": ENTITIES, "kind": "derived"}]

days = st.none() | st.integers(-1, 6)


def bare(entity):
    return entity == BARE


@contextlib.contextmanager
def without_rows():
    """As if that entity were a company."""
    same, other = f"+{{}} = '{BARE}'", f"+{{}} <> '{BARE}'"
    with contextlib.ExitStack() as stack:
        for module in (batch, pages, runs, states, verifying):
            stack.enter_context(patch.object(module, "is_company", bare))
        stack.enter_context(patch.object(selecting, "COMPANY", same))
        stack.enter_context(patch.object(selecting, "NO_COMPANY", other))
        yield


def built(responses, events):
    world = SmallWorld()
    world.send(responses)
    for name, arguments in events:
        getattr(world, name)(*arguments)
    return world


def lists(world, as_of):
    """Every list, in one page."""
    return [
        shown(world.rows(as_of, every=every, sort=sort, descending=descending))
        for sort in SORTS
        for every in (False, True)
        for descending in (False, True)
    ]


def walked(world, as_of, selection, limit):
    """The default list as its pages go out: joined where they are, else row by row."""
    told, after = [], None
    while True:
        view = world.view()
        asked = {"version": view.version, "as_of": as_of, "descending": False, "after": after, "limit": limit}
        shape = Redaction(view, view.version, as_of, date(2025, 4, 1))
        joined = view.runs.page(selection, **asked)
        if joined is None:
            found, after = view.pages.found(selection, **asked)
            told.append(shape.found(found, lineage=True)[0])
        else:
            found, after = joined
            told.append(shape.runs(found, lineage=True)[0])
        if after is None:
            return b",".join(told)


def columns(world, as_of):
    view, readings = world.view(), Readings()
    found = []
    for indicator in world.catalog.indicators:
        column = readings.column(view, indicator, version=view.version, as_of=as_of)
        places = column.rows(readings.numbers(ENTITIES))
        found.append(
            (places.tolist(), np.nan_to_num(column.values, nan=-7.0).tolist(), column.texts, column.known.tolist())
        )
    return found


@FAST
@given(histories, st.lists(arrivals | orders | consents, max_size=3), days, st.sampled_from(FILTERS), st.integers(1, 5))
def test_an_answer_is_the_same_whether_its_cells_have_rows_of_current_or_not(responses, events, day, filters, limit):
    as_of, selection = None if day is None else START + day * 86_400, Selection(**filters)
    with built(responses, events) as plain:
        expected = [lists(plain, as_of), walked(plain, as_of, selection, limit), columns(plain, as_of)]
    with without_rows(), built(responses, events) as world:
        kept = world.db.execute("SELECT count(*) FROM current JOIN topic USING(topic) WHERE entity = ?", (BARE,)).get
        assert kept == 0
        assert [lists(world, as_of), walked(world, as_of, selection, limit), columns(world, as_of)] == expected
        problems = list(verify(world, Checked()))
        assert [one for one in problems if "current" in one or "last vintage" in one] == []
