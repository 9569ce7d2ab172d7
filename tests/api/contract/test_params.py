"""Parameters: typed values or a 400 whose message starts with the culprit's name."""

from datetime import date

import pytest

from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.contract.params import Param, day_of
from almanac.domain.periods import Period
from almanac.domain.times import wire_time

DAY = 86_400
#: 2026-10-31T00:00:00Z.
OCTOBER_31 = 1_793_404_800


def read(frame, query):
    """Typed values the toy listing's handler gets."""
    answer = frame.get(f"/observations?{query}")
    assert answer.status_code == 200, answer.text
    return frame.seen[-1].params


@pytest.mark.parametrize(
    ("query", "name", "reason"),
    [
        ("limt=3", "limt", "unknown"),
        ("LIMIT=3", "LIMIT", "unknown"),
        ("=3", "", "unknown"),
        ("limit=3&limit=3", "limit", "repeated"),
        ("limit=", "limit", "empty"),
        ("limit", "limit", "empty"),
        ("country=%20", "country", "empty"),
        ("indicator=a,,b", "indicator", "empty"),
        ("indicator=a,%20,b", "indicator", "empty"),
        ("indicator=a,b,c,d,e,f", "indicator", "range"),
        (f"indicator=a,{'b' * 201}", "indicator", "range"),
        (f"country={'x' * 201}", "country", "range"),
        (f"as_of={'9' * 201}", "as_of", "range"),
        (f"limit={'9' * 201}", "limit", "range"),
        (f"cursor={'x' * 4097}", "cursor", "range"),
        ("limit=0", "limit", "range"),
        ("limit=501", "limit", "range"),
        ("limit=99999999999999999999999999", "limit", "range"),
        ("limit=1e2", "limit", "type"),
        ("limit=%D9%A3", "limit", "type"),
        ("limit=%2B5", "limit", "type"),
        ("limit=-5", "limit", "type"),
        ("limit=5.0", "limit", "type"),
        ("frequency=hourly", "frequency", "choice"),
        ("sort=value", "sort", "choice"),
        ("order=up", "order", "choice"),
        ("period=2026-13", "period", "type"),
        ("period=October", "period", "type"),
        ("start_date=2026-02-30", "start_date", "type"),
        ("start_date=2026-10-31T12:00:00", "start_date", "type"),
        ("start_date=2026-10-31T25:00:00Z", "start_date", "type"),
        ("start_date=2026-10-31T12:00:00%2B24:00", "start_date", "type"),
        ("start_date=0000-01-01", "start_date", "type"),
        ("start_date=2026-10-02&end_date=2026-10-01", "start_date", "start_after_end"),
        ("as_of=2026-11-21", "as_of", "future"),
        ("as_of=2026-11-20T12:01:01Z", "as_of", "future"),
        ("country=%zz", "country", "encoding"),
        ("country=%C3", "country", "encoding"),
        ("%FF=1", "\ufffd", "encoding"),
        ("cursor=nonsense", "cursor", "forged"),
    ],
)
def test_refused(frame, query, name, reason):
    """The message starts with the offending parameter's name in single quotes; details: {parameter, reason, …}."""
    error = frame.error(f"/observations?{query}", 400)
    assert error["code"] == "bad_request"
    assert error["message"].startswith(f"'{name}' ")
    assert error["details"]["parameter"] == name
    assert error["details"]["reason"] == reason


def test_unknown_name_comes_with_the_nearest(frame):
    """Unknown name (with the nearest valid name as suggestion)."""
    details = frame.error("/observations?indcator=cpi", 400)["details"]
    assert details["suggestion"] == "indicator"
    assert "period" in details["allowed"]
    assert frame.error("/observations?freq=M", 400)["details"]["suggestion"] == "frequency"
    # `format` is like `sort`, `provider` like `order`, and neither is meant.
    for name in ("zzzzzz", "format", "provider"):
        assert "suggestion" not in frame.error(f"/observations?{name}=1", 400)["details"]
    assert (
        frame.error("/coverage?limit=1", 400)["message"] == "'limit' is not a parameter of /coverage; none is allowed"
    )


