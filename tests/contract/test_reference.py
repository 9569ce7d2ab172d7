"""Indicators, series, entities of derived indicators, providers, sources, countries, coverage."""

import json
import re

import pytest

from almanac.domain.reference import INDICATOR_CATEGORIES
from almanac.domain.units import CURRENCY, CURRENCY_PER_SHARE, currency_of, is_amount, is_money
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from tests.support.filed_company import ENTITY, FACTS_URL, INDEX_URL, facts, index
from tests.support.service import CATALOG, Service, make_accounts, settings

from . import invented_companies
from .declared import ENDPOINTS, PATH_VALUES, REQUIRED

UNITS = {
    "percent", "percentage_points", "index", "points", "thousands", "persons", "usd", "usd_millions", "usd_billions", "usd_per_tonne",
    "usd_per_barrel", "usd_per_ounce", "local_currency", "local_currency_millions", "local_currency_billions", "ratio", "per_usd",
    "per_eur", "months", "years", "text",
    "shares",
    "usd_per_share",
}  # fmt: skip


def every_row(service):
    lists = ("/observations", "/derived-observations")
    return [row for path in lists for row in service.walk(path, limit=500, sources="all")]


def test_indicators(service):
    """Indicators: every concept of the catalogue, with how much of it there is."""
    rows = service.walk("/indicators", limit=500)
    assert [r["id"] for r in rows] == sorted(i.id for i in CATALOG.indicators.values())
    assert {r["category"] for r in rows} <= set(INDICATOR_CATEGORIES)
    assert {r["unit"] for r in rows} <= UNITS | {None}
    counted = {r["slug"]: r for r in rows}
    observed = every_row(service)
    for slug, row in counted.items():
        mine = [o for o in observed if o["indicatorId"] == row["id"]]
        assert row["seriesCount"] == len({o["metadata"]["seriesId"] for o in mine})
        assert row["entityCount"] == len({o["entityId"] for o in mine})
        assert row["frequencies"] == sorted({o["frequency"] for o in mine}, key=["annual", "quarterly", "monthly", "weekly", "daily"].index)  # fmt: skip
        assert row["firstPeriod"] == min((o["periodEnd"] for o in mine), default=None)
        present = [o["periodEnd"] for o in mine if not o["metadata"].get("forecast")]
        assert row["lastPeriod"] == max(present, default=None)
        assert row["id"] == f"indicator_{slug}"


def test_one_indicator(service):
    """Returns one indicator. Path parameter: indicator id or slug (or alias); case does not matter."""
    row = service.ok("/indicators/sahm_indicator")
    assert (row["kind"], row["category"], row["unit"], row["unitLabel"]) == ("derived", "labor", "percentage_points", "percentage points")  # fmt: skip
    assert (row["inputs"], row["formula"]) == (
        ["indicator_unemployment_rate"],
        "mean₃(u)_t − min(mean₃(u)_{t−12..t−1})",
    )
    assert (row["preferredProviders"][:2], row["aliases"]) == (["bls", "fred"], ["sahm_rule", "sahm"])
    assert (row["frequencies"], row["seriesCount"], row["entityCount"]) == (["monthly"], 1, 1)
    assert (row["firstPeriod"], row["lastPeriod"]) == ("2023-12-31T00:00:00Z", "2026-10-31T00:00:00Z")
    for name in ("indicator_sahm_indicator", "SAHM", "Sahm_Rule"):
        assert service.ok(f"/indicators/{name}") == service.ok(f"/derived-indicators/{name}") == row
    for other in service.walk("/indicators", limit=500)[::5]:
        assert service.ok(f"/indicators/{other['slug']}") == service.ok(f"/indicators/{other['id']}") == other


def test_words_find_what_publishers_call_an_indicator(service):
    """`q` looks into publishers' names too, which mean it in paths and filters; `sort=relevance` has the nearest first."""
    rows = service.ok("/indicators", q="fed funds", sort="relevance", limit=500)
    assert [row["slug"] for row in rows[:3]] == ["overnight_rate", "policy_rate_lower", "policy_rate_upper"]
    assert "Federal Funds Effective Rate" in rows[0]["aliases"]
    assert service.ok("/indicators/federal%20funds%20effective%20rate") == rows[0]
    by_id = service.walk("/indicators", q="fed funds")
    assert sorted(rows, key=lambda row: row["id"]) == by_id
    named = {"country": "USA", "limit": 500}
    assert service.walk("/observations", indicator="Federal Funds Target Range - Upper Limit", **named) == service.walk(
        "/observations", indicator="policy_rate_upper", **named
    )


