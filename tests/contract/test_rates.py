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


def test_takes_no_parameters(sandbox):
    """Takes no query parameters (an unknown query parameter is rejected with 400)."""
    for name in ("as_of", "limit", "tenor", "order", "cursor"):
        error = sandbox.error("/rates/USA", 400, **{name: "2026-01-01"})
        assert error["message"].startswith(f"'{name}' is not a parameter of /rates/{{scope}}")


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
        world.db.execute(f"DELETE FROM current WHERE {one} AND period >> 14 > ?", (date(2026, 11, 8).toordinal(),))
        left = world.db.execute(f"SELECT max(period >> 14) FROM current WHERE {one}").get
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
