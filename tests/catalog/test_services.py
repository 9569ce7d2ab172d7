"""Services, area tables and lines that stand for one series of every place: in an invented catalogue, and as shipped."""

import copy
from datetime import date

import pytest

from almanac.catalog.load import build, shipped
from almanac.catalog.records import CatalogError
from almanac.domain.rights import Exposure
from almanac.sources.base import connector
from almanac.sources.formats import strict

PLACES = [
    {"id": "country_aaa", "slug": "aland", "name": "A", "kind": "country", "iso2": "AA", "currency": "AAC"},
    {"id": "country_bbb", "slug": "bland", "name": "B", "kind": "country", "iso2": "BB"},
    {"id": "region_all", "slug": "everywhere", "name": "Everywhere", "kind": "region"},
]


def small():
    """An invented catalogue that is right: a service with one flow, an area table, two series by pattern."""
    return {
        "unit": [{"id": "percent", "label": "%"}],
        "provider": [{"id": "office", "name": "O", "kind": "statistics_office", "homepage": "/", "attribution": "O"}],
        "source": [
            {
                "id": "office-rates",
                "provider": "office",
                "name": "Rates",
                "description": "Invented.",
                "homepage": "/",
                "connector": "sdmx:office/RATES",
                "rights": {"license": "open", "attribution": "O"},
            }
        ],
        "entity": copy.deepcopy(PLACES),
        "indicator": [{"slug": s, "name": s, "description": s, "category": "rates", "kind": "raw"} for s in ("r", "s")],
        "service": [
            {
                "id": "office",
                "hosts": ["data.example.org"],
                "url": "https://data.example.org/{flow}/{key}",
                "flow": [{"id": "RATES", "dimensions": ["FREQ", "AREA", "KIND"], "public": {"KIND": ["X"]}}],
            }
        ],
        "areas": [{"id": "places", "field": "iso2", "codes": {"1W": "region_all"}}],
        "series": [
            {
                "source": "office-rates",
                "frequency": "D",
                "unit": "percent",
                "indicator": "r",
                "codes": [{"each": "places", "native": "RATES.D.{area}.X", "name": "{name}, rate"}],
            }
        ],
    }


def line(**fields):
    part = small()
    part["series"][0]["codes"][0].update(fields)
    return part


def natives(part):
    return {native: (spec.entity, spec.name) for native, spec in build([part]).series["office-rates"].items()}


def test_a_pattern_is_one_series_for_every_place_of_its_table():
    assert natives(small()) == {
        "RATES.D.AA.X": ("country_aaa", "A, rate"),
        "RATES.D.BB.X": ("country_bbb", "B, rate"),
        "RATES.D.1W.X": ("region_all", "Everywhere, rate"),
    }


def test_a_table_s_own_code_stands_in_place_of_the_entity_s():
    part = small()
    part["areas"][0]["codes"] = {"AA": "region_all"}
    assert natives(part) == {
        "RATES.D.BB.X": ("country_bbb", "B, rate"),
        "RATES.D.AA.X": ("region_all", "Everywhere, rate"),
    }


def test_a_former_code_of_a_place_is_a_copy_of_its_present_one():
    """So its rows are the place's, and what a shorter answer under it leaves out is not withdrawn."""
    part = small()
    part["areas"][0]["codes"]["ZZ"] = "country_bbb"
    part["areas"][0]["former"] = {"BB": "ZZ"}
    found = build([part]).series["office-rates"]
    assert {native: (spec.entity, spec.copy_of) for native, spec in found.items()} == {
        "RATES.D.AA.X": ("country_aaa", None),
        "RATES.D.1W.X": ("region_all", None),
        "RATES.D.ZZ.X": ("country_bbb", None),
        "RATES.D.BB.X": ("country_bbb", "RATES.D.ZZ.X"),
    }
    part["areas"][0]["former"] = {"BB": "YY"}
    with pytest.raises(CatalogError, match="area table places has no code YY"):
        build([part])


def test_the_places_that_publishers_write_otherwise_are_found(catalog):
    """West Bank and Gaza, Kosovo, and codes of the World Bank's earlier answers."""
    written = {
        "imf": {"WBG": "pse", "KOS": "xkx", "UVK": "xkx"},
        "world-bank": {
            "PSE": "pse",
            "WBG": "pse",
            "XKX": "xkx",
            "KSV": "xkx",
            "ROM": "rou",
            "ZAR": "cod",
            "TMP": "tls",
        },
    }
    for source_id, codes in written.items():
        native = {"imf": "WEO.{}.NGDP_R.A", "world-bank": "{}/NY.GDP.MKTP.CN"}[source_id]
        for code, place in codes.items():
            assert catalog.series[source_id][native.format(code)].entity == f"country_{place}"