def test_relevance_is_relevance_to_words(service):
    """400: the message names the offending parameter, and what is allowed."""
    error = service.error("/indicators", 400, sort="relevance")
    assert error["message"] == "'sort' is relevance, which is relevance to words: give them in 'q'"
    assert error["details"] == {"parameter": "sort", "reason": "invalid", "allowed": ["id"]}


def test_an_unknown_indicator(service):
    """An unknown id in a path is 404, with the nearest name; a raw indicator is no derived one."""
    error = service.error("/indicators/unemployment_rte", 404)
    assert error["details"] == {"parameter": "idOrSlug", "suggestion": "unemployment_rate"}
    for path in (
        "/derived-indicators/gov_yield_10y",
        "/derived-indicators/gov_yield_10y/entities",
        "/indicators/nothing/series",
    ):
        assert service.error(path, 404)["code"] == "not_found"
    error = service.error("/derived-indicators/GOV_YIELD_10Y", 404)
    assert error["message"] == ("'GOV_YIELD_10Y' is a raw indicator, not a derived one; see /indicators/gov_yield_10y")
    assert error["details"] == {"parameter": "idOrSlug"}


def test_filters_of_indicators(service):
    """Filters on `/indicators`: `category`, `kind`, `q`. `/derived-indicators`: the same records of kind derived."""
    whole = service.walk("/indicators", limit=500)
    for category in INDICATOR_CATEGORIES:
        assert service.walk("/indicators", limit=500, category=category) == [
            r for r in whole if r["category"] == category
        ]
    for kind in ("raw", "derived"):
        assert service.walk("/indicators", limit=500, kind=kind.upper()) == [r for r in whole if r["kind"] == kind]
    derived = service.walk("/derived-indicators", limit=500)
    assert derived == [r for r in whole if r["kind"] == "derived"]
    assert len(derived) == sum(1 for i in CATALOG.indicators.values() if i.kind == "derived")
    slopes = service.walk("/indicators", q="YIELD slope")
    assert [r["slug"] for r in slopes] == ["yield_slope_2s10s", "yield_slope_3m10y", "yield_slope_5s30s"]
    assert service.walk("/derived-indicators", q="sahm", category="labor") == [
        r for r in derived if r["slug"] == "sahm_indicator"
    ]
    assert service.walk("/indicators", q="zebra") == []
    assert service.error("/indicators", 400, category="weather")["details"]["allowed"] == list(INDICATOR_CATEGORIES)
    assert service.error("/derived-indicators", 400, kind="derived")["details"]["reason"] == "unknown"


def test_series(service):
    """Series of one indicator (path: indicator id or slug): what each holds, and which is preferred."""
    rows = {r["id"]: r for r in service.walk("/indicators/gov_yield_10y/series")}
    assert set(rows) == {"fred:country_usa:gov_yield_10y:D", "mof-japan:country_jpn:gov_yield_10y:D", "us-treasury-par:country_usa:gov_yield_10y:D"}  # fmt: skip
    treasury = {**rows["us-treasury-par:country_usa:gov_yield_10y:D"]}
    rights = treasury.pop("rights")
    assert rights["redistributable"] is True
    assert treasury == {
        "id": "us-treasury-par:country_usa:gov_yield_10y:D", "indicatorId": "indicator_gov_yield_10y", "entityId": "country_usa",
        "sourceId": "us-treasury-par", "providerId": "us-treasury", "nativeId": "BC_10YEAR", "name": "United States, 10-year par yield",
        "frequency": "daily", "unit": "percent", "currency": None, "preferred": True, "firstPeriod": "2023-11-13T00:00:00Z",
        "lastPeriod": "2026-11-19T00:00:00Z", "observationCount": 38 + 1, "vintageCount": 40 + 2, "vintagesFrom": "2023-11-13T23:59:59Z",
        "lastObservedAt": "2026-11-20T01:00:00Z", "freshnessStatus": "fresh",
    }  # fmt: skip
    assert [r["preferred"] for r in rows.values()] == [False, True, True]


