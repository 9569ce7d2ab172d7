"""GET /rates/{scope}: spreads, means and slopes from the latest yields, over the simulated world's seven scopes."""

from datetime import date
from itertools import product

import pytest

from tests.support.invented_mirror import mof_value, treasury_value

SCOPES = ["AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA"]
TENORS = ["2y", "5y", "10y", "30y"]


@pytest.fixture(scope="module")
def yields(sandbox):
    """The latest yield of each scope and tenor, from the observations themselves."""
    found = {}
    for scope, tenor in product(SCOPES, TENORS):
        (row,) = sandbox.ok("/observations/latest", country=scope, indicator=f"gov_yield_{tenor}")
        found[scope, tenor] = row
    return found


@pytest.mark.parametrize("scope", SCOPES)
def test_curve(sandbox, yields, scope):
    """Computed from the latest public government-bond yields already served by the service."""
    rates = sandbox.ok(f"/rates/{scope}")
    assert (rates["scope"], rates["name"]) == (scope, sandbox.ok(f"/countries/{scope}")["name"])
    assert rates["currency"] == sandbox.ok(f"/countries/{scope}")["currency"]
    assert [point["tenor"] for point in rates["curve"]] == TENORS
    for point in rates["curve"]:
        row = yields[scope, point["tenor"]]
        assert point == {
            "tenor": point["tenor"], "yield": row["valueNumeric"], "periodEnd": row["periodEnd"], "observedAt": row["observedAt"],
            "seriesId": row["metadata"]["seriesId"], "sourceId": row["sourceId"],
            "curveType": row["metadata"]["curveType"], "compounding": row["metadata"]["compounding"],
        }  # fmt: skip
    assert rates["asOf"] == max(row["observedAt"] for row in yields.values())


@pytest.mark.parametrize("scope", SCOPES)
def test_spreads(sandbox, yields, scope):
    """Sovereign spreads per tenor (2y, 5y, 10y, 30y) against each peer and against the peer mean, in basis points."""
    spreads = sandbox.ok(f"/rates/{scope}")["spreads"]
    peers = [peer for peer in SCOPES if peer != scope]
    assert [spread["tenor"] for spread in spreads] == TENORS
    for spread in spreads:
        own = yields[scope, spread["tenor"]]["valueNumeric"]
        others = {peer: yields[peer, spread["tenor"]]["valueNumeric"] for peer in peers}
        assert [(one["scope"], one["yield"]) for one in spread["peers"]] == list(others.items())
        for one in spread["peers"]:
            assert one["spreadBp"] == pytest.approx(100 * (own - others[one["scope"]]))
            gap = date.fromisoformat(one["periodEnd"][:10]) - date.fromisoformat(
                yields[scope, spread["tenor"]]["periodEnd"][:10]
            )
            assert (one["dateGapDays"], one["excluded"]) == (gap.days, None)
        assert spread["peerCount"] == 6
        assert spread["peerMean"] == pytest.approx(sum(others.values()) / 6)
        assert spread["spreadToMeanBp"] == pytest.approx(100 * (own - sum(others.values()) / 6))


@pytest.mark.parametrize("scope", SCOPES)
def test_slopes(sandbox, yields, scope):
    """Curve slopes (2s10s and 5s30s) within each country."""
    rates = sandbox.ok(f"/rates/{scope}")
    told = [(scope, one) for one in rates["slopes"]] + [(one["scope"], one) for one in rates["peerSlopes"]]
    assert [(place, one["name"]) for place, one in told] == [
        (place, name) for place in [scope, *(p for p in SCOPES if p != scope)] for name in ("2s10s", "5s30s")
    ]
    for place, slope in told:
        short, long = {"2s10s": ("2y", "10y"), "5s30s": ("5y", "30y")}[slope["name"]]
        assert slope["valueBp"] == pytest.approx(
            100 * (yields[place, long]["valueNumeric"] - yields[place, short]["valueNumeric"])
        )
        assert slope["excluded"] is None
        assert [(leg["tenor"], leg["yield"]) for leg in slope["legs"]] == [
            (tenor, yields[place, tenor]["valueNumeric"]) for tenor in (short, long)
        ]