def test_typed_values(frame):
    """Defaults are filled in, absent ones are None, choices are canonical, lists lose repeats."""
    assert read(frame, "") == {
        "indicator": None,
        "country": None,
        "frequency": None,
        "sort": "topic",
        "period": None,
        "start_date": None,
        "end_date": None,
        "as_of": None,
        "limit": 100,
        "cursor": None,
        "order": "asc",
    }
    assert read(frame, "order=DESC")["order"] == "desc"
    assert read(frame, "frequency=m")["frequency"] == "monthly"
    assert read(frame, "indicator=a,b,a")["indicator"] == ("a", "b")
    assert read(frame, "indicator=a,%20b,+a%09")["indicator"] == ("a", "b")
    assert read(frame, "country=C%C3%B4te+d%27Ivoire")["country"] == "Côte d'Ivoire"
    assert read(frame, "&&limit=007&")["limit"] == 7
    assert read(frame, "period=2026-Q3")["period"] == Period(date(2026, 7, 1), date(2026, 9, 30))


@pytest.mark.parametrize(
    ("name", "text", "seconds"),
    [
        ("start_date", "2026-10-31", OCTOBER_31),
        ("end_date", "2026-10-31", OCTOBER_31 + DAY - 1),
        ("as_of", "2026-10-31", OCTOBER_31 + DAY - 1),
        ("start_date", "2026-10-31T00:00:00Z", OCTOBER_31),
        ("start_date", "2026-10-31t02:00:00%2B02:00", OCTOBER_31),
        ("start_date", "2026-10-31T02:00:00+02:00", OCTOBER_31),
        ("start_date", "2026-10-30T18:30:00-05:30", OCTOBER_31),
        ("start_date", "2026-10-31T00:00:00.25Z", OCTOBER_31 + 1),
        ("start_date", "2026-10-31T00:00:00.0Z", OCTOBER_31),
        ("end_date", "2026-10-31T00:00:00.25Z", OCTOBER_31),
        ("as_of", "2026-10-30T23:59:59.9999999Z", OCTOBER_31 - 1),
        ("start_date", "2026-10-31T00:00:00.0000001Z", OCTOBER_31 + 1),
        ("start_date", "0001-01-01T00:00:00%2B14:00", -62_135_596_800 - 14 * 3600),
    ],
)
def test_times(frame, name, text, seconds):
    """A bare date is its first second in start_date, its last in end_date and as_of; any UTC offset is accepted."""
    assert read(frame, f"{name}={text}")[name] == seconds


def test_as_of_today_means_now(frame):
    """A bare date means the end of that day, UTC (today: now). An instant later than now + 60 s → 400."""
    assert read(frame, "as_of=2026-11-20")["as_of"] == frame.now
    assert read(frame, "as_of=2026-11-20T12:01:00Z")["as_of"] == frame.now + 60
    assert frame.seen[-1].as_of == frame.now + 60
    read(frame, "")
    assert frame.seen[-1].as_of == frame.now


def test_days_stay_within_the_calendar():
    """A time at the edge of the calendar has a day, and a wire form."""
    assert day_of(-62_135_596_800 - 50_400) == date(1, 1, 1)
    assert day_of(253_402_300_800) == date(9999, 12, 31)
    assert wire_time(253_402_300_800) == "9999-12-31T23:59:59Z"


def test_declarations_are_checked():
    """A declaration that cannot work is refused when it is made."""
    with pytest.raises(ValueError, match="sort has no choices"):
        Param("sort", "", "enum")
    with pytest.raises(ValueError, match="twice"):
        Endpoint("/x", "x", "X", lambda _: ItemAnswer(b"{}"), kind="list", params=(Param("limit", ""),))
    with pytest.raises(ValueError, match="which is not declared"):
        Endpoint("/x", "x", "X", lambda _: ItemAnswer(b"{}"), params=(Param("start", "", until="end"),))
    with pytest.raises(ValueError, match="in its braces"):
        Endpoint("/x/{y}", "x", "X", lambda _: ItemAnswer(b"{}"))
    with pytest.raises(ValueError, match="`longest`"):
        Param("name", "", maximum=3)
