"""The complete simulated world through the real application: every list has rows, and every sentence that promises it holds.

The sentences are those of the command's description: each endpoint and each category of events has data in it, all
seven scopes of rates have all four tenors, 35 countries, 300 companies with ten years of filings, and so on."""

import json
import random
import re
from collections import Counter, defaultdict
from datetime import date, timedelta
from itertools import pairwise

import pytest

from almanac.domain.events import CATEGORIES
from almanac.reports.rates import SCOPES, TENORS
from almanac.sandbox import economy

from .declared import ENDPOINTS
from .digits import long_numbers

pytestmark = pytest.mark.slow

YESTERDAY = "2026-11-19T00:00:00Z"
COUNTRIES = sorted(code for code in economy.COUNTRIES if code != "EUR")
PLACES = {country.entity for country in economy.COUNTRIES.values()}
#: Members of the euro area have no policy rate of their own.
BANKS = {country.entity for country in economy.COUNTRIES.values() if not country.euro}
#: Where the value of a parameter in braces comes from: a list, and the field of its rows.
NAMED_BY = {
    "/observations/{id}/provenance": ("/observations/latest", "id"),
    "/indicators/{idOrSlug}": ("/indicators", "id"),
    "/indicators/{idOrSlug}/series": ("/observations/latest", "indicatorId"),
    "/countries/{idOrIso}": ("/countries", "id"),
    "/entities/{idOrSlug}/aliases": ("/companies", "entityId"),
    "/companies/{idOrLookup}/profile": ("/companies", "entityId"),
    "/companies/{idOrLookup}/financials": ("/companies", "entityId"),
    "/derived-indicators/{idOrSlug}": ("/derived-indicators", "id"),
    "/derived-indicators/{idOrSlug}/entities": ("/derived-indicators", "id"),
    "/rates/{scope}": ("/countries", "isoAlpha3"),
    "/rates/{scope}/history": ("/countries", "isoAlpha3"),
    "/briefs/{country}": ("/countries", "id"),
}
#: Required parameters, from the rows of a list.
REQUIRED = {
    "/observations/changes": ("/coverage", lambda row: {"since": str(row["dataVersion"] - 1)}),
    "/screener": ("/screener/filters", lambda row: {"filter": row["example"]}),
    "/equity-screener": ("/equity-screener/filters", lambda row: {"filter": row["example"]}),
    "/entities/resolve": ("/companies", lambda row: {"alias": row["name"]}),
}
#: Values of these are withheld, so that no reading takes part in a screen.
WITHHELD = {
    "financial_conditions_index", "high_yield_spread", "high_yield_spread_change_1m", "output_gap", "potential_gdp",
    "taylor_rule_rate",
}  # fmt: skip
#: The simulated publishers have no such series: they print levels, and leave rates of growth to us.
PRINTED_ELSEWHERE = {
    "core_cpi_inflation_official_yoy", "cpi_inflation_official_yoy", "credit_to_gdp_gap_official", "gdp_growth_annual",
    "gdp_growth_official_qoq", "gdp_growth_official_yoy", "industrial_production_growth_official_yoy",
}  # fmt: skip
#: Nor these, which single publishers have for single places, or which repeat in another form what is simulated.
NOT_SIMULATED = {
    "central_government_debt_pct_gdp", "copper_price", "current_account", "debt_service_ratio", "economic_sentiment",
    "effective_exchange_rate_nominal", "employment_persons", "eur_reference_rate", "fx_reserves_months_imports",
    "gdp_per_capita_usd", "gold_price", "gov_par_yield_10y", "gov_par_yield_20y",
    "gov_par_yield_2y", "gov_par_yield_30y", "gov_par_yield_5y", "gov_real_yield_20y", "gov_yield_1m", "gov_yield_2m",
    "leading_indicator", "m3", "manufacturing_production_index", "money_market_rate_3m", "notes_and_coin",
    "overnight_rate", "tankan_large_manufacturers", "target_balance", "unemployment_rate_nsa",
}  # fmt: skip


@pytest.fixture(scope="session")
def told(whole):
    return whole.get("/openapi.json").json()["paths"]


@pytest.fixture(scope="session")
def companies(whole):
    return whole.walk("/companies", limit=500)