def test_every_series_adds_up(service):
    """Counts and bounds agree with the rows and vintages served."""
    observed = every_row(service)
    vintages = service.walk("/observations/vintages", limit=500, sources="all")
    count = 0
    for indicator in service.walk("/indicators", limit=500):
        for row in service.walk(f"/indicators/{indicator['slug']}/series"):
            mine = [o for o in observed if o["metadata"]["seriesId"] == row["id"]]
            known = [v["observedAt"] for v in vintages if v["metadata"]["seriesId"] == row["id"]]
            assert (row["observationCount"], row["vintageCount"]) == (len(mine), len(known))
            assert row["firstPeriod"] == min(o["periodEnd"] for o in mine)
            assert (row["vintagesFrom"], row["lastObservedAt"]) == (min(known), max(known))
            assert {(o["unit"], o["frequency"], o["rights"]["valueWithheld"]) for o in mine} == {
                (row["unit"], row["frequency"], row["rights"]["valueWithheld"])
            }
            assert isinstance(row["nativeId"], str)
            count += 1
    assert count == service.ok("/coverage")["series"]


def test_filters_of_series(service):
    """Series by country, source, provider and frequency."""
    path = "/indicators/gov_yield_10y/series"
    whole = service.walk(path)
    for query, keep in (
        ({"country": "JP"}, lambda r: r["entityId"] == "country_jpn"), ({"entity": "united-states"}, lambda r: r["entityId"] == "country_usa"),
        ({"source_id": "fred"}, lambda r: r["sourceId"] == "fred"), ({"provider_id": "mof"}, lambda r: r["providerId"] == "mof"),
        ({"frequency": "weekly"}, lambda r: False), ({"frequency": "D"}, lambda r: True), ({"entity_id": "nobody"}, lambda r: False),
    ):  # fmt: skip
        assert service.walk(path, **query) == [r for r in whole if keep(r)]


def test_entities_of_a_derived_indicator(service):
    """Lists entities for which the derived indicator has data: entityId and name."""
    usa, japan = {"entityId": "country_usa", "name": "United States"}, {"entityId": "country_jpn", "name": "Japan"}
    for name in ("yield_slope_2s10s", "indicator_yield_slope_2s10s", "2S10S"):
        assert service.ok(f"/derived-indicators/{name}/entities") == [japan, usa]
    assert service.ok("/derived-indicators/yield_slope_2s10s/entities", order="desc", limit=1) == [usa]
    assert service.ok("/derived-indicators/sovereign_spread_10y_usa/entities") == [japan]
    assert service.ok("/derived-indicators/debt_change_5y/entities") == []
    for indicator in service.walk("/derived-indicators", limit=500):
        rows = service.walk("/derived-observations", indicator=indicator["slug"], limit=500)
        entities = service.walk(f"/derived-indicators/{indicator['slug']}/entities")
        assert {r["entityId"] for r in entities} == {r["entityId"] for r in rows}


def test_sources_by_what_their_licence_asks_for(service):
    """`license` on /sources; the data of the Swiss National Bank are not for money."""
    whole = {row["id"]: row["rights"]["licenseClass"] for row in service.walk("/sources")}
    examples = {"snb": "non-commercial", "us-treasury-par": "open", "world-bank": "attribution", "imf": "consent"}
    assert whole.items() >= examples.items()
    for wanted in ("open", "attribution", "non-commercial", "consent", "open,attribution"):
        ids = [row["id"] for row in service.walk("/sources", limit=3, license=wanted)]
        assert ids == sorted(name for name, license_class in whole.items() if license_class in wanted.split(","))


def test_providers_and_sources(service):
    """Who publishes; feeds, each with its licence, rights, health and freshness. Each belongs to the other."""
    providers = {p["id"]: p for p in service.walk("/providers")}
    sources = {s["id"]: s for s in service.walk("/sources")}
    assert set(sources) == {s.id for s in CATALOG.sources.values() if not s.simulated}
    assert {(p, s) for p, row in providers.items() for s in row["sourceIds"]} == {(row["providerId"], s) for s, row in sources.items()}  # fmt: skip
    assert providers["us-treasury"]["kind"] == "treasury"
    ours = ("almanac", "fred", "mof", "us-treasury")
    assert [providers[name]["country"] for name in ours] == [None, "country_usa", "country_jpn", "country_usa"]
    fred = sources["fred"]
    assert (fred["storesVintages"], fred["health"], fred["freshnessStatus"]) == (True, "ok", "fresh")
    assert fred["frequencies"] == ["daily", "weekly", "monthly", "quarterly"]
    assert (fred["firstPeriod"], fred["lastPeriod"]) == ("2023-01-31T00:00:00Z", "2026-12-31T00:00:00Z")
    assert fred["lastSuccessAt"] == "2026-11-20T12:00:00Z"
    treasury = sources["us-treasury-par"]
    assert treasury["rights"]["derivativesAllowed"] is True
    assert (
        treasury["license"] == treasury["rights"]["license"] == "Public domain (work of the United States government)"
    )
    observed = every_row(service)
    for name, row in sources.items():
        assert row["seriesCount"] == len({o["metadata"]["seriesId"] for o in observed if o["sourceId"] == name})


