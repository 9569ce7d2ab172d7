"""
Which responses are held for what they would withdraw, and which are of an older state of the data than one before, and so
what is served, does not depend on the order in which they arrive, nor on when one of them was accepted.
"""

import contextlib
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.observations import ReportedValue
from almanac.pipeline.ingest import mass_withdrawal_guard
from almanac.store.log import payloads
from tests.support.generators import histories
from tests.support.small_world import ALPHA, MONTHS, SmallWorld, sent, shown


@st.composite
def files(draw):
    """A file of one or more of three series, of which each lists some months and leaves the others out."""
    blocks = []
    for native in draw(st.lists(st.sampled_from(["level.aaa", "level.bbb", "jobless.aaa"]), min_size=1, unique=True)):
        months = draw(st.lists(st.sampled_from(MONTHS), unique=True))
        lines = [ReportedValue(month, draw(st.sampled_from([1.0, 2.0]))) for month in sorted(months)]
        updated = draw(st.none() | st.integers(1, 3))
        blocks.append((native, lines, (MONTHS[0], MONTHS[-1]), *([] if updated is None else [updated])))
    return sent(ALPHA, draw(st.integers(0, 5)), *blocks)


#: Of the files a sixth and more is held, of the others one response in thirty.
HISTORIES = st.lists(files(), min_size=2, max_size=7) | histories


@contextlib.contextmanager
def touchy():
    """The world of these laws is small: one value that goes is much."""
    with mock.patch.object(mass_withdrawal_guard, "LEAST", 0), mock.patch.object(mass_withdrawal_guard, "ONE_IN", 4):
        yield


def verdicts(world):
    return sorted(
        (row.capture, row.state, row.reason) for row in payloads.every(world.db) if row.state != payloads.IGNORED
    )


def check(responses, data):
    accepted = data.draw(st.lists(st.sampled_from(responses), max_size=2, unique=True), label="accepted")
    with touchy(), SmallWorld() as expected, SmallWorld() as world:
        for one in accepted:
            expected.accept(one)
        expected.send(sorted(responses, key=lambda one: one.order))
        left, waiting = data.draw(st.permutations(responses)), list(accepted)
        while left or waiting:
            if waiting and (not left or data.draw(st.booleans(), label="accept now")):
                world.accept(waiting.pop())
            if left:
                size = data.draw(st.integers(1, 3), label="in one transaction")
                world.send(left[:size], together=True)
                left = left[size:]
        assert verdicts(world) == verdicts(expected)
        assert world.open_rows() == expected.open_rows()
        for moment in expected.moments():
            assert shown(world.rows(moment, every=True)) == shown(expected.rows(moment, every=True))


@given(HISTORIES, st.data())
def test_the_same_are_held_in_any_order_of_arrival(responses, data):
    check(responses, data)
