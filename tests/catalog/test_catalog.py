"""The catalogue's checks: each contradiction, in a small part written for the test, gives its own exact line."""

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from almanac.catalog.load import build, load, shipped
from almanac.catalog.records import Catalog, CatalogError, input_slugs
from almanac.domain.rights import Consent, Exposure, effective

Part = dict[str, Any]


def small() -> Part:
    """An invented catalogue that is right: one source, one raw indicator of each kind needed, one formula, one series."""
    return {
        "unit": [{"id": "percent", "label": "%"}, {"id": "index", "label": "index"}],
        "provider": [
            {"id": "office", "name": "Office", "kind": "statistics_office", "homepage": "/", "attribution": "Office"}
        ],
        "source": [
            {
                "id": "office-prices",
                "provider": "office",
                "name": "Prices",
                "description": "Invented.",
                "homepage": "/",
                "connector": "office",
                "rights": {"license": "open", "attribution": "Office"},
            }
        ],
        "entity": [
            {"id": "country_aaa", "slug": "aland", "name": "A", "kind": "country", "iso2": "AA", "iso3": "AAA"},
            {"id": "country_bbb", "slug": "bland", "name": "B", "kind": "country", "iso2": "BB", "iso3": "BBB"},
        ],
        "indicator": [raw("prices", aliases=["cost"]), raw("wages")],
        "derived": [formula("inflation", ["prices"])],
        "series": [
            {
                "source": "office-prices",
                "entity": "country_aaa",
                "frequency": "M",
                "unit": "index",
                "codes": [{"native": "P1", "indicator": "prices", "name": "Prices of A"}],
            }
        ],
    }


def raw(slug: str, **more: Any) -> Part:
    return {"slug": slug, "name": slug, "description": slug, "category": "inflation", "kind": "raw", **more}


def formula(slug: str, inputs: list[str], **more: Any) -> Part:
    return {
        "slug": slug,
        "name": slug,
        "description": slug,
        "category": "inflation",
        "unit": "percent",
        "formula": "x",
        "operator": "growth",
        "inputs": inputs,
        **more,
    }


def put(table: str, **fields: Any) -> Callable[[Part], None]:
    """A change that sets fields of the first line of a table."""
    return lambda part: part[table][0].update(fields)


def add(table: str, *lines: Part) -> Callable[[Part], None]:
    return lambda part: part[table].extend(copy.deepcopy(lines))


def code(**fields: Any) -> Callable[[Part], None]:
    """A change that maps one more native code, P2, to prices unless told otherwise."""
    line = {"native": "P2", "indicator": "wages", "name": "Wages of A", **fields}
    return lambda part: part["series"][0]["codes"].append(line)


def source_rights(**fields: Any) -> Callable[[Part], None]:
    return lambda part: part["source"][0]["rights"].update(fields)


def test_the_small_catalogue_is_right() -> None:
    catalog = build([small()])
    assert catalog.series["office-prices"]["P1"].id == "office-prices:country_aaa:prices:M"
    assert catalog.indicators["inflation"].kind == "derived"
    assert catalog.indicators["inflation"].inputs == ("prices",)