def test_a_source_that_never_ran(own):
    """health: ok, late, failing, never_run; by attempts, not by words."""
    with own.world() as world, world.batch("test") as batch:
        world.db.execute("DELETE FROM source_state WHERE source = 'fred'")
        batch.touch()
    assert {s["id"]: s["health"] for s in own.walk("/sources")}["fred"] == "never_run"
    own.data_now = own.settings.clock() + 200 * 86_400
    states = {s["id"]: (s["health"], s["freshnessStatus"]) for s in own.walk("/sources")}
    assert states["us-treasury-par"] == ("late", "stale")


def test_a_source_that_answers_but_has_stopped_is_late(own):
    """health: late, where the publisher answers every day and the newest day in it stays the same."""
    own.data_now = own.settings.clock() + 30 * 86_400
    with own.world() as world, world.batch("test") as batch:
        world.db.execute("UPDATE source_state SET last_attempt_at = ?1, last_success_at = ?1", (own.data_now,))
        batch.touch()
    states = {s["id"]: (s["health"], s["freshnessStatus"]) for s in own.walk("/sources")}
    assert states["us-treasury-par"] == ("late", "stale")
    assert states["almanac-derived"][0] == "ok"  # what is computed here is asked of nobody
    own.data_now = own.settings.clock()
    assert {s["id"]: s["health"] for s in own.walk("/sources")}["us-treasury-par"] == "ok"


def test_countries(service):
    """Countries by `name`, then id; path parameter: country id or ISO code (or slug)."""
    rows = {r["id"]: r for r in service.walk("/countries", limit=500)}
    assert set(rows) == {e.id for e in CATALOG.entities.values() if e.kind in {"country", "region"}}
    usa = rows["country_usa"]
    assert usa == {**usa, "slug": "united-states", "name": "United States", "isoAlpha2": "US", "isoAlpha3": "USA", "kind": "country",
                   "currency": "USD", "ratesScope": True, "freshnessStatus": "fresh"}  # fmt: skip
    for entity, row in [*rows.items()][::6] + [(name, rows[name]) for name in ("country_usa", "country_jpn")]:
        seen = {o["indicatorId"] for o in service.walk("/observations/latest", entity_id=entity, limit=500)}
        assert row["indicatorCount"] == len(seen), entity
        assert (row["freshnessStatus"] == "unknown") == (not seen)
        for name in (row["id"], row["slug"], row["isoAlpha2"], row["isoAlpha3"]):
            if name is not None:
                assert service.ok(f"/countries/{name.lower()}") == service.ok(f"/countries/{name.upper()}") == row
    assert service.ok("/countries/EUR")["id"] == "region_euro_area"
    assert service.ok("/countries/840") == usa
    # Places without a code of ISO 3166-1 go by the codes in use, and by nothing longer.
    for code, entity in (
        ("XK", "country_xkx"),
        ("xkx", "country_xkx"),
        ("EU", "region_european_union"),
        ("G7", "region_g7"),
    ):
        assert service.ok(f"/countries/{code}")["id"] == entity
    # Any name that /entities/resolve finds exactly, former ones too.
    for name, entity in (
        ("Zaire", "country_cod"),
        ("UK", "country_gbr"),
        ("America", "country_usa"),
        ("United%20States", "country_usa"),
    ):
        assert service.ok(f"/countries/{name}")["id"] == entity
    assert {r["id"] for r in rows.values() if r["ratesScope"]} == {
        e.id for e in CATALOG.entities.values() if e.rates_scope
    }
    for name, slug in (
        ("untied-states", "united-states"), ("Untied%20States", "united-states"), ("Cote d'Ivore", "cote-divoire"),
    ):  # fmt: skip
        assert service.error(f"/countries/{name}", 404)["details"]["suggestion"] == slug
        assert service.error("/countries/ZZ", 404)["details"] == {"parameter": "idOrIso"}


