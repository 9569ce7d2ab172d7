"""The countries and regions that are shipped: codes, names, scopes, currencies."""

import re
from datetime import date

import msgspec
import pytest

from almanac.catalog import checks
from almanac.catalog.currencies import Changeover, Currencies, Currency, UnknownCurrency, apart, in_currency
from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def test_every_place_of_iso_3166_is_there_with_well_formed_codes(catalog: Catalog) -> None:
    """ISO 3166-1 has 249 entries; Kosovo is a country without codes; the sum pins each code against a slip."""
    countries = [e for e in catalog.entities.values() if e.kind == "country"]
    coded = [e for e in countries if e.iso3]
    assert (len(countries), len(coded)) == (250, 249)
    assert [e.id for e in coded if e.id != f"country_{(e.iso3 or '').lower()}"] == []
    shapes = (("iso2", r"[A-Z]{2}"), ("iso3", r"[A-Z]{3}"), ("iso_numeric", r"[0-9]{3}"))
    for field, shape in shapes:
        values = [getattr(e, field) for e in coded]
        assert [value for value in values if not re.fullmatch(shape, value)] == [], field
        assert len(set(values)) == 249, field
    assert [e.slug for e in catalog.entities.values() if not re.fullmatch(r"[a-z]+(-[a-z]+)*", e.slug)] == []


def test_no_name_of_a_place_means_two(catalog: Catalog) -> None:
    owner: dict[str, str] = {}
    for entity in catalog.entities.values():
        codes = (entity.slug, entity.iso2, entity.iso3, entity.iso_numeric)
        for name in {name.casefold() for name in (entity.name, *codes, *entity.aliases, *entity.former_names) if name}:
            assert owner.setdefault(name, entity.id) == entity.id, name


def test_currencies_are_codes_of_iso_4217_and_none_that_was_replaced(catalog: Catalog) -> None:
    used = {e.currency for e in catalog.entities.values() if e.kind == "country" and e.currency}
    assert [code for code in used if not re.fullmatch(r"[A-Z]{3}", code)] == []
    replaced = "ANG HRK BGN LTL EEK ZWL SLL VEF MRO STD BYR CUC DEM FRF TRL ZMK"
    assert used & set(replaced.split()) == set()
    assert [e.id for e in catalog.entities.values() if e.kind == "country" and not e.currency] == ["country_ata"]
    assert len(used) == 153


# -- in which currency amounts of a local currency are, by what a message states and by the day -----------------------


MONEY = shipped().money
NOW = date(2026, 11, 1)


def spec(entity, unit="local_currency", **more):
    return SeriesSpec(
        source="x", native="N", indicator="nominal_gdp", entity=entity, frequency=Frequency.ANNUAL, unit=unit, name="GDP",
        **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "last", "before", "after"),
    [
        ("bgr", "2025-12-31", "BGN", "EUR"),
        ("hrv", "2022-12-31", "HRK", "EUR"),
        ("ltu", "2014-12-31", "LTL", "EUR"),
        ("lva", "2013-12-31", "LVL", "EUR"),
        ("est", "2010-12-31", "EEK", "EUR"),
        ("svk", "2008-12-31", "SKK", "EUR"),
        ("cyp", "2007-12-31", "CYP", "EUR"),
        ("mlt", "2007-12-31", "MTL", "EUR"),
        ("svn", "2006-12-31", "SIT", "EUR"),
        ("grc", "2000-12-31", "GRD", "EUR"),
    ],
)
def test_a_country_s_currency_is_that_of_the_day(entity, last, before, after):
    day = date.fromisoformat(last)
    place = f"country_{entity}"
    assert (MONEY.of_day(place, day), MONEY.of_day(place, date.fromordinal(day.toordinal() + 1))) == (before, after)
    assert MONEY.native("N", spec(place), "", day) == f"N|{before}"
    assert MONEY.native("N", spec(place), None, NOW) == "N"