def test_scopes(sandbox):
    """
    Supported scopes: AUS, CAN, CHE, EUR, GBR, JPN, USA, in any spelling that resolves exactly. Any other returns 404, and the
    error lists the supported scopes.
    """
    for scope in SCOPES:
        assert sandbox.ok(f"/rates/{scope.lower()}") == sandbox.ok(f"/rates/{scope}")
    for scope, names in (
        ("USA", ("us", "US", "united-states", "United States", "country_usa", "840", "America")),
        ("GBR", ("GB", "UK", "Great%20Britain")),
        ("EUR", ("euro-area", "Euro Area", "region_euro_area", "Eurozone")),
    ):
        for name in names:
            assert sandbox.ok(f"/rates/{name}") == sandbox.ok(f"/rates/{scope}"), name
    for other in ("FRA", "france", "x", "European Union", "United Stats"):
        error = sandbox.error(f"/rates/{other}", 404)
        assert error["code"] == "not_found"
        assert all(scope in error["message"] for scope in SCOPES)
        assert error["details"]["supportedScopes"] == SCOPES


def test_a_place_whose_currency_has_a_curve_is_told_of_it(service):
    error = service.error("/rates/Germany", 404)
    assert error["message"].endswith("; Germany has no curve of its own here, and EUR is that of its currency, EUR")
    assert error["details"]["suggestion"] == "EUR"
    assert "suggestion" not in service.error("/rates/Brazil", 404)["details"]


def test_takes_no_parameters(sandbox):
    """Takes no query parameters (an unknown query parameter is rejected with 400)."""
    for name in ("as_of", "limit", "tenor", "order", "cursor"):
        error = sandbox.error("/rates/USA", 400, **{name: "2026-01-01"})
        assert error["message"].startswith(f"'{name}' is not a parameter of /rates/{{scope}}")
    for name in ("as_of", "start_date", "end_date"):
        error = sandbox.error("/rates/USA", 400, **{name: "2026-01-01"})
        assert error["message"] == (
            f"'{name}' is not a parameter of /rates/{{scope}}, but /rates/{{scope}}/history takes it; none is allowed"
        )
    assert "but" not in sandbox.error("/rates/USA", 400, tenor="10y")["message"]
    assert "but /observations/changes takes it" in sandbox.error("/observations", 400, since="1")["message"]


def test_the_past_is_asked_of_the_history(sandbox):
    """`as_of`: what was known then, as /rates says it; `start_date`, `end_date`: a row for each day of the scope's curve."""
    (now,) = sandbox.ok("/rates/USA/history")
    assert {name: value for name, value in now.items() if name != "periodEnd"} == sandbox.ok("/rates/USA")
    (then,) = sandbox.ok("/rates/usa/history", as_of="2026-10-02")
    yields = sandbox.ok(
        "/observations/latest",
        country="USA",
        indicator_id=",".join(f"gov_yield_{t}" for t in TENORS),
        as_of="2026-10-02",
    )
    assert {point["tenor"]: (point["yield"], point["periodEnd"]) for point in then["curve"]} == {
        row["indicatorId"].rpartition("_")[2]: (row["valueNumeric"], row["periodEnd"]) for row in yields
    }
    assert then["asOf"] == "2026-10-02T23:59:59Z"
    assert then["periodEnd"] == max(row["periodEnd"] for row in yields)
    span = {"start_date": "2026-10-05", "end_date": "2026-10-16"}
    rows = sandbox.walk("/rates/USA/history", limit=3, **span)
    days = {
        row["periodEnd"]
        for row in sandbox.walk(
            "/observations",
            country="USA",
            indicator="gov_yield_10y",
            period_start="2026-10-05",
            period_end="2026-10-16",
        )
    }
    assert [row["periodEnd"] for row in rows] == sorted(days)
    assert len(days) > 5
    assert sandbox.walk("/rates/USA/history", limit=2, order="desc", **span) == rows[::-1]
    for row in rows:
        assert [point["tenor"] for point in row["curve"]] == TENORS
        assert {point["periodEnd"] for point in row["curve"]} == {row["periodEnd"]}
        assert [(one["name"], one["excluded"]) for one in row["slopes"]] == [("2s10s", None), ("5s30s", None)]
        assert [len(spread["peers"]) for spread in row["spreads"]] == [6] * 4
    assert sandbox.ok("/rates/USA/history", as_of="1990-01-01") == []
    error = sandbox.error("/rates/FRA/history", 404)
    assert error["details"]["supportedScopes"] == SCOPES
    error = sandbox.error("/rates/USA/history", 400, tenor="10y")
    assert error["message"].startswith("'tenor' is not a parameter of /rates/{scope}/history; allowed are as_of, ")