WRONG: dict[str, tuple[Callable[[Part], None], str]] = {
    "table": (lambda part: part.update(series_group=[]), "unknown table [[series_group]], allowed are unit, provider, "),
    "field": (put("unit", symbol="%"), "unit percent: unknown field symbol, allowed are id, label, scale"),
    "field of a series": (code(colour="red"), "series office-prices P2: unknown field colour, allowed are source, native, "),
    "a guess seen": (code(elsewhere=True, guess=True), "series office-prices P2: a guess was not seen elsewhere"),
    "field of rights": (
        source_rights(derivative_allowed=True),
        "source office-prices: unknown field derivative_allowed at rights, allowed are exposure, channel, license, ",
    ),
    "class of a licence": (
        source_rights(license_class="free"),
        "source office-prices: Invalid enum value 'free' at rights.licenseClass, allowed are open, attribution, non-commercial, consent",
    ),
    "class and use": (
        source_rights(license_class="open", commercial_use="no"),
        "source office-prices: license_class is open, its other rights say non-commercial",
    ),
    "exposure": (
        source_rights(exposure="secret"),
        "source office-prices: unknown exposure secret, allowed are public, internal_only, restricted, blocked",
    ),
    "exposure of a series": (
        code(exposure="shut", reason="because"),
        "series office-prices P2: unknown exposure shut, allowed are public, internal_only, restricted, blocked",
    ),
    "cadence": (
        lambda part: part["source"][0].update(cadence="0 25 * * *"),
        "source office-prices: cadence: '0 25 * * *' is not a cron line: Bad hour",
    ),
    "exposure without a reason": (source_rights(exposure="blocked"), "source office-prices: exposure blocked needs a reason"),
    "channel without a reason": (source_rights(channel="internal_only"), "source office-prices: channel internal_only needs a channel_reason"),
    "series withheld without a reason": (code(exposure="restricted"), "series office-prices P2: exposure restricted needs a reason"),
    "duplicate slug": (add("indicator", raw("prices", name="again")), "indicator prices: is there twice"),
    "duplicate id": (add("unit", {"id": "percent", "label": "per cent"}), "unit percent: is there twice"),
    "raw and derived": (add("derived", formula("wages", ["prices"])), "indicator wages: is both raw and derived"),
    "alias of two": (add("indicator", raw("rent", aliases=["cost"])), "indicator name cost: belongs to both prices and rent"),
    "alias that is a slug": (add("indicator", raw("rent", aliases=["wages"])), "indicator name wages: belongs to both wages and rent"),
    "alias that another's publisher has": (add("indicator", raw("rent", aliases=["Cost"])), "indicator name Cost: belongs to both prices and rent"),
    "publisher's name without a series": (
        put("indicator", published_as=[{"name": "Prices", "source": "nobody"}]),
        "indicator prices: nobody has no series of it to be called Prices",
    ),
    "publisher's name of another": (
        lambda part: part["indicator"][1].update(published_as=[{"name": "Wages", "source": "office-prices"}]),
        "indicator wages: office-prices has no series of it to be called Wages",
    ),
    "category": (put("indicator", category="weather"), "indicator prices: Invalid enum value 'weather' at category, allowed are inflation, labor, "),
    "kind": (put("indicator", kind="cooked"), "indicator prices: Invalid enum value 'cooked' at kind, allowed are raw, derived"),
    "unit of an indicator": (put("indicator", unit="furlong"), "indicator prices: unknown unit furlong"),
    "order": (put("indicator", preferred=["nobody"]), "indicator prices: unknown source nobody in its order"),
    "slug of two entities": (lambda part: part["entity"][1].update(slug="aaa"), "entity name aaa: belongs to both country_aaa and country_bbb"),
    "scope of two entities": (
        lambda part: [line.update(rates_scope="AAA") for line in part["entity"]],
        "rates scope AAA: belongs to both country_aaa and country_bbb",
    ),
    "provider kind": (put("provider", kind="blog"), "provider office: Invalid enum value 'blog' at kind, allowed are central_bank, "),
    "provider of a source": (put("source", provider="nobody"), "source office-prices: unknown provider nobody"),
    "simulated source by another name": (put("source", simulated=True), "source office-prices: simulated is true, which its id contradicts"),
    "declared release": (
        put("source", declared_release="next_day", release_url="/"),
        "source office-prices: Invalid enum value 'next_day' at declared_release, allowed are same_day",
    ),
    "declared release without proof": (put("source", declared_release="same_day"), "source office-prices: a declared release needs release_url"),
    "no inputs": (put("derived", inputs=[]), "derived inflation: Expected array of length >= 1 at inputs"),
    "unit of a formula": (put("derived", unit="furlong"), "indicator inflation: unknown unit furlong"),
    "input": (put("derived", inputs=["rents|prices"]), "derived inflation: unknown input rents"),
    "entity of an input": (put("derived", inputs=["country_zzz:prices"]), "derived inflation: unknown entity country_zzz"),
    "entity without the indicator": (put("derived", except_entities=["country_zzz"]), "derived inflation: unknown entity country_zzz"),
    "frequency of a formula": (
        put("derived", frequencies=["X"]),
        "derived inflation: Invalid enum value 'X' at frequencies[0], allowed are A, S, Q, N, M, W, D",
    ),
    "circle": (
        lambda part: part.update(derived=[formula("up", ["prices|down"]), formula("down", ["country_aaa:up"])]),
        "derived up: is computed from itself: up → down → up",
    ),
    "source of a series": (lambda part: part["series"][0].update(source="nobody"), "series nobody: unknown source nobody"),
    "indicator of a series": (code(indicator="rents"), "series office-prices P2: unknown indicator rents"),
    "derived indicator of a series": (code(indicator="inflation"), "series office-prices P2: inflation is derived"),
    "entity of a series": (code(entity="country_zzz"), "series office-prices P2: unknown entity country_zzz"),
    "unit of a series": (code(unit="furlong"), "series office-prices P2: unknown unit furlong"),
    "frequency of a series": (code(frequency="X"), "series office-prices P2: Invalid enum value 'X' at frequency, allowed are A, S, Q, N, M, W, D"),
    "native code twice": (code(native="P1"), "series office-prices P1: is mapped twice"),
    "two codes, one series": (code(indicator="prices"), "series office-prices:country_aaa:prices:M: two native codes make it, P1 and P2"),
    "no codes": (
        lambda part: part["series"].append({"source": "office-prices", "codes": []}),
        "series office-prices: codes: Expected array of length >= 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_contradiction_is_named_in_a_line(case: str) -> None:
    change, message = WRONG[case]
    part = small()
    change(part)
    with pytest.raises(CatalogError) as caught:
        build([part])
    # Of a list of what is allowed the beginning will do.
    assert len(str(caught.value).splitlines()) == len(message.splitlines())
    assert str(caught.value).startswith(message)


def test_every_problem_is_told_at_once() -> None:
    part = small()
    put("indicator", unit="furlong")(part)
    put("derived", inputs=["rents"])(part)
    with pytest.raises(CatalogError) as caught:
        build([part])
    assert str(caught.value).splitlines() == [
        "indicator prices: unknown unit furlong",
        "derived inflation: unknown input rents",
    ]


def test_rights_are_read_by_name_in_either_spelling() -> None:
    part = small()
    rights = {"license": "open", "attribution": "O", "exposure": "restricted", "reason": "sold", "terms_url": "/t"}
    rights |= {"channel": "blocked", "channel_reason": "shut", "derivatives_allowed": True, "commercialUse": "no"}
    put("source", rights=rights)(part)
    read = build([part]).sources["office-prices"].rights
    assert (read.exposure, read.channel) == (Exposure.restricted, Exposure.blocked)
    assert (read.reason, read.channel_reason, read.terms_url) == ("sold", "shut", "/t")
    assert (read.derivatives_allowed, read.commercial_use) == (True, "no")


def test_a_code_overrides_the_defaults_of_its_group() -> None:
    part = small()
    code(unit="percent", exposure="restricted", reason="sold")(part)
    natives = build([part]).series["office-prices"]
    assert (natives["P1"].unit, natives["P1"].exposure) == ("index", Exposure.public)
    assert (natives["P2"].unit, natives["P2"].exposure) == ("percent", Exposure.restricted)


def test_parts_are_put_together_in_any_order() -> None:
    parts = [{table: lines} for table, lines in small().items()]
    assert build(parts) == build(reversed(parts)) == build([small()])


def test_an_extra_part_is_checked_against_the_packaged_one() -> None:
    with pytest.raises(CatalogError, match=r"^indicators/prices.toml: indicator cpi_index: is there twice$"):
        load([{"indicator": [raw("cpi_index", aliases=["cpi"])]}])


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("cpi_index", [(None, "cpi_index")]),
        ("cpi_index_nsa|cpi_index", [(None, "cpi_index_nsa"), (None, "cpi_index")]),
        ("country_usa:gov_yield_10y", [("country_usa", "gov_yield_10y")]),
    ],
)
def test_an_input_names_alternatives_and_entities(text: str, slugs: list[tuple[str | None, str]]) -> None:
    assert input_slugs(text) == slugs