def test_countries_with_data(service):
    """`has_data`: only those with observations of their own, or only those without."""
    every = service.walk("/countries", limit=500)
    for text, keep in (("true", True), ("TRUE", True), ("false", False)):
        assert service.walk("/countries", limit=7, has_data=text) == [
            r for r in every if (r["indicatorCount"] > 0) is keep
        ]
    assert [r["id"] for r in service.walk("/countries", has_data="true")] == ["country_jpn", "country_usa"]
    assert service.error("/countries", 400, has_data="yes")["details"]["allowed"] == ["true", "false"]


def test_coverage(service):
    """GET /coverage: the cheapest authenticated call; 200 means the key is live, 401 means it is missing, malformed or revoked."""
    # Events: those of filings and the like, meetings of central banks, and releases read from the numbers.
    # What is computed is counted anew, since a formula more brings more of it.
    derived = service.walk("/derived-observations", limit=500, sources="all")
    served = [indicator["slug"] for indicator in service.walk("/indicators", limit=500) if indicator["seriesCount"]]
    series = [row for slug in served for row in service.walk(f"/indicators/{slug}/series", limit=500)]
    assert service.ok("/coverage", "events:read") == service.ok("/coverage", "free") == {
        "countries": 2, "regions": 0, "companies": 2,
        "indicators": {"raw": 16, "derived": len({row["indicatorId"] for row in derived})},
        "series": len(series), "observations": 849, "derivedObservations": len(derived),
        "vintages": sum(row["vintageCount"] for row in series), "statements": 0, "events": 7 + 40 + 40, "providers": 4,
        "sources": 4, "firstPeriod": "2023-01-31T00:00:00Z", "lastPeriod": "2026-12-31T00:00:00Z",
        "lastIngestedAt": "2026-11-20T12:00:00Z", "dataVersion": int(service.get("/coverage").headers["x-data-version"]),
    }  # fmt: skip
    assert ENDPOINTS["/coverage"].scope is None


def test_a_revoked_key(own):
    """401: the key is missing, malformed or revoked; unknown and revoked get the same message."""
    assert own.get("/coverage").status_code == 200
    own.accounts.revoke(own.keys["pro"], now=int(own.real_now))
    revoked = own.error("/coverage", 401)
    unknown = own.error("/coverage", 401, own.keys["free"][:-8] + "AAAAAAAA")
    assert revoked["code"] == unknown["code"] == "unauthorized"
    assert own.get("/coverage", "free").status_code == 200


def test_a_key_of_a_disabled_account(own):
    """403: the key is good, but the account does not permit the operation; said of every path, and counted."""
    before = int(own.get("/coverage").headers["x-ratelimit-remaining"])
    own.accounts.disable("pro@example.org", now=int(own.real_now))
    for path in ("/coverage", "/observations?limit=1", "/nowhere"):
        error = own.error(path, 403)
        assert error["message"] == "the account of this key is disabled; ask whoever runs this service"
        assert error["details"] == {"reason": "account_disabled"}
    assert int(own.get("/coverage").headers["x-ratelimit-remaining"]) == before - 4
    assert own.get("/coverage", "free").status_code == 200
    own.accounts.enable("pro@example.org")
    assert own.get("/coverage").status_code == 200


@pytest.mark.parametrize("expires", [10, 1000])
def test_an_expired_key(own, expires):
    """401 for an expired key, by real time."""
    text, _ = own.accounts.create_key("pro@example.org", expires=int(own.real_now) + expires, now=int(own.real_now))
    assert own.get("/coverage", text).status_code == 200
    own.real_now += expires
    assert own.get("/coverage", text).status_code == 401


# Units: what is money says its currency, whatever list it is in; a score has no unit; whole numbers are written alike.


