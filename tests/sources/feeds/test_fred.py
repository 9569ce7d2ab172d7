"""FRED's other responses, rights and plan. Every payload here is invented; the shape is the publisher's."""

import json
from dataclasses import replace
from datetime import date

import pytest
from msgspec.structs import replace as replace_spec

from almanac.domain.rights import Exposure
from almanac.sources.base import NamedRelease, Payload, ReleaseDate, Request, SourceChanged
from almanac.sources.feeds.fred.connector import CONNECTOR
from tests.support.invented_fred import BASE, KEY, SERIES, source


def parse(body, path, series=SERIES):
    return CONNECTOR.parse(Payload(BASE + path, json.dumps(body).encode(), 0, "application/json"), source(), series)


def test_an_error_body_is_named_without_the_key():
    body = {"error_code": 400, "error_message": f"Bad Request. {KEY} is not registered."}
    with pytest.raises(SourceChanged, match=r"^releases: error 400, Bad Request. \(key\) is not registered\.$"):
        parse(body, f"releases?api_key={KEY}")


@pytest.mark.parametrize("kind", ["category", "sources", "series/vintagedates", "series/categories", "maps/x"])
def test_kinds_nobody_reads_are_set_aside_by_name(kind):
    assert CONNECTOR.owns(BASE + kind)
    ignored = parse({"anything": []}, kind).ignored
    assert ignored is not None
    assert ignored.startswith(f"{kind}: ")


# Rights


def tags(*names):
    group = [
        {"name": n, "group_id": g, "notes": "", "created": "x", "popularity": 1, "series_count": 1} for n, g in names
    ]
    return {"realtime_start": "2099-01-01", "realtime_end": "2099-01-01", "tags": group}


@pytest.mark.parametrize("name", ["copyrighted: pre-approval required", "copyrighted: citation required", "new words"])
def test_a_copyright_tag_restricts_a_series(name):
    parsed = parse(tags((name, "cc"), ("usa", "geo")), "series/tags?series_id=MON")
    assert parsed.tightened == {"MON": (Exposure.restricted, f"FRED tags this series “{name}”.")}


def test_public_domain_and_tags_of_other_groups_restrict_nothing():
    body = tags(("public domain: citation requested", "cc"), ("copyrighted words", "gen"))
    assert parse(body, "series/tags?series_id=MON").tightened == {}
    assert parse(body, "series/tags?series_id=OTHER").ignored == "tags of OTHER, which the catalogue does not map"


def listed(native, notes=None, letter="M", units="Percent"):
    words = "title frequency units_short seasonal_adjustment seasonal_adjustment_short last_updated"
    days = "realtime_start realtime_end observation_start observation_end"
    more = {} if notes is None else {"notes": notes}
    return (
        {"id": native, "frequency_short": letter, "popularity": 1, "units": units, **more}
        | dict.fromkeys(words.split(), "x")
        | dict.fromkeys(days.split(), "2099-01-01")
    )


def listing(**lists):
    return {"realtime_start": "2099-01-01", "realtime_end": "2099-01-01", **lists}


def test_notes_that_claim_copyright_restrict_a_series():
    body = listing(
        seriess=[
            listed("MON", "Copyright, 2099, Somebody. Reprinted with permission."),
            listed("QRT", "In the public domain, not copyrighted.", "Q"),
            listed("OTHER", "Copyright."),
        ]
    )
    parsed = parse(body, "release/series?release_id=1")
    assert parsed.tightened == {"MON": (Exposure.restricted, "The publisher's notes on this series claim copyright.")}
    assert parse(listing(seriess=[listed("MON", "© Somebody")]), "series?series_id=MON").tightened.keys() == {"MON"}
    assert parse(listing(seriess=[listed("MON", "All rights reserved.")]), "series").tightened.keys() == {"MON"}
    assert parse(listing(seriess=[listed("MON")]), "series?series_id=MON").tightened == {}
    assert parse(listing(seriess=[listed("OTHER")]), "series?series_id=OTHER").ignored == (
        "series OTHER: no series of the catalogue among 1"
    )


def test_a_series_published_at_another_frequency_than_mapped_is_refused():
    with pytest.raises(SourceChanged, match="MON is x, the catalogue says monthly"):
        parse(listing(seriess=[listed("MON", letter="Q")]), "series?series_id=MON")


# Units


def on(native, unit, **more):
    return {native: replace_spec(SERIES[native], unit=unit, **more)}


@pytest.mark.parametrize(
    ("unit", "told"),
    [
        ("usd_millions", "Billions of U.S. Dollars"), ("usd_billions", "Millions of Dollars"), ("percent", "Index 2017=100"),
        ("usd_billions", "Percent"), ("thousands", "Persons"),
    ],
)  # fmt: skip
def test_a_series_in_another_unit_than_the_catalogue_s_is_withheld_and_named(unit, told):
    parsed = parse(listing(seriess=[listed("MON", units=told)]), "series?series_id=MON", on("MON", unit))
    assert parsed.tightened == {
        "MON": (Exposure.blocked, f"FRED states this series in '{told}', the catalogue in {unit}.")
    }
    assert parsed.unread == [f"unknown unit '{told}' of MON"]


def test_the_newest_statement_of_a_unit_counts_and_another_base_is_named():
    rows = [
        listed("QRT", letter="Q", units="Millions of Dollars") | {"realtime_end": "2098-01-01"},
        listed("QRT", letter="Q", units="Billions of Chained 2017 Dollars") | {"realtime_end": "9999-12-31"},
    ]
    parsed = parse(listing(seriess=rows), "series", on("QRT", "usd_billions", price_basis="chained 2017 dollars"))
    assert (parsed.tightened, parsed.unread) == ({}, [])
    parsed = parse(listing(seriess=rows), "series", on("QRT", "usd_billions", price_basis="chained 2012 dollars"))
    assert parsed.tightened == {}
    assert parsed.unread == ["unknown base 'Billions of Chained 2017 Dollars' of QRT"]