def test_marks_of_guesses_change_nothing_of_what_is_served() -> None:
    part = small()
    part["series"][0]["codes"][0]["guess"] = True
    assert build([part]) == build([small()])


# Facts about the catalogue that is shipped: what the specification promises is there, and says what it should.


RAW = """
policy_rate policy_rate_upper policy_rate_lower overnight_rate long_term_rate_10y money_market_rate_3m
gov_yield_1m gov_yield_2m gov_yield_3m gov_yield_6m gov_yield_1y gov_yield_2y gov_yield_3y gov_yield_5y gov_yield_7y
gov_yield_10y gov_yield_20y gov_yield_30y gov_par_yield_2y gov_par_yield_5y gov_par_yield_10y gov_par_yield_20y
gov_par_yield_30y gov_real_yield_5y gov_real_yield_10y gov_real_yield_20y gov_real_yield_30y high_yield_spread
financial_conditions_index cpi_index cpi_index_nsa core_cpi_index cpi_inflation_official_yoy pce_price_index
core_pce_price_index ppi_index employment_cost_index unemployment_rate nonfarm_payrolls initial_jobless_claims
labor_force_participation_rate average_hourly_earnings job_openings employment_persons nominal_gdp real_gdp
potential_gdp output_gap industrial_production_index capacity_utilization gdp_current_usd gdp_growth_annual
gdp_per_capita_usd housing_starts building_permits house_price_index exports imports trade_balance
current_account_pct_gdp fx_reserves_months_imports current_account target_balance personal_income
personal_consumption saving_rate retail_sales retail_turnover_index m2 m3 notes_and_coin central_bank_assets
total_credit_pct_gdp total_credit credit_to_gdp_gap_official debt_service_ratio lending_standards
government_debt_pct_gdp central_government_debt_pct_gdp fiscal_balance_pct_gdp consumer_confidence
economic_sentiment leading_indicator population usd_exchange_rate eur_reference_rate
effective_exchange_rate_nominal effective_exchange_rate_real zinc_price oil_price_brent oil_price_wti
""".split()  # noqa: SIM905  (a table of words is read faster than ninety quoted lines)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def test_every_raw_indicator_of_the_specification_is_there(catalog: Catalog) -> None:
    there = {slug for slug, indicator in catalog.indicators.items() if indicator.kind == "raw"}
    assert set(RAW) - there == set()