SCORES = {"indicator_piotroski_f", "indicator_altman_z2", "indicator_beneish_m"}
#: A whole number with a needless `.0`, or a padded exponent, outside of texts.
_LONG = re.compile(r"(?<=[:\[,])-?\d+\.0+(?=[,\]}])|e\+|e-?0\d")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def judged(record, currencies):
    """What is wrong with the units of a record and of all records in it, one line each."""
    if isinstance(record, list):
        return [line for element in record for line in judged(element, currencies)]
    if not isinstance(record, dict):
        return []
    problems = [line for element in record.values() for line in judged(element, currencies)]
    if "unit" not in record:
        return problems
    unit = record["unit"]
    currency = record["metadata"].get("currency") if "metadata" in record else record["currency"]
    place = {key: record.get(key) for key in ("id", "entityId", "indicatorId", "field", "unit")}
    place["currency"] = currency
    if is_money(unit) and (currency is None or re.fullmatch("[A-Z]{3}", currency) is None):
        problems.append(f"money without a currency: {place}")
    if unit not in {CURRENCY, CURRENCY_PER_SHARE} and not str(unit).startswith(("local_currency", "per_")):
        if currency != currency_of(unit, None):
            problems.append(f"the unit says another currency: {place}")
    elif currency is not None and currency not in currencies.get(place["entityId"], [currency]):
        problems.append(f"not the currency of the place: {place}")
    if SCORES & {record.get("indicatorId"), record.get("id")} and unit is not None:
        problems.append(f"a score with a unit: {place}")
    return problems


def long_texts(text):
    return _LONG.findall(_TEXT.sub('""', text))


def test_the_judge_sees_what_is_wrong():
    for record, count in (
        ({"unit": "usd", "metadata": {}}, 2),
        ({"unit": "usd", "metadata": {"currency": "EUR"}}, 1),
        ({"unit": "local_currency", "currency": None}, 1),
        ({"unit": "percent", "currency": "USD"}, 1),
        ({"unit": "local_currency", "currency": "JPY", "entityId": "country_usa"}, 1),
        ([{"inside": {"unit": "eur", "currency": "EUR"}}], 0),
        ({"unit": "points", "id": "indicator_piotroski_f", "currency": None}, 1),
    ):
        assert len(judged(record, {"country_usa": {"USD"}})) == count, record
    assert long_texts('{"a":1.0,"b":[2.00],"c":"3.0,","d":1e+16}') == ["1.0", "2.00", "e+"]


def walked(service: Service, most: int):
    """Pages of all lists, and all objects that can be asked for by name, as text and parsed."""
    currencies = {e.id: {e.currency} for e in CATALOG.entities.values()}
    for path in ENDPOINTS:
        if ENDPOINTS[path].kind not in {"list", "item"}:
            continue
        where = re.sub(r"\{\w+\}", PATH_VALUES.get(path, ""), path)
        if path == "/observations/{id}/provenance":
            where = path.replace("{id}", service.ok("/observations/latest", limit=1)[0]["id"])
        query = dict(REQUIRED.get(path, {}))
        for _ in range(most):
            answer = service.get(where, "pro", None, **query)
            assert answer.status_code == 200, (where, answer.text[:200])
            yield path, answer, currencies
            following = answer.json()["meta"].get("pagination", {}).get("next_cursor")
            if following is None:
                break
            query["cursor"] = following


def test_every_unit_of_money_says_its_currency(service):
    """Over the hand-made world: every list and object, all pages."""
    seen = set()
    for path, answer, currencies in walked(service, 40):
        assert judged(answer.json()["data"], currencies) == [], path
        assert long_texts(answer.text) == [], path
        seen.add(path)
    assert len(seen) == len([path for path in ENDPOINTS if ENDPOINTS[path].kind in {"list", "item"}])


@pytest.mark.slow
def test_every_unit_of_money_says_its_currency_in_the_simulated_world(whole):
    for name in ("/observations/latest", "/events", "/release-summaries", "/indicators"):
        query = {"limit": 500}
        while True:
            answer = whole.get(name, "pro", None, **query)
            assert judged(answer.json()["data"], {}) == [], name
            assert long_texts(answer.text) == [], name
            following = answer.json()["meta"]["pagination"]["next_cursor"]
            if following is None:
                break
            query["cursor"] = following
    for path in ("/screener/filters", "/equity-screener/filters"):
        assert judged(whole.ok(path), {}) == []
    for row in whole.ok("/companies", limit=40):
        for part in ("profile", "financials"):
            answer = whole.get(f"/companies/{row['entityId']}/{part}", "pro", None)
            assert judged(answer.json()["data"], {}) == []
            assert long_texts(answer.text) == []


def test_every_unit_of_the_catalogue_is_judged():
    """The rule knows each unit there is: money, an amount that adds up, or neither."""
    money = {unit for unit in CATALOG.units if is_money(unit)}
    assert money == {unit for unit in CATALOG.units if unit.startswith(("usd", "local_currency"))}
    assert {unit for unit in money if not is_amount(unit)} == {unit for unit in money if "_per_" in unit}
    assert {unit for unit in CATALOG.units if currency_of(unit, "XYZ")} - money == {"per_usd", "per_eur"}