def slope_and_series(service):
    """Japan's 2s10s of /rates, and what the derived series and the brief say of it, in basis points and with their days."""
    slope = next(one for one in service.ok("/rates/JPN")["slopes"] if one["name"] == "2s10s")
    rows = service.ok("/observations/latest", country="JPN", indicator="yield_slope_2s10s")
    brief = [one for part in service.ok("/briefs/JPN")["sections"] for one in part["readings"]]
    told = [(row["valueNumeric"], row["periodEnd"]) for row in rows]
    told += [(one["value"], one["periodEnd"]) for one in brief if one["indicatorId"] == "indicator_yield_slope_2s10s"]
    return slope, [(round(100 * value, 9), day) for value, day in told]


def forget(service, indicator, condition):
    """Leave out of the store what Japan's source has of an indicator, of days that meet a condition on their ordinal `day`."""
    series = f"(SELECT series FROM series WHERE id = 'mof-japan:country_jpn:{indicator}:D')"
    with service.world() as world, world.batch("test") as batch:
        batch.touch()
        days = condition.replace("day", "(period >> 14)")
        world.db.execute(f"DELETE FROM vintages WHERE series = {series} AND {days}")


def test_a_source_that_stops_gives_the_slope_of_the_newest_day_with_both_legs(own):
    """Never a leg of one year less a leg of another: the endpoint, the series and the brief tell the slope of one day."""
    last = date(2026, 10, 30).toordinal()
    for one in ("gov_yield_2y", "yield_slope_2s10s"):
        forget(own, one, f"day > {last}")
    found, others = slope_and_series(own)
    day = found["legs"][0]["periodEnd"]
    assert date.fromisoformat(day[:10]) <= date(2026, 10, 30)
    assert {leg["periodEnd"] for leg in found["legs"]} == {day}
    assert found["excluded"] is None
    assert (set(others), len(others)) == ({(found["valueBp"], day)}, 2)
    assert found["valueBp"] == pytest.approx(100 * (found["legs"][1]["yield"] - found["legs"][0]["yield"]))
    # The curve has the newest yields all the same, and the note says what the slope is of.
    rates = own.ok("/rates/JPN")
    assert [point["periodEnd"][:10] for point in rates["curve"]][2] == "2026-11-18"
    assert f"JPN 2s10s is of {day[:10]}, the newest day on which both its legs are known." in rates["comparability"]


def test_legs_without_a_day_in_common_are_no_slope(own):
    """Legs more than ten days apart: `excluded: "stale"`, value null; the series has nothing either."""
    cut = date(2026, 10, 30).toordinal()
    forget(own, "yield_slope_2s10s", "day > 0")
    forget(own, "gov_yield_2y", f"day > {cut}")
    forget(own, "gov_yield_10y", f"day <= {cut + 15}")
    found, others = slope_and_series(own)
    assert (found["valueBp"], found["excluded"], others) == (None, "stale", [])
    assert len({leg["periodEnd"] for leg in found["legs"]}) == 2
    peers = [one for one in own.ok("/rates/USA")["peerSlopes"] if one["scope"] == "JPN"]
    assert [(one["name"], one["excluded"]) for one in peers] == [("2s10s", "stale"), ("5s30s", None)]