def test_preferred_orders_name_the_sources_that_feed_the_indicator(catalog: Catalog) -> None:
    feeds: dict[str, set[str]] = {}
    for source, natives in catalog.series.items():
        for spec in natives.values():
            feeds.setdefault(spec.indicator, set()).add(source)
    orders = {i.slug: set(i.preferred) for i in catalog.indicators.values() if i.kind == "raw"}
    assert {slug: order for slug, order in orders.items() if order} == feeds
    wanted = [
        "us-treasury-par", "ecb-yc", "boe-iadb", "boe-glc", "boc-valet", "mof-japan", "rba", "snb", "norges-bank", "bundesbank", "fred",
    ]  # fmt: skip
    for slug in [name for name in RAW if name.startswith("gov_yield_")]:
        order = catalog.indicators[slug].preferred
        assert [source for source in wanted if source in order] == [name for name in order if name in wanted], slug


def test_units_agree_with_the_indicators(catalog: Catalog) -> None:
    specs = [spec for natives in catalog.series.values() for spec in natives.values()]
    units = {spec.native: (spec.unit, catalog.indicators[spec.indicator].unit) for spec in specs}
    assert {native: pair for native, pair in units.items() if pair[1] not in {None, pair[0]}} == {}


def test_some_series_of_fred_are_never_public_and_say_why(catalog: Catalog) -> None:
    consent = Consent(by="an operator", on="2026-01-01", reference="letter")
    rights = catalog.sources["fred"].rights
    shut = {
        native: spec.reason
        for native, spec in catalog.series["fred"].items()
        if effective(rights, spec.exposure, consent) is not Exposure.public
    }
    assert set(shut) == {"BAMLH0A0HYM2", "NFCI"}
    assert "ICE Data Indices" in (shut["BAMLH0A0HYM2"] or "")
    assert effective(rights, catalog.series["fred"]["GDP"].exposure, None) is Exposure.internal_only
    assert rights.derivatives_allowed is False


def test_the_withheld_channel_says_which_settings_open_it(catalog: Catalog) -> None:
    reason = catalog.sources["fred"].rights.channel_reason or ""
    assert re.findall(r"ALMANAC_[A-Z_]+", reason) == [
        "ALMANAC_SOURCES__FRED__CONSENT__BY",
        "ALMANAC_SOURCES__FRED__CONSENT__ON",
        "ALMANAC_SOURCES__FRED__CONSENT__REFERENCE",
    ]


def test_mixed_results_never_make_a_withheld_input_public(catalog: Catalog) -> None:
    """Were it otherwise, a second formula over a withheld derived value would send what the first one hid."""
    source = catalog.sources["almanac-derived"]
    assert (source.rights.derivatives_allowed, source.connector, source.provider) == (False, "", "almanac")


def test_frequencies_of_a_source_are_those_of_its_series(catalog: Catalog) -> None:
    for source, natives in catalog.series.items():
        assert set(catalog.sources[source].frequencies) == {spec.frequency for spec in natives.values()}, source