def test_every_series_of_money_has_a_currency():
    for natives in CATALOG.series.values():
        for spec in natives.values():
            assert not is_money(spec.unit) or currency_of(
                spec.unit, spec.currency or CATALOG.entities[spec.entity].currency
            ), spec.id


def test_spreads_and_slopes_are_not_in_percent():
    differences = [i for i in CATALOG.indicators.values() if re.search(r"spread|slope|butterfly|_change_", i.slug)]
    assert len(differences) >= 10
    assert {i.slug for i in differences if i.unit == "percent"} <= {
        "exchange_rate_change_yoy",
        "real_effective_rate_change_yoy",
    }


def test_money_of_companies_is_in_the_iso_code_of_its_currency(tmp_path_factory):
    """`eur` for euros, never `usd` or `local_currency`; and where fields are listed, `currency`."""
    made = invented_companies.companies(60)
    home = tmp_path_factory.mktemp("units") / "home"
    invented_companies.build(home, made)
    service = Service(home)
    try:
        by_entity = {company.entity: company.currency or "USD" for company in made}
        rows = service.walk("/observations/latest", indicator="revenue_ttm", limit=500)
        assert {row["unit"] for row in rows} == {"usd", "eur", "jpy"}
        for row in rows:
            assert row["unit"] == by_entity[row["entityId"]].lower()
            assert row["metadata"]["currency"] == by_entity[row["entityId"]]
        scores = service.ok("/observations/latest", indicator="piotroski_f", limit=500)
        assert scores
        assert {row["unit"] for row in scores} == {None}
    finally:
        service.close()


# -- fiscal periods beside calendar ones, of a company whose year ends in September -----------------------------------


NOW = "2024-06-15T12:00:00Z"
PATH = "/derived-observations"
#: Days of the company's periods → the same of a year that ends three months earlier.
EARLIER = {
    "2022-01-01": "2021-10-01", "2022-12-31": "2022-09-30", "2023-01-01": "2022-10-01", "2023-03-31": "2022-12-31",
    "2023-04-01": "2023-01-01", "2023-06-30": "2023-03-31", "2023-07-01": "2023-04-01", "2023-09-30": "2023-06-30",
    "2023-12-31": "2023-09-30",
}  # fmt: skip


def moved(body):
    return re.sub(r"\b20\d\d-\d\d-\d\d\b", lambda day: EARLIER.get(day[0], day[0]), body.decode()).encode()


@pytest.fixture(scope="module")
def fiscal(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("fiscal") / "home", NOW=NOW)
    bodies = [(INDEX_URL, moved(index())), (FACTS_URL, moved(facts()))]
    assert json.loads(bodies[1][1])["facts"]["us-gaap"]["Assets"]["units"]["USD"][0]["end"] == "2022-09-30"
    with PipelineContext(chosen) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        outcome = run.run([Arrival(url, body, "application/json", None) for url, body in bodies])
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (2, {}, {})
    make_accounts(chosen)
    opened = Service(chosen.home, {"NOW": NOW})
    yield opened
    opened.close()


def asked(fiscal, path=PATH, indicator="revenue", **query):
    """(last day, fiscal period, value) of each row, and what is warned of."""
    answer = fiscal.get(path, entity=ENTITY, indicator=indicator, **query)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    rows = [
        (row["periodEnd"][:10], row["metadata"]["fiscalYear"], row["metadata"]["fiscalPeriod"], row["valueNumeric"])
        for row in body["data"]
    ]
    return rows, body["meta"].get("warnings", [])


