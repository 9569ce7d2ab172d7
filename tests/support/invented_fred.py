"""FRED as tests of its connector see it: a source and four series, all invented."""

from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights

BASE = "https://api.stlouisfed.org/fred/"
KEY = "0123456789abcdef0123456789abcdef"  # invented


def source(**fields):
    return Source(
        id="fred",
        provider="fred",
        name="FRED",
        description="Invented.",
        homepage="https://example.org",
        connector="fred",
        rights=Rights(license="x", attribution="none"),
        **fields,
    )


def spec(native, frequency):
    return SeriesSpec(
        source="fred",
        native=native,
        indicator=native.lower(),
        entity="country_usa",
        frequency=Frequency(frequency),
        unit="percent",
        name=native,
    )


SERIES = {native: spec(native, letter) for native, letter in [("DAY", "D"), ("WEEK", "W"), ("MON", "M"), ("QRT", "Q")]}
