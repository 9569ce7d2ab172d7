"""The fields of both screeners: read from every column once, then kept until the data or the rights change."""

import pytest

from almanac.api.endpoints.screeners.screening import AlignedColumn
from almanac.store.observations.reading.newest import Readings
from tests.support.service import Service
from tests.support.withholding import withhold

PATHS = ["/screener/filters", "/equity-screener/filters"]


def whole(service: Service, path: str) -> bytes:
    """The answer but for the request's own number."""
    answer = service.get(path)
    assert answer.status_code == 200
    return answer.content.partition(b',"meta"')[0]


@pytest.mark.parametrize("path", PATHS)
def test_fields_asked_again_read_no_column(own, monkeypatch, path):
    """What everybody asks at each look is not made anew: the same bytes, without a look at a column."""
    first, read = whole(own, path), []
    made = AlignedColumn.of
    monkeypatch.setattr(AlignedColumn, "of", lambda column, numbers: read.append(1) or made(column, numbers))
    for _ in range(3):
        assert whole(own, path) == first
    assert not read


def test_kept_fields_follow_rights_and_plans(own):
    """A source that is restricted takes its values out of the bounds at once; another plan has its own answer."""
    for _ in range(3):
        told = {one["field"]: one for one in own.ok("/screener/filters")["fields"]}
    assert told["gov_yield_10y"]["entityCount"] == 2
    free = [own.get("/screener/filters", "free").json()["data"] for _ in range(3)]
    assert free[0] == free[1] == free[2]
    withhold(own, "mof-japan")
    after = {one["field"]: one for one in own.ok("/screener/filters")["fields"]}
    assert after["gov_yield_10y"]["entityCount"] == 1
    assert after["gov_yield_10y"]["min"] == after["gov_yield_10y"]["max"] != told["gov_yield_10y"]["min"]


def test_no_column_is_left_to_make_after_the_start(own, monkeypatch):
    """Whoever asks first for the fields of either screener, or screens by score, waits for no column."""
    other, made = Service(own.home), []
    other.app.warm()
    make = Readings._made
    monkeypatch.setattr(Readings, "_made", lambda *given: made.append(given[2]) or make(*given))
    for path in PATHS:
        other.ok(path)
    other.ok("/equity-screener", filter="score:gte:0", sort="score")
    assert made == []
    other.close()
