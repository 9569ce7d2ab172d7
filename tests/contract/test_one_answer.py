"""One question, one answer: /rates, /screener, briefs and /observations/latest tell the same yields, spreads and slopes."""

import random
from datetime import date, timedelta

import pytest

from almanac.reports.rates import SCOPES, TENORS

pytestmark = pytest.mark.slow

TODAY = date(2026, 11, 20)
PAST = sorted(TODAY - timedelta(days=back) for back in random.Random(12).sample(range(1, 1_500), 50))


def told(service, path, **parameters):
    return {row["indicatorId"].removeprefix("indicator_"): row for row in service.ok(path, limit=500, **parameters)}


def of_latest(rows, slug):
    found = rows.get(slug)
    return found and (found["valueNumeric"], found["periodEnd"])


def of_screener(service, scope, slug, when):
    rows = service.ok("/screener", filter=f"{slug}:gt:-1000", country=scope, **when)
    return (rows[0]["matches"][0]["value"], rows[0]["matches"][0]["periodEnd"]) if rows else None


def of_brief(brief, slug):
    found = [one for part in brief["sections"] for one in part["readings"] if one["indicatorId"] == f"indicator_{slug}"]
    return [(one["value"], one["periodEnd"]) for one in found]


def answers(service, scope, **when):
    """(what is asked, all answers to it) for a scope, spreads and slopes in basis points."""
    (analytics,) = service.ok(f"/rates/{scope}/history", **when) if when else [service.ok(f"/rates/{scope}")]
    brief = service.ok(f"/briefs/{scope}", **when)
    latest = told(service, "/observations/latest", country=scope, **when)
    curve = {leg["tenor"]: (leg["yield"], leg["periodEnd"]) for leg in analytics["curve"]}

    def others(slug):
        return [of_latest(latest, slug), of_screener(service, scope, slug, when), *of_brief(brief, slug)]

    for tenor in TENORS:
        yield f"{tenor} yield", [curve.get(tenor), *others(f"gov_yield_{tenor}")]
    for spread in analytics["spreads"]:
        for peer in spread["peers"]:
            # Where the legs are of one day; otherwise each answers what it says: the latest legs, or the latest common day.
            if spread["tenor"] == "10y" and peer["scope"] == "USA" and peer["dateGapDays"] == 0:
                asked = [(value, end) for value, end in others("sovereign_spread_10y_usa")]
                yield "spread to the US", [(peer["spreadBp"], peer["periodEnd"]), *in_basis_points(asked)]
    for slope in analytics["slopes"]:
        (day,) = {leg["periodEnd"] for leg in slope["legs"]}
        asked = others(f"yield_slope_{slope['name']}")
        yield slope["name"], [(slope["valueBp"], day), *in_basis_points(asked)]


def in_basis_points(found):
    return [one and (round(100 * one[0], 9), one[1]) for one in found]


@pytest.mark.parametrize("scope", SCOPES)
def test_today(whole, scope):
    for question, found in answers(whole, scope):
        assert len(found) >= 3, question
        assert len(set(found)) == 1, (question, found)


def test_at_fifty_past_days(whole):
    differences = []
    asked = 0
    for day in PAST:
        for scope in SCOPES:
            for question, found in answers(whole, scope, as_of=day.isoformat()):
                asked += 1
                if len(set(found)) > 1:
                    differences.append((day, scope, question, found))
    assert asked > 50 * len(SCOPES) * 6
    assert not differences, (len(differences), differences[:5])