Q1, Q2, Q3 = ("2022-12-31", 2023, "Q1", 100), ("2023-03-31", 2023, "Q2", 110), ("2023-06-30", 2023, "Q3", 120)
Q4, YEAR, YEAR_BEFORE = (
    ("2023-09-30", 2023, "Q4", 140),
    ("2023-09-30", 2023, "FY", 470),
    ("2022-09-30", 2022, "FY", 400),
)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({"period": "FY2023"}, [YEAR, Q1, Q2, Q3, Q4]),
        ({"period": "fy2023", "frequency": "annual"}, [YEAR]),
        ({"period": "FY2022"}, [YEAR_BEFORE]),
        ({"period": "FY2023-Q4"}, [Q4]),
        ({"period": "FY2023-h1"}, [Q1, Q2]),
        ({"period": "FY2023-H2", "order": "desc"}, [Q4, Q3]),
        ({"period": "FY2023", "period_start": "2023-01-01"}, [Q2, Q3, Q4]),
        ({"period": "FY2023", "as_of": "2023-12-01"}, [Q1, Q2, Q3]),
        ({"period": "FY2023", "sort": "period_end", "sources": "all", "frequency": "Q"}, [Q1, Q2, Q3, Q4]),
        ({"period": "FY2021"}, []),
        ({"period": "2023"}, [Q2, Q3, Q4]),
        ({"period": "2022-Q4"}, [Q1]),
    ],
)
@pytest.mark.parametrize("path", [PATH, "/observations/vintages", "/observations/changes"])
def test_a_period_by_either_name(fiscal, path, query, rows):
    if path != PATH:
        query = {name: value for name, value in query.items() if name != "sort" or path.endswith("vintages")}
        if query.get("sort") == "period_end":
            del query["sort"]
    if path.endswith("changes"):
        query = {**query, "since": 0}
    assert asked(fiscal, path, **query)[0] == rows


def test_pages_of_a_fiscal_period_are_the_whole(fiscal):
    parts, cursor = [], {}
    while cursor is not None:
        answer = fiscal.get(PATH, entity=ENTITY, indicator="revenue", period="FY2023", limit=2, **cursor).json()
        parts += [row["metadata"]["fiscalPeriod"] for row in answer["data"]]
        following = answer["meta"]["pagination"]["next_cursor"]
        cursor = None if following is None else {"cursor": following}
    assert parts == ["FY", "Q1", "Q2", "Q3", "Q4"]


def test_latest_readings_and_measures_say_both(fiscal):
    (row,) = fiscal.ok("/observations/latest", entity=ENTITY, indicator="revenue_ttm")
    assert (row["periodEnd"][:10], row["metadata"]["fiscalYear"], row["metadata"]["fiscalPeriod"]) == Q4[:3]


def test_rows_and_statements_call_a_period_the_same(fiscal):
    statements = fiscal.ok(f"/companies/{ENTITY}/financials")["incomeStatements"]
    called = {(s["frequency"], s["periodEnd"]): (s["fiscalYear"], s["fiscalPeriod"]) for s in statements}
    rows = fiscal.ok(PATH, entity=ENTITY, indicator="net_income")
    assert len(rows) == len(called) == 6
    for row in rows:
        said = row["metadata"]
        assert (said["fiscalYear"], said["fiscalPeriod"]) == called[row["frequency"], row["periodEnd"]]


def test_a_calendar_period_gives_the_rows_inside_it(fiscal):
    for query in ({"period": "2023"}, {"period": "2023-Q3"}, {"period": "1990"}):
        _, warnings = asked(fiscal, **query)
        assert warnings == []


def test_a_fiscal_period_of_what_has_none(fiscal):
    assert fiscal.ok("/observations", entity=ENTITY, period="FY2023") == []
    assert fiscal.ok(PATH, country="USA", period="FY2023") == []


@pytest.mark.parametrize("text", ["FY20", "FY2023-Q5", "FY2023-06", "FY0000", "FY9999", "FY 2023", "2023FY"])
def test_a_fiscal_period_that_is_none(fiscal, text):
    answer = fiscal.get(PATH, entity=ENTITY, period=text)
    assert answer.status_code == 400
    assert "FY2026-Q3" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"period": "FY2022"}, True),
        ({"period": "2022-09-30"}, True),
        ({"period": "2022-Q3"}, True),
        ({"period": "2022"}, True),
        ({"period": "2022-Q2"}, False),
        ({"period": "FY2021"}, False),
        ({"period_start": "2022-09-30", "period_end": "2022-09-30"}, True),
        ({"period_start": "2022-09-30T00:00:01Z"}, False),
        ({"period_start": "2022-10-01", "period_end": "2022-12-30"}, False),
    ],
)
@pytest.mark.parametrize("path", [PATH, "/observations/vintages"])
def test_a_balance_sheet_lies_in_the_periods_that_its_day_lies_in(fiscal, path, query, found):
    rows, _ = asked(fiscal, path, "total_assets", **query)
    assert ("2022-09-30" in {day for day, *_ in rows}) is found
