"""A query that comes again is checked again."""

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.api.server.auth import split_query

LIST = "/observations?as_of=2026-11-20&limit=3"


def test_today_means_the_moment_of_each_request(frame):
    """The bare date of today means now: a value that was read before is not the moment of that request."""
    for _ in range(2):
        frame.get(LIST)
        assert frame.seen[-1].params["as_of"] == frame.now
        frame.now += 60


def test_the_future_is_refused_although_it_was_the_present_before(frame):
    """Where the clock is set back, a day that was today is the future."""
    assert frame.get(LIST).status_code == 200
    frame.now -= 86_400
    assert frame.error(LIST, 400)["details"] == {"parameter": "as_of", "reason": "future"}


def test_the_key_and_the_method_are_judged_each_time(frame):
    """Scopes, keys, methods and bodies are no part of a query."""
    assert frame.get(LIST).status_code == 200
    assert frame.get(LIST, frame.NARROW).status_code == 403
    assert frame.get(LIST, frame.REVOKED).status_code == 401
    assert frame.request("POST", LIST).status_code == 405
    assert frame.request("GET", LIST, content=b"x").status_code == 400
    assert frame.request("HEAD", LIST).status_code == 200


@pytest.mark.parametrize("target", ["/observations?api_key=x", "/observations?contry=usa", "/observations?country=%zz"])
def test_what_is_refused_is_refused_again(frame, target):
    """Nothing is remembered of a refused query."""
    assert frame.error(target, 400)["details"] == frame.error(target, 400)["details"]


def test_path_values_are_remembered_with_the_path(frame):
    """`/indicators/cpi` asked twice has the same path values; another path has its own."""
    assert [frame.get("/indicators/cpi").status_code for _ in range(2)] == [200, 200]
    assert [frame.get("/indicators/gdp").status_code for _ in range(2)] == [404, 404]
    assert [context.path for context in frame.seen[-4:]] == [{"idOrSlug": "cpi"}] * 2 + [{"idOrSlug": "gdp"}] * 2


pieces = st.sampled_from([b"a", b"b=1", b"=", b"a=b=c", b"", b"x=%41", b"y=a+b", b"z=%C3%A9", "é=ü".encode(), b"w=%zz"])


@given(st.lists(pieces, max_size=6))
def test_a_query_without_escapes_is_split_as_any_other(found):
    """Split at `&`, then at the first `=`; both sides decoded once."""
    query = split_query(b"&".join(found))
    plain = [
        unquote_to_bytes(side.replace(b"+", b" ")).decode() for one in found if one for side in one.partition(b"=")[::2]
    ]
    assert [side for pair in query.pairs for side in pair] == plain
    assert query.broken == ("w" if b"w=%zz" in found else None)
