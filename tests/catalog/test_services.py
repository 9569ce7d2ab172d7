"""Services, area tables and lines that stand for one series of every place: in an invented catalogue, and as shipped."""

import copy

import pytest

from almanac.catalog.load import build, shipped
from almanac.catalog.records import CatalogError
from almanac.domain.rights import Exposure

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
    series = build([part]).series["office-rates"]
    assert {native: (spec.entity, spec.copy_of) for native, spec in series.items()} == {
        "RATES.D.AA.X": ("country_aaa", None),
        "RATES.D.1W.X": ("region_all", None),
        "RATES.D.ZZ.X": ("country_bbb", None),
        "RATES.D.BB.X": ("country_bbb", "RATES.D.ZZ.X"),
    }
    part["areas"][0]["former"] = {"BB": "YY"}
    with pytest.raises(CatalogError, match="area table places has no code YY"):
        build([part])


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


LINES = "series office-rates RATES.D.{area}.X: "
SHUT = "".join(
    f"series office-rates RATES.D.{area}.X: may not be public for its KIND\n" for area in ("AA", "BB", "1W")
).rstrip()
WRONG = {
    "area table": (line(each="moons"), LINES + "unknown area table moons"),
    "code left out": (line(**{"except": ["ZZ"]}), LINES + "area table places has no code ZZ"),
    "only code": (line(only=["YY", "ZZ"]), LINES + "area table places has no code YY, ZZ"),
    "no code": (line(only=[["AA"]]), LINES + "Expected `str`, got `array` - at `$.only[0]`"),
    "no table": (line(each=["places"]), LINES + "Expected `str | null`, got `array` - at `$.each`"),
    "variant that is no text": (line(variant=3), LINES + "Expected str | null, got int at variant"),
    "field of a place": (areas(field="iso"), "areas places: Invalid enum value 'iso' at field, allowed are iso2, iso3"),
    "field of a pattern": (line(only=["AA"], colour="red"), LINES + "unknown field colour, allowed are source, "),
    "placeholder": (
        line(only=["AA"], native="RATES.D.{aera}.X"),
        "series office-rates RATES.D.{aera}.X: native: '{aera}' is none of {area}, {name}, {currency}",
    ),
    "open brace": (line(name="{name"), LINES + "name: '{name' is no pattern"),
    "only without each": (line(each=None, only=["AA"], entity="country_aaa"), LINES + "except and only need each"),
    "key too short": (line(only=["AA"], native="RATES.D.{area}"), "series office-rates RATES.D.AA: not one code for each of FREQ, AREA, KIND"),
    "dimension left open": (
        line(only=["AA"], native="RATES.D.{area}."),
        "series office-rates RATES.D.AA.: not one code for each of FREQ, AREA, KIND",
    ),
    "flow of a key": (line(only=["AA"], native="WAGES.D.{area}.X"), "series office-rates WAGES.D.AA.X: no flow of service office"),
    "allowlist": (line(native="RATES.D.{area}.Y"), SHUT.replace(".X:", ".Y:")),
    "two keys, one series": (
        {**small(), "series": [*small()["series"], *line(only=["AA"], native="RATES.B.{area}.X")["series"]]},
        "series office-rates:country_aaa:r:D: two native codes make it, RATES.D.AA.X and RATES.B.AA.X",
    ),
    "service": (source("sdmx:nobody"), "source office-rates: unknown service nobody"),
    "flow of a source": (source("sdmx:office/WAGES"), "source office-rates: service office has no flow WAGES"),
    "unknown field of a service": (service(colour="red"), "service office: unknown field colour, allowed are id, hosts, "),
    "unknown field of a flow": (flow(colour="red"), "service office: unknown field colour at flow[0], allowed are id, dimensions, "),
    "dimension asked whole": (flow(every=["MOON"]), "service office: flow RATES has no dimension MOON"),
    "dimension of the allowlist": (flow(public={"KIND": ["X"], "MOON": ["1"]}), "service office: flow RATES has no dimension MOON"),
    "variant of nobody": (areas(variants={"ZZ": "former"}), LINES + "area table places has no code ZZ"),
    "members of nobody": (areas(compositions={"ZZ": "none"}), LINES + "area table places has no code ZZ"),
    "flag that is none": (service(flags="ab", confidential="c"), "service office: confidential c is not among its flags ab"),
    "zone": (service(zone="Mars/Olympus"), "service office: unknown time zone Mars/Olympus"),
    "dot in a flow": (flow(id="RA.TES"), "service office: flow RA.TES has a dot in its name"),
    "host of two": (second_service(), "services office and other: share the host data.example.org"),
}  # fmt: skip


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


def test_the_standing_example_of_a_withheld_source(catalog):
    rights = catalog.sources["imf"].rights
    assert (rights.channel, rights.exposure, rights.derivatives_allowed) == (
        Exposure.internal_only,
        Exposure.public,
        False,
    )
    assert catalog.sources["bis"].rights.commercial_use == "no_extra_charge"