# Releases


def test_releases_and_their_dates():
    release = {"id": 10, "realtime_start": "2099-01-01", "realtime_end": "2099-01-01", "press_release": True}
    body = listing(
        releases=[{**release, "name": "Prices", "link": "https://example.org/"}, {**release, "name": "Jobs"}]
    )
    expected = [NamedRelease("10", "Prices", "https://example.org/"), NamedRelease("10", "Jobs", None)]
    for kind in ("releases", "release", "series/release"):
        assert parse(body, kind).releases == expected
    dates = listing(
        release_dates=[
            {"release_id": 10, "date": "2099-01-15"},
            {"release_id": 53, "date": "2099-01-30", "release_name": "x", "release_last_updated": "y"},
        ]
    )
    expected_days = [ReleaseDate("10", date(2099, 1, 15)), ReleaseDate("53", date(2099, 1, 30))]
    for kind in ("releases/dates", "release/dates"):
        assert parse(dates, kind).release_dates == expected_days


def test_a_list_that_is_longer_than_one_answer_is_followed_and_one_that_was_cut_is_refused():
    days = [{"release_id": 10, "date": f"2099-01-{day:02}"} for day in (1, 2)]
    asked = BASE + "releases/dates?file_type=json&limit=2&realtime_end=2099-01-15&realtime_start=2099-01-01"

    def followed(offset, count, url=asked):
        body = listing(release_dates=days, count=count, offset=offset, limit=2)
        payload = Payload(url, json.dumps(body).encode(), 0, "application/json")
        return [(one.url.partition("?")[2], dict(one.secret)) for one in CONNECTOR.follow(payload, source(), KEY)]

    rest = "limit=2&offset={}&realtime_end=2099-01-15&realtime_start=2099-01-01"
    assert followed(0, 5) == [("file_type=json&" + rest.format(2), {"api_key": KEY})]
    assert followed(2, 5, asked + "&offset=2") == [("file_type=json&" + rest.format(4), {"api_key": KEY})]
    assert followed(2, 4, asked + "&offset=2") == []
    for kind, items in (("releases/dates", {"release_dates": days}), ("releases", {"releases": []})):
        with pytest.raises(SourceChanged, match=f"^{kind}: lists [02], says 900 from 0 with limit 1000"):
            parse(listing(**items, count=900, offset=0, limit=1000), kind)
    with pytest.raises(SourceChanged, match=r"^series/tags MON: lists 0, says 3 from 0 with limit 1000"):
        parse(listing(tags=[], count=3, offset=0, limit=1000), "series/tags?series_id=MON")


# The plan


def test_plan_asks_for_archives_where_the_api_gives_them_whole():
    planned = CONNECTOR.plan(source(), SERIES, None, date(2099, 2, 20), KEY)
    ever = "&realtime_end=9999-12-31&realtime_start=1776-07-04"
    assert [replace(request, once_a_day=False) for request in planned[:13]] == [
        Request(BASE + path, {"api_key": KEY})
        for path in (
            "series/observations?file_type=json&series_id=DAY",
            f"series/observations?file_type=json{ever}&series_id=MON",
            f"series/observations?file_type=json{ever}&series_id=QRT",
            "series/observations?file_type=json&series_id=WEEK",
            "series/tags?file_type=json&series_id=DAY",
            "series/tags?file_type=json&series_id=MON",
            "series/tags?file_type=json&series_id=QRT",
            "series/tags?file_type=json&series_id=WEEK",
            "series?file_type=json&series_id=DAY",
            "series?file_type=json&series_id=MON",
            "series?file_type=json&series_id=QRT",
            "series?file_type=json&series_id=WEEK",
            "releases?file_type=json",
        )
    ]
    spans = [("2099-01-01", "2099-01-15"), ("2099-01-16", "2099-01-31"), ("2099-02-01", "2099-02-15")]
    spans += [("2099-02-16", "2099-02-28"), ("2099-03-01", "2099-03-15"), ("2099-03-16", "2099-03-31")]
    assert [request.url for request in planned[13:]] == [
        f"{BASE}releases/dates?file_type=json&include_release_dates_with_no_data=true&limit=1000"
        f"&realtime_end={last}&realtime_start={first}"
        for first, last in spans
    ]
    assert not any(KEY in request.url for request in planned)
    # What changes seldom is asked for once a day: all but observations, and the dates of the half month that today is in.
    assert [request.url for request in planned if not request.once_a_day] == [
        request.url for number, request in enumerate(planned) if number in {0, 1, 2, 3, 16}
    ]


def test_plan_since_a_day_asks_an_archive_for_what_was_known_then_and_changed_since():
    """Of no archive is a period left out: one of long ago that is revised today would be missed."""
    planned = CONNECTOR.plan(source(), SERIES, date(2099, 1, 5), date(2099, 2, 20), KEY)
    observed = [request.url for request in planned if "observations" in request.url]
    assert [("observation_start=2099-01-05" in url, "realtime_start=2099-01-05" in url) for url in observed] == [
        (True, False),
        (False, True),
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize("key", [None, ""])
def test_plan_without_a_key_names_the_setting(key):
    with pytest.raises(ValueError, match="source fred needs an API key in setting ALMANAC_X"):
        CONNECTOR.plan(source(key_setting="ALMANAC_X"), SERIES, None, date(2099, 1, 1), key)