@pytest.mark.parametrize(
    ("entity", "stated", "day", "native"),
    [
        ("bgr", "Bulgarian Lev", NOW, "N|BGN"),
        ("bgr", "BGN", NOW, "N|BGN"),
        ("bgr", "Euro", date(2025, 1, 1), "N"),
        ("bgr", "_Z", date(2025, 1, 1), "N|BGN"),
        ("bgr", "XDC", NOW, "N"),
        ("pse", "Euro", NOW, "N|EUR"),
        ("usa", "U.S. dollars", NOW, "N"),
        ("zwe", "US dollar", NOW, "N|USD"),
        ("isl", "Icelandic króna", NOW, "N"),
        # One name of two currencies is that of the place, and of the day.
        ("sen", "CFA franc", NOW, "N"),
        ("cmr", "CFA franc", NOW, "N"),
        ("sle", "Sierra Leonean leone", NOW, "N"),
        ("sle", "Sierra Leonean leone", date(2021, 4, 1), "N|SLL"),
    ],
)
def test_what_is_stated_counts_whatever_the_day(entity, stated, day, native):
    assert MONEY.native("N", spec(f"country_{entity}"), stated, day) == native


@pytest.mark.parametrize("stated", ["shells", "CFA franc", "XYZ"])
def test_a_currency_nobody_knows_is_none(stated):
    with pytest.raises(UnknownCurrency, match=stated):
        MONEY.native("N", spec("country_bgr"), stated, NOW)


def test_what_is_in_no_local_currency_is_asked_nothing():
    world, euros = spec("region_world"), spec("country_bgr", currency="EUR")
    for series in (spec("country_bgr", "percent"), spec("country_bgr", "usd"), euros, world):
        assert MONEY.native("N", series, "shells", date(2020, 1, 1)) == "N"


def test_amounts_in_another_currency_are_a_series_of_their_own():
    leva = in_currency(spec("country_bgr"), "BGN")
    assert (leva.id, leva.currency, leva.native) == ("x:country_bgr:nominal_gdp:A:bgn", "BGN", "N|BGN")
    assert leva.code == "N"  # what the publisher calls it
    assert in_currency(spec("country_bgr", variant="old"), "BGN").variant == "old-bgn"
    assert (apart(leva.native), apart("A@B.C")) == (("N", "BGN"), ("A@B.C", None))


def test_every_currency_of_a_place_is_known_by_its_code_and_a_name():
    """Each name of each means the same for a place that has it today."""
    owners = {place.currency: place.id for place in shipped().entities.values() if place.currency}
    for code, entity in owners.items():
        for name in (code, *shipped().currencies[code].names):
            assert MONEY.native("N", spec(entity), name, NOW) == "N", name


def problems(currencies, changeovers):
    """What is wrong with these in a catalogue of Bulgaria alone."""
    places = {"country_bgr": shipped().entities["country_bgr"]}
    catalog = msgspec.structs.replace(shipped(), currencies=currencies, changeovers=changeovers, entities=places)
    return [": ".join(problem) for problem in checks.currencies(catalog)]


def test_contradictions_are_named():
    lev = Currency(id="BGN", names=("lev",))
    change = Changeover(entity="country_bgr", currency="BGN", until=date(2026, 1, 1))
    assert problems({}, {}) == []
    assert problems({"BGN": lev}, {"1": change}) == ["entity country_bgr: unknown currency EUR"]
    odd = [
        msgspec.structs.replace(change, entity="country_zzz"),
        msgspec.structs.replace(change, currency="EUR"),
    ]
    assert problems({"EUR": Currency(id="EUR", names=())}, dict(enumerate(odd))) == [
        "changeover country_zzz BGN: unknown entity country_zzz",
        "changeover country_zzz BGN: unknown currency BGN",
        "changeover country_bgr EUR: EUR is the currency of today",
    ]
    assert Currencies().of_day("country_bgr", NOW) is None
