"""Things met before are told from new ones, as far as there is room."""

from hypothesis import given
from hypothesis import strategies as st

from almanac.api.server.admission import AdmissionFilter


@given(st.lists(st.integers(-40, 40) | st.text(max_size=2), max_size=60))
def test_nothing_new_counts_as_met(shown):
    """It may forget, but takes nothing for met that was never shown. (What has one hash is one thing to it.)"""
    admission = AdmissionFilter(8)
    seen = set()
    for one in shown:
        assert not admission.admits(one) or hash(one) in seen
        seen.add(hash(one))
        assert admission.admits(one)


def test_a_newcomer_takes_the_place_of_another():
    admission = AdmissionFilter(8)
    assert [admission.admits(number) for number in (3, 4, 3, 11, 3, 4)] == [False, False, True, False, False, True]