def test_a_pattern_leaves_out_places_by_name_and_those_without_a_currency_it_needs():
    assert set(natives(line(**{"except": ["AA"]}))) == {"RATES.D.BB.X", "RATES.D.1W.X"}
    assert set(natives(line(only=["AA"]))) == {"RATES.D.AA.X"}
    assert natives(line(name="{name}, {currency}")) == {"RATES.D.AA.X": ("country_aaa", "A, AAC")}


def service(**fields):
    part = small()
    part["service"][0].update(fields)
    return part


def flow(**fields):
    part = small()
    part["service"][0]["flow"][0].update(fields)
    return part


def areas(**fields):
    part = small()
    part["areas"][0].update(fields)
    return part


def source(connector):
    part = small()
    part["source"][0]["connector"] = connector
    return part


def second_service(**fields):
    part = small()
    part["service"].append(part["service"][0] | {"id": "other"} | fields)
    return part


LINES = "series RATES.D.{area}.X: "
SHUT = "".join(
    f"series office-rates RATES.D.{area}.X: may not be public for its KIND\n" for area in ("AA", "BB", "1W")
).rstrip()
WRONG = {
    "area table": (line(each="moons"), LINES + "unknown area table moons"),
    "code left out": (line(**{"except": ["ZZ"]}), LINES + "area table places has no code ZZ"),
    "only code": (line(only=["YY", "ZZ"]), LINES + "area table places has no code YY, ZZ"),
    "field of a pattern": (line(only=["AA"], colour="red"), "series RATES.D.AA.X: unknown field colour"),
    "placeholder": (
        line(only=["AA"], native="RATES.D.{aera}.X"),
        "series RATES.D.{aera}.X: native: '{aera}' is none of {area}, {name}, {currency}",
    ),
    "open brace": (line(name="{name"), LINES + "name: '{name' is no pattern"),
    "only without each": (
        line(each=None, only=["AA"], entity="country_aaa"),
        LINES + "except and only need each",
    ),
    "key too short": (
        line(only=["AA"], native="RATES.D.{area}"),
        "series office-rates RATES.D.AA: not one code for each of FREQ, AREA, KIND",
    ),
    "dimension left open": (
        line(only=["AA"], native="RATES.D.{area}."),
        "series office-rates RATES.D.AA.: not one code for each of FREQ, AREA, KIND",
    ),
    "flow of a key": (
        line(only=["AA"], native="WAGES.D.{area}.X"),
        "series office-rates WAGES.D.AA.X: no flow of service office",
    ),
    "allowlist": (line(native="RATES.D.{area}.Y"), SHUT.replace(".X:", ".Y:")),
    "two keys, one series": (
        {**small(), "series": [*small()["series"], *line(only=["AA"], native="RATES.B.{area}.X")["series"]]},
        "series office-rates:country_aaa:r:D: two native codes make it, RATES.D.AA.X and RATES.B.AA.X",
    ),
    "service": (source("sdmx:nobody"), "source office-rates: unknown service nobody"),
    "flow of a source": (source("sdmx:office/WAGES"), "source office-rates: service office has no flow WAGES"),
    "unknown field of a service": (service(colour="red"), "Object contains unknown field `colour`"),
    "unknown field of a flow": (flow(colour="red"), "Object contains unknown field `colour`"),
    "dimension asked whole": (flow(every=["MOON"]), "service office: flow RATES has no dimension MOON"),
    "dimension of the allowlist": (
        flow(public={"KIND": ["X"], "MOON": ["1"]}),
        "service office: flow RATES has no dimension MOON",
    ),
    "variant of nobody": (areas(variants={"ZZ": "former"}), LINES + "area table places has no code ZZ"),
    "members of nobody": (areas(compositions={"ZZ": "none"}), LINES + "area table places has no code ZZ"),
    "flag that is none": (
        service(flags="ab", confidential="c"),
        "service office: confidential c is not among its flags ab",
    ),
    "zone": (service(zone="Mars/Olympus"), "service office: unknown time zone Mars/Olympus"),
    "dot in a flow": (flow(id="RA.TES"), "service office: flow RA.TES has a dot in its name"),
    "host of two": (second_service(), "services office and other share the host data.example.org"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_contradiction_is_an_error_that_says_what_it_is(name):
    part, said = WRONG[name]
    if part["series"][0]["codes"][0].get("each", "") is None:
        del part["series"][0]["codes"][0]["each"]
    with pytest.raises(CatalogError) as caught:
        build([part])
    assert said in str(caught.value)


def test_an_area_of_nobody_is_named():
    part = small()
    part["areas"][0]["codes"]["2W"] = "region_none"
    with pytest.raises(CatalogError, match="area table places: unknown entity region_none"):
        build([part])


def test_a_restricted_series_may_lie_outside_the_allowlist():
    part = line(native="RATES.D.{area}.Y", only=["AA"], exposure="restricted", reason="Because.")
    assert build([part]).series["office-rates"]["RATES.D.AA.Y"].exposure is Exposure.restricted


@pytest.fixture(scope="module")
def catalog():
    return shipped()


def test_a_mapped_data_set_is_mapped_for_every_country(catalog):
    countries = {e.iso2 for e in catalog.entities.values() if e.iso2}
    bis = catalog.series["bis"]
    for pattern in ("WS_CBPOL.D.{}", "WS_EER.M.R.B.{}", "WS_SPP.Q.{}.N.628", "WS_TC.Q.{}.P.A.M.770.A", "WS_DSR.Q.{}.P"):
        assert [area for area in [*countries, "XM"] if pattern.format(area) not in bis] == [], pattern
    assert bis["WS_XRU.M.JP.JPY.A"].id == "bis:country_jpn:usd_exchange_rate:M"
    assert bis["WS_SPP.Q.5R.N.628"].entity == "region_advanced_economies"
    assert "WS_XRU.M.US.USD.A" not in bis
    assert catalog.series["imf"]["WEO.SVK.NGDP_R.A"].entity == "country_svk"
    assert catalog.series["imf"]["WEO.G163.LUR.A"].entity == "region_euro_area"


def test_a_rate_in_a_former_currency_is_a_series_of_its_own(catalog):
    """Kuna per dollar are never served as euro per dollar, nor passed over."""
    bis = catalog.series["bis"]
    now, then = bis["WS_XRU.M.HR.EUR.A"], bis["WS_XRU.M.HR.HRK.A"]
    assert (now.id, now.currency, now.discontinued) == ("bis:country_hrv:usd_exchange_rate:M", "EUR", False)
    assert (then.id, then.currency, then.discontinued) == (f"{now.id}:hrk", "HRK", True)
    assert then.name == "Croatia, HRK per US dollar, monthly average"
    former = {spec.currency for spec in bis.values() if spec.indicator == "usd_exchange_rate" and spec.variant}
    assert {"BGN", "HRK", "LTL", "LVL", "EEK", "SKK", "MTL", "CYP", "SIT", "GRD"} <= former
    # Only where the code has the currency in it: other series of Croatia are in the currency that their message states.
    assert [spec.native for spec in bis.values() if spec.variant == "hrk" and "XRU" not in spec.native] == []


def test_policy_rates_are_as_fresh_as_the_last_look_at_them(catalog):
    rates = [s for natives in catalog.series.values() for s in natives.values() if s.judged_by_fetch]
    assert {spec.indicator for spec in rates} == {"policy_rate"}
    bis = catalog.series["bis"]
    assert (bis["WS_CBPOL.D.US"].judged_by_fetch, bis["WS_CBPOL.D.US"].discontinued) == (True, False)
    assert (bis["WS_CBPOL.D.DE"].judged_by_fetch, bis["WS_CBPOL.D.DE"].discontinued) == (False, True)
    assert "midpoint" in bis["WS_CBPOL.D.US"].name


def test_allowances_of_the_bis_are_the_data_sets_own(catalog):
    flows = {}
    for native, spec in catalog.series["bis"].items():
        flows.setdefault((native.partition(".")[0], spec.frequency.value), set()).add(spec.allowance_days)
    assert flows == {
        ("WS_CBPOL", "D"): {30},
        ("WS_CBPOL", "M"): {None},
        ("WS_XRU", "D"): {30},
        ("WS_XRU", "M"): {None},
        ("WS_EER", "D"): {30},
        ("WS_EER", "M"): {None},
        ("WS_SPP", "Q"): {250},
        ("WS_LONG_CPI", "M"): {None},
        ("WS_TC", "Q"): {290},
        ("WS_CREDIT_GAP", "Q"): {290},
        ("WS_DSR", "Q"): {290},
    }


def test_of_the_ecb_s_financial_markets_only_its_own_key_rates_are_public(catalog):
    public = {native for native, s in catalog.series["ecb-fm"].items() if s.exposure is Exposure.public}
    assert public == {"FM.D.U2.EUR.4F.KR.DFR.LEV"}
    assert set(catalog.series["ecb-fm"]) - public == {"FM.M.U2.EUR.RT.MM.EURIBOR3MD_.HSTA"}


def test_curves_say_their_kind_and_compounding(catalog):
    def kinds(source):
        return {
            (s.indicator.rpartition("_")[0], s.curve_type, s.compounding)
            for s in catalog.series[source].values()
            if "yield" in s.indicator
        }

    assert kinds("ecb-yc") == {("gov_yield", "spot", "continuous"), ("gov_par_yield", "par", "continuous")}
    # The par curve is the main one; the spot curve of the same model stands beside it as a variant.
    assert kinds("bundesbank") == {("gov_yield", "par", "annual"), ("gov_yield", "spot", "annual")}
    assert {(n.split(".")[3], s.curve_type, s.variant) for n, s in catalog.series["bundesbank"].items()} == {
        ("ZAR", "par", None),
        ("ZST", "spot", "spot"),
    }
    assert kinds("norges-bank") == {("gov_yield", "benchmark", None), ("gov_yield", "bill", None)}
    # 3M and 12M of Norway are 3 and 12 months; each tenor goes to the indicator of its length.
    norway = {n.split(".")[2]: s.indicator for n, s in catalog.series["norges-bank"].items() if "GOVT" in n}
    assert norway == {f"{t}": f"gov_yield_{'1y' if t == '12M' else t.lower()}" for t in norway}
    germany = {n.split(".")[9]: s.indicator for n, s in catalog.series["bundesbank"].items()}
    assert germany == {f"R{years:02}XX": f"gov_yield_{years}y" for years in (1, 2, 3, 5, 7, 10, 20, 30)}
    euro = {n.rpartition("_")[2]: s.indicator.rpartition("_")[2] for n, s in catalog.series["ecb-yc"].items()}
    assert euro == {tenor: tenor.lower() for tenor in euro}


def test_a_former_base_of_australian_prices_is_a_variant(catalog):
    prices = [s for s in catalog.series["abs"].values() if s.indicator == "cpi_index" and s.frequency.value == "Q"]
    assert {(s.native, s.id, s.basis) for s in prices} == {
        ("CPI.1.10001.10.50.Q", "abs:country_aus:cpi_index:Q", None),
        ("CPI-V1.1.10001.10.50.Q", "abs:country_aus:cpi_index:Q:former-2011-12", "2011-12=100"),
    }


def test_the_standing_example_of_a_withheld_source(catalog):
    rights = catalog.sources["imf"].rights
    assert (rights.channel, rights.exposure, rights.derivatives_allowed) == (
        Exposure.internal_only,
        Exposure.public,
        False,
    )
    assert catalog.sources["bis"].rights.commercial_use == "no_extra_charge"


def test_no_answer_that_is_planned_is_reckoned_at_more_than_half_of_what_is_read_at_once(catalog):
    """From 1950 where a flow is asked whole: what an empty store asks for of every service."""
    told = {}
    for source in catalog.sources.values():
        if not source.connector.startswith("sdmx:"):
            continue
        reader = connector(source.connector)
        for native, spec in catalog.series.get(source.id, {}).items():
            flow, _ = reader._split(native)
            years = flow.window_years({spec.frequency}, strict.PARTS // 2) or 76
            told[flow.id, spec.frequency.value] = flow.parts({spec.frequency}, years)
    assert {key: parts for key, parts in told.items() if parts > strict.PARTS // 2} == {}
    assert told["EXR", "D"] > strict.PARTS // 4  # what would be 10 million, asked whole


def test_windows_of_the_daily_flows_are_as_long_as_they_may_be_and_the_last_is_open(catalog):
    plans = {
        name: connector(catalog.sources[name].connector).plan(
            catalog.sources[name], catalog.series[name], None, date(2026, 11, 25), None
        )
        for name in ("ecb-exr", "bis")
    }
    daily = [one for one in plans["ecb-exr"] if "/D.." in one.url]
    assert [one.url.partition("startPeriod=")[2] for one in daily][-2:] == [
        "2023-01-01&endPeriod=2024-12-31",
        "2025-01-01",
    ]
    assert [one.closed for one in daily] == [True] * 13 + [False]
    assert len([one for one in plans["bis"] if not one.closed]) < 20 < len(plans["bis"])
