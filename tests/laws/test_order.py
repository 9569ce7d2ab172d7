"""What is served does not depend on the order in which responses arrive, nor on restarts in between."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.generators import histories
from tests.support.small_world import SmallWorld, shown


def in_order(responses):
    """The definition: all kept responses, by (fetched_at, SHA-256)."""
    world = SmallWorld()
    world.send(sorted(responses, key=lambda one: one.order))
    return world


@given(histories, st.data())
def test_any_order_of_arrival_serves_the_same_at_every_moment(responses, data):
    with in_order(responses) as expected, SmallWorld() as world:
        left = data.draw(st.permutations(responses))
        while left:
            size = data.draw(st.integers(1, 3), label="in one transaction")
            world.send(left[:size], together=True)
            left = left[size:]
            if data.draw(st.booleans(), label="restart"):
                world.restart()
        assert world.open_rows() == expected.open_rows()
        for moment in expected.moments():
            for every in (True, False):
                assert shown(world.rows(moment, every=every)) == shown(expected.rows(moment, every=every))