@pytest.mark.parametrize("path", ["/rates/JPN", "/rates/JPN/history"])
def test_a_tenor_that_is_published_no_more_is_none_of_the_curve(own, path):
    """A curve is of its time: neither the yield nor the slope of long ago stands beside those of today."""
    last = date(2026, 10, 18).toordinal()
    for one in ("gov_yield_2y", "yield_slope_2s10s"):
        forget(own, one, f"day >= {last}")
    told = own.ok(path)
    found = told[0] if isinstance(told, list) else told
    assert [point["tenor"] for point in found["curve"]] == ["5y", "10y", "30y"]
    assert [spread["tenor"] for spread in found["spreads"]] == ["5y", "10y", "30y"]
    assert [slope["name"] for slope in found["slopes"]] == ["5s30s"]
    assert [one for one in found["comparability"] if one.endswith("too old for a curve of 2026-11-18.")]
    usa = own.ok(path.replace("JPN", "USA"))
    usa = usa[0] if isinstance(usa, list) else usa
    assert [[peer["scope"] for peer in spread["peers"]] for spread in usa["spreads"]] == [[], ["JPN"], ["JPN"], ["JPN"]]
    assert [slope["name"] for slope in usa["peerSlopes"] if slope["scope"] == "JPN"] == ["5s30s"]


def test_a_slope_of_long_ago_is_none_of_the_curve(own):
    """Both legs are known today, of no day in common: the slope of the last common day is no answer to how the curve is."""
    forget(own, "gov_yield_2y", "day > 0 AND day % 2 = 0")
    forget(own, "gov_yield_10y", f"day >= {date(2026, 10, 1).toordinal()} AND day % 2 = 1")
    forget(own, "yield_slope_2s10s", f"day >= {date(2026, 10, 1).toordinal()}")
    slope = next(one for one in own.ok("/rates/JPN")["slopes"] if one["name"] == "2s10s")
    days = {leg["periodEnd"][:10] for leg in slope["legs"]}
    assert min(days) > "2026-11-01"


def test_absent_tenors_and_peers(service):
    """A tenor with no ingested yield is absent, not interpolated; a peer without it is left out."""
    usa, day = service.ok("/rates/USA"), date(2026, 11, 18)
    assert [point["tenor"] for point in usa["curve"]] == TENORS
    assert [[one["scope"] for one in spread["peers"]] for spread in usa["spreads"]] == [["JPN"]] * 4
    (japan,) = usa["spreads"][2]["peers"]
    newest = treasury_value("BC_10YEAR", date(2026, 11, 19))
    assert japan == {
        "scope": "JPN", "yield": mof_value(10, day), "spreadBp": pytest.approx(100 * (newest - mof_value(10, day))),
        "periodEnd": "2026-11-18T00:00:00Z", "dateGapDays": -1, "excluded": None,
    }  # fmt: skip
    assert "2y, 5y, 10y, 30y: JPN is of 2026-11-18, USA of 2026-11-19." in usa["comparability"]
    empty = service.ok("/rates/CHE")
    assert (empty["curve"], empty["spreads"], empty["slopes"]) == ([], [], [])
    assert [slope["scope"] for slope in empty["peerSlopes"]] == ["JPN", "JPN", "USA", "USA"]


def test_a_stale_leg(own):
    """A peer's leg dated more than 10 days from the scope's own is listed with `excluded: "stale"`, outside mean and count."""
    one = "series = (SELECT series FROM series WHERE id = 'mof-japan:country_jpn:gov_yield_10y:D')"
    with own.world() as world, world.batch("test"):
        world.db.execute(f"DELETE FROM vintages WHERE {one} AND period >> 14 > ?", (date(2026, 11, 8).toordinal(),))
        left = world.db.execute(f"SELECT max(period >> 14) FROM vintages WHERE {one}").get
    last = date.fromordinal(left)
    spread = own.ok("/rates/USA")["spreads"][2]
    gap = (last - date(2026, 11, 19)).days
    assert gap < -10
    assert [(one["dateGapDays"], one["excluded"]) for one in spread["peers"]] == [(gap, "stale")]
    assert (spread["peerMean"], spread["spreadToMeanBp"], spread["peerCount"]) == (None, None, 0)
    # The other tenors are as they were.
    assert [s["peerCount"] for s in own.ok("/rates/USA")["spreads"]] == [1, 1, 0, 1]


def test_the_latest_reading_of_the_preferred_source(service):
    """The latest reading of each, by the order of preference."""
    (point,) = [p for p in service.ok("/rates/USA")["curve"] if p["tenor"] == "10y"]
    assert (point["sourceId"], point["periodEnd"]) == ("us-treasury-par", "2026-11-19T00:00:00Z")
    assert service.ok("/rates/USA", "free") == service.ok("/rates/USA", "pro")