def operation(told, path):
    """Whether it is a list, its path parameters, and the parameters that a request must have, by the description."""
    listed = told[path]["get"]["parameters"]
    names = {one["name"] for one in listed if one["in"] == "query"}
    required = {one["name"] for one in listed if one["in"] == "query" and one.get("required")}
    return "cursor" in names, [one["name"] for one in listed if one["in"] == "path"], required


def requests(whole, told, path, most=12):
    """Requests of an operation, as far as its description wants values in them: some of those that a list names."""
    _, braces, required = operation(told, path)
    query = {}
    if required:
        assert path in REQUIRED, f"{path} needs {sorted(required)}: say in REQUIRED which list has values for it"
        source, make = REQUIRED[path]
        found = whole.ok(source)
        query = make(found[0] if isinstance(found, list) else found)
        assert set(query) >= required
    if not braces:
        return [(path, query)]
    assert path in NAMED_BY, f"{path} needs {braces}: say in NAMED_BY which list has values for it"
    source, field = NAMED_BY[path]
    rows = whole.walk(source, limit=500) if source != "/observations/latest" else latest(whole)
    if path in {"/rates/{scope}", "/rates/{scope}/history", "/briefs/{country}"}:
        rows = [row for row in rows if row["ratesScope" if "rates" in path else "indicatorCount"]]
        if path == "/briefs/{country}":
            rows = [row for row in rows if row["id"] in PLACES]
    if path == "/derived-indicators/{idOrSlug}/entities":
        rows = [row for row in rows if row["entityCount"]]
    values = list(dict.fromkeys(row[field] or "EUR" for row in rows))
    step = max(1, len(values) // most)
    return [(re.sub(r"\{\w+\}", value, path), query) for value in values[::step]]


def latest(whole):
    """Latest readings of countries and of a company, of several hundred indicators."""
    found = [whole.ok("/observations/latest", country=place, limit=500) for place in ("USA", "DEU", "EUR")]
    return [row for rows in found for row in rows] + whole.ok("/observations/latest", limit=500)


# -- every operation ----------------------------------------------------------------------------------------------------


def test_every_operation_is_walked(told):
    assert set(told) == set(ENDPOINTS)
    assert len([path for path in told if operation(told, path)[0]]) >= 17


@pytest.mark.parametrize("path", ENDPOINTS)
def test_every_endpoint_has_data(whole, told, path):
    """A list has rows; an item answers 200 for ids that a list names. A new operation without an example fails."""
    is_list = operation(told, path)[0]
    asked = requests(whole, told, path)
    assert asked
    for target, query in asked:
        answer = whole.get(target, "pro", None, **query)
        assert answer.status_code == 200, (target, answer.text[:300])
        if is_list:
            assert answer.json()["data"], (target, query)


@pytest.mark.parametrize("path", sorted(ENDPOINTS.keys() - {"/llms.txt"}))
def test_no_computed_number_has_more_than_twelve_significant_digits(whole, told, path):
    """The simulated publishers print fewer, so whatever has more was computed and not rounded."""
    for target, query in requests(whole, told, path):
        paging = {"limit": 200} if operation(told, path)[0] else {}
        answer = whole.get(target, "pro", None, **query, **paging)
        assert long_numbers(answer.text) == [], (target, query)


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_of_events(whole, category):
    rows = whole.ok("/events", category=category, limit=5)
    assert [row["category"] for row in rows] == [category] * 5


def test_macro_fields_have_readings_or_a_reason(whole):
    fields = {one["field"]: one["entityCount"] for one in whole.ok("/screener/filters")["fields"]}
    assert {name for name, count in fields.items() if not count} == WITHHELD | PRINTED_ELSEWHERE | NOT_SIMULATED
    for name in WITHHELD:
        rows = whole.ok("/observations/latest", indicator=name, limit=5)
        assert rows, name
        assert {(row["valueNumeric"], row["rights"]["valueWithheld"]) for row in rows} == {(None, True)}


def test_equity_fields_have_values(whole):
    """Every money field of the screener has at least 100 companies in USD."""
    fields = whole.ok("/equity-screener/filters")["fields"]
    money = [one["field"] for one in fields if one["unit"] == "currency"]
    assert {"revenue_ttm", "total_assets", "free_cash_flow_ttm", "deposits"} <= set(money)
    assert len(money) == 49
    for one in fields:
        assert one["entityCount"] > 0, one["field"]
    for name in money:
        answer = whole.get("/equity-screener", "pro", None, filter=f"{name}:gte:-1e18,currency:eq:USD", limit=1)
        assert answer.json()["meta"]["pagination"]["total"] >= 100, name


# -- what is promised, sentence by sentence -----------------------------------------------------------------------------


def test_the_command_loads_everything_and_is_deterministic(built_whole):
    """A second run on the same day passes over every payload: bytes and times come out as they were."""
    first, again = json.loads((built_whole / "said.json").read_text())
    read, known = ([line.split() for line in one["stdout"].splitlines()[1:]] for one in (first, again))
    assert {name: figures[1:6] for name, _, *figures in read} == {
        name: ["0", "0", "0", "0", "0"]
        for name in (
            "sandbox-us-treasury-par", "sandbox-mof-japan", "sandbox-fred", "sandbox-licensed", "sandbox-bls-calendar",
            "sandbox-central-bank-calendars", "sandbox-sec",
        )
    }  # fmt: skip
    assert {name: figures for name, *figures in known} == {name: ["0", count, *["0"] * 8] for name, count, *_ in read}
    assert {**again["coverage"], "lastIngestedAt": None} == {**first["coverage"], "lastIngestedAt": None}


def test_countries(whole):
    """35 countries, and the headline figures of each and of the euro area."""
    assert whole.ok("/coverage")["countries"] == 35 == len(COUNTRIES)
    everywhere = (
        "cpi_index", "core_cpi_index", "unemployment_rate", "industrial_production_index", "real_gdp", "nominal_gdp",
        "consumer_confidence", "long_term_rate_10y", "house_price_index", "effective_exchange_rate_real", "population",
        "government_debt_pct_gdp", "fiscal_balance_pct_gdp", "current_account_pct_gdp", "total_credit_pct_gdp", "output_gap",
        "cpi_inflation_yoy", "core_cpi_inflation_yoy", "gdp_growth_yoy", "gdp_growth_qoq_annualized", "nominal_gdp_growth_yoy",
        "industrial_production_growth_yoy", "house_price_growth_yoy", "unemployment_change_12m", "sahm_indicator",
        "misery_index", "debt_change_5y", "real_effective_rate_change_yoy", "credit_impulse",
    )  # fmt: skip
    for slug in everywhere:
        rows = whole.ok("/observations/latest", indicator=slug, limit=500)
        assert {row["entityId"] for row in rows} >= PLACES, slug
    for slug in ("policy_rate", "real_policy_rate", "policy_rate_change_12m", "policy_cycle"):
        rows = whole.ok("/observations/latest", indicator=slug, limit=500)
        assert {row["entityId"] for row in rows} == BANKS, slug


def test_macro_history(whole):
    """It reaches back to 2015 or earlier everywhere, and some derived rows are known before 2024."""
    for slug in ("cpi_index", "unemployment_rate", "real_gdp", "cpi_inflation_yoy", "gov_yield_10y", "policy_rate"):
        firsts = defaultdict(list)
        for series in whole.walk(f"/indicators/{slug}/series", limit=500):
            firsts[series["entityId"]].append(series["firstPeriod"])
        # A licensed source that began later stands beside one that did not.
        assert {place: first for place, found in firsts.items() if (first := min(found)) >= "2015-01-01"} == {}, slug
    rows = whole.ok("/derived-observations", indicator="cpi_inflation_yoy", end_date="2023-12-31", limit=500)
    assert len(rows) == 500
    assert {row["observedAt"] < "2024" for row in rows} == {True}


def test_rates(whole):
    """All seven rates scopes have all four tenors, up to the day before now."""
    for scope in SCOPES:
        rates = whole.ok(f"/rates/{scope}")
        curve = {leg["tenor"]: leg["periodEnd"] for leg in rates["curve"]}
        assert {tenor: curve.get(tenor) for tenor in TENORS} == dict.fromkeys(TENORS, YESTERDAY), scope
        assert {spread["tenor"]: spread["peerCount"] for spread in rates["spreads"]} == dict.fromkeys(TENORS, 6), scope
        assert [slope["name"] for slope in rates["slopes"]] == ["2s10s", "5s30s"], scope


def test_companies(whole, companies):
    """At least 300 fictional companies with ten years of filings and some restatements."""
    assert whole.ok("/coverage")["companies"] == len(companies) >= 300
    old, restated = 0, []
    for one in companies:
        annual = whole.ok(f"/companies/{one['entityId']}/financials", frequency="annual", limit=100)["incomeStatements"]
        old += len({statement["fiscalYear"] for statement in annual}) >= 10
        restated += [(one["entityId"], st["periodEnd"][:10]) for st in annual if st["revisionStatus"] == "revised"]
    assert old >= 300
    assert len({entity for entity, _ in restated}) >= 20
    # A cell whose number a later filing changed: the restatement itself.
    numbers = defaultdict(set)
    for row in whole.walk("/observations/vintages", indicator="net_income", frequency="annual", limit=500):
        numbers[row["entityId"], row["periodStart"], row["periodEnd"]].add(row["valueNumeric"])
    assert len({entity for (entity, *_), found in numbers.items() if len(found) > 1}) >= 5
    filed = whole.ok("/events", category="issuer_filing", end_date="2026-11-20", limit=1)
    assert filed[0]["occurredAt"] > "2026-11-01"


def test_two_providers_of_one_cell(whole):
    rows = whole.ok("/observations", sources="all", country="USA", indicator="gov_yield_10y", period="2026-11-18")
    assert {row["providerId"] for row in rows} == {"sandbox-us-treasury", "sandbox-fred"}
    assert len({row["valueNumeric"] for row in rows}) == 1


def test_a_withheld_source_and_what_is_derived_from_it(whole):
    raw = whole.ok("/observations/latest", indicator="high_yield_spread")
    made = whole.ok("/observations/latest", indicator="high_yield_spread_change_1m")
    assert [row["sourceId"] for row in raw] == ["sandbox-licensed"]
    assert made[0]["derivedFrom"] == [raw[0]["metadata"]["seriesId"]]
    for row in (*raw, *made):
        assert (row["valueNumeric"], row["rights"]["valueWithheld"]) == (None, True)
        assert "allows no redistribution" in row["rights"]["reason"]


def test_everything_is_marked_simulated(whole):
    rows = latest(whole)
    assert {row["attribution"] for row in rows} == {"Simulated, not real data"}
    assert {row["metadata"].get("simulated") for row in rows} == {True}
    names = {source["id"] for source in whole.ok("/sources", limit=500) if source["seriesCount"]}
    assert all(name.startswith("sandbox-") or name == "almanac-derived" for name in names)
    assert max(row["periodEnd"] for row in rows if row["frequency"] == "daily") == YESTERDAY


@pytest.mark.parametrize("place", [*COUNTRIES, "EUR"])
def test_briefs(whole, place):
    """Every country has a brief, and all six sections have readings that are told."""
    brief = whole.ok(f"/briefs/{place}")
    assert brief["headline"].startswith("In ")
    for section in brief["sections"]:
        values = [one for one in section["readings"] if one["value"] is not None]
        assert values, section["key"]
        assert len(re.findall(r"[.] |[.]$", section["text"])) >= 2 or section["key"] in {"labor", "fiscal"}, section
        assert "nothing" not in section["text"]
        assert not re.search(r"\bNone (?!of the)|\bnan\b", section["text"])
    assert len(brief["recentReleases"]) == 5
    assert {"country_usa": 10, "country_gbr": 9, "country_aus": 9}.get(brief["entityId"], 0) == len(
        brief["upcomingEvents"]
    )


# -- all companies of the simulated world: what their profiles, scores and statements say of each other ---------------


SCORES = {"piotroskiF": "piotroski_f", "altmanZ2": "altman_z2", "beneishM": "beneish_m"}
#: Key figures that are sums over twelve months: of which line of which statements.
SUMS = {
    "revenue": ("incomeStatements", "revenue"),
    "netIncome": ("incomeStatements", "net_income"),
    "operatingCashFlow": ("cashFlowStatements", "net_cash_flow_from_operations"),
}


@pytest.fixture(scope="module")
def profiles(whole):
    return [whole.ok(f"/companies/{one['entityId']}/profile") for one in whole.walk("/companies", limit=500)]


def test_scores_and_their_detail_are_one_number_of_one_twelve_months(profiles):
    assert len(profiles) >= 300
    with_all = [profile for profile in profiles if set(SCORES) <= set(profile["scoreDetail"])]
    assert len(with_all) > 150
    for profile in profiles:
        detail = profile["scoreDetail"]
        # A score that is not meant for a company's kind of business (Altman's for a bank) has no detail.
        assert len({told["periodEnd"] for told in detail.values()}) <= 1, profile["entityId"]
        for name in ("piotroskiF", "altmanZ2"):
            assert profile[name] == detail.get(name, {}).get("value"), (profile["entityId"], name)
        found = detail.get("piotroskiF", {"value": None})
        if found["value"] is not None:
            assert found["value"] == sum(bool(test["passed"]) for test in found["tests"])
    assert sum(profile["piotroskiF"] is not None for profile in profiles) > 150


def test_the_last_quarters_add_up_to_the_profile_s_twelve_months_or_say_why_not(whole, profiles):
    seen = Counter()
    for profile in profiles:
        told = whole.ok(f"/companies/{profile['entityId']}/financials", frequency="quarterly", limit=8)
        for name, (kind, line) in SUMS.items():
            figure = profile["keyFigures"][name]
            if figure is None or figure["value"] is None:
                seen["no figure"] += 1
                continue
            parts = [one for one in told[kind] if one["periodEnd"] <= figure["periodEnd"]]
            count = 2 if parts and parts[0]["frequency"] == "semiannual" else 4
            quarters = parts[:count]
            if (
                len(quarters) < count
                or quarters[0]["periodEnd"] != figure["periodEnd"]
                or not _one_after_another(quarters)
            ):
                seen["no quarters"] += 1
                continue
            values = [one["items"].get(line) for one in quarters]
            if None in values:
                seen["a quarter without the line"] += 1
            elif abs(sum(values) - figure["value"]) <= 1e-9 * max(map(abs, values)):
                seen["adds up"] += 1
            else:
                year = whole.ok(f"/companies/{profile['entityId']}/financials", frequency="annual", limit=4)
                (check,) = [
                    check
                    for one in year[kind]
                    if one["periodEnd"] == figure["periodEnd"]
                    for check in one["quality"]["checks"]
                    if check["name"] == "quarters_sum_to_year"
                ]
                assert check["status"] == "failed", (profile["entityId"], name, values, figure)
                seen["the year says why not"] += 1
    assert seen["adds up"] > 0.9 * sum(seen.values()), seen


def _one_after_another(quarters):
    days = [
        (date.fromisoformat(one["periodStart"][:10]), date.fromisoformat(one["periodEnd"][:10])) for one in quarters
    ]
    return all((later[0] - earlier[1]).days == 1 for later, earlier in pairwise(days))


def test_no_two_statements_share_kind_frequency_and_end_or_name(whole, profiles):
    for profile in profiles:
        told = whole.ok(f"/companies/{profile['entityId']}/financials", limit=100)
        for kind in ("incomeStatements", "balanceSheets", "cashFlowStatements"):
            ends = Counter((one["frequency"], one["periodEnd"]) for one in told[kind])
            names = Counter((one["fiscalYear"], one["fiscalPeriod"]) for one in told[kind] if one["fiscalPeriod"])
            assert {one for one, count in (ends | names).items() if count > 1} == set(), (profile["entityId"], kind)


def test_all_scores_have_a_screener_field(whole):
    fields = {field["field"] for field in whole.ok("/equity-screener/filters")["fields"]}
    assert set(SCORES.values()) <= fields


# One question, one answer: /rates, /screener, briefs and /observations/latest tell the same yields, spreads and slopes.


TODAY = date(2026, 11, 20)
PAST = sorted(TODAY - timedelta(days=back) for back in random.Random(12).sample(range(1, 1_500), 50))


def answers_of(service, path, **parameters):
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
    latest = answers_of(service, "/observations/latest", country=scope, **when)
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
