"""
Growth rates of ours beside the publishers' own: they may differ by what rounding explains and by no more.

A level published to a step of s is within s/2 of what its publisher computes with, so that 100·((x/y)^n − 1) is within
100·n·(x/y)^n·(s/2x + s/2y) of his rate, to first order; his rate is rounded itself, by half of its own step.
"""

import csv
import json
from decimal import Decimal
from pathlib import Path

import pytest

from almanac.catalog.load import load
from almanac.derived.base import InputSeries, derive
from almanac.derived.operators import operator
from almanac.domain.observations import UNKNOWN, Vintage
from almanac.domain.periods import Frequency, Period, ordinal
from almanac.sources.base import Payload, connector

FOLDER = Path(__file__).resolve().parents[2] / "../shared/real-data"

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the publishers' own files are not beside the repository"),
]
M, Q = Frequency.MONTHLY, Frequency.QUARTERLY

#: File, native code, lag, power, frequency, first period, and the rates that the publisher's release of that day states for
#: the periods from there on, to one decimal: of the Bureau of Labor Statistics "Consumer Price Index" (one-month changes,
#: seasonally adjusted) of 13 October 2022, 10 October 2024 and 15 January 2025, of the Bureau of Economic Analysis "Gross
#: Domestic Product" (current-dollar GDP, annual rate) of 30 October and 19 December 2024.
RELEASES = [
    ("observations_cpiaucsl_2022-10-19.json", "1m", 1, M, "2022-01", "0.6 0.8 1.2 0.3 1.0 1.3 0.0 0.1 0.4"),
    ("observations_cpilfesl_2024-10-10.json", "1m", 1, M, "2024-01", "0.4 0.4 0.4 0.3 0.2 0.1 0.2 0.3 0.3"),
    ("observations_cpilfesl_2025-01-15.json", "1m", 1, M, "2024-06", "0.1 0.2 0.3 0.3 0.3 0.3 0.2"),
    ("observations_gdp_2024-10-30.json", "1q", 4, Q, "2024-Q2", "5.6 4.7"),
    ("observations_gdp_2024-12-19.json", "1q", 4, Q, "2024-Q2", "5.6 5.0"),
]


def bound(now, base, power, step, rate_step):
    """What rounding of two levels and of the publisher's rate can make of the difference."""
    ratio = (now / base) ** power
    return 100 * power * ratio * (step / 2 / now + step / 2 / base) * 1.01 + rate_step / 2


def step_of(texts):
    """The step of numbers as published: of the one with the most decimals (a trailing zero may be left out)."""
    return 10.0 ** min(int(Decimal(text).as_tuple().exponent) for text in texts)


def ours(levels, frequency, lag, power):
    """Growth by the service's own operator, by period key."""
    cells = {
        ordinal(one.period, frequency): [Vintage(2_000_000_000, one.value, None, UNKNOWN, None, 2_000_000_000, 1)]
        for one in levels
        if one.value is not None
    }
    made = derive(
        operator("growth", {"lag": lag, "power": power}, frequency), frequency, [[InputSeries(frequency, cells)]], 90
    )
    return {key: found[-1].vintage.value for key, found in made.items() if found}


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def mirror():
    with (FOLDER / "mirror.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def parsed(catalog, row):
    owner = next(s for s in catalog.sources.values() if s.connector and connector(s.connector).owns(row["url"]))
    body = (FOLDER / row["file"]).read_bytes()
    return connector(owner.connector).parse(
        Payload(row["url"], body, 2_000_000_000, row["media_type"]), owner, catalog.series[owner.id]
    )


@pytest.mark.parametrize(("name", "lag", "power", "frequency", "first", "told"), RELEASES, ids=lambda v: str(v)[:40])
def test_rates_of_the_publishers_own_releases(catalog, mirror, name, lag, power, frequency, first, told):
    row = next((row for row in mirror if row["file"].endswith("/" + name)), None)
    if row is None or not (FOLDER / row["file"]).exists():
        pytest.skip(f"{name} is not among the publishers' files")
    (block,) = parsed(catalog, row).blocks
    levels = {s.period: s.value for s in block.statements}
    texts = [o["value"] for o in json.loads((FOLDER / row["file"]).read_bytes())["observations"] if o["value"] != "."]
    found = ours(block.statements, frequency, lag, power)
    start = ordinal(Period.parse(first).key, frequency)
    by_number = {ordinal(key, frequency): (key, value) for key, value in found.items()}
    at = {ordinal(key, frequency): value for key, value in levels.items()}
    for place, rate in enumerate(told.split()):
        number = start + place * frequency.months
        value = by_number[number][1]
        allowed = bound(at[number], at[number - frequency.months], power, step_of(texts), 0.1)
        assert abs(value - float(rate)) <= allowed, (name, by_number[number][0], value, rate)
        # The bound is tight enough to tell neighbouring rates apart.
        assert allowed < 0.06


#: Source, native code of the publisher's own rate over a year, and of the level it is of.
PAIRS = [
    *(
        (
            "oecd",
            f"DSD_PRICES@DF_PRICES_ALL.{place}.M.N.CPI.PA._T.N.GY",
            f"DSD_PRICES@DF_PRICES_ALL.{place}.M.N.CPI.IX._T.N._Z",
        )
        for place in ("GBR", "USA", "DEU", "FRA", "JPN", "CAN", "KOR", "MEX")
    ),
    ("oecd", "DSD_KEI@DF_KEI.EA20.M.PRVM.GR.BTE.Y.GY", "DSD_KEI@DF_KEI.EA20.M.PRVM.IX.BTE.Y._Z"),
    ("oecd", "DSD_KEI@DF_KEI.DEU.M.PRVM.GR.BTE.Y.GY", "DSD_KEI@DF_KEI.DEU.M.PRVM.IX.BTE.Y._Z"),
]


@pytest.mark.parametrize(("source", "rate", "level"), PAIRS, ids=lambda text: text[-40:])
def test_rates_beside_the_levels_they_are_of(catalog, mirror, source, rate, level):
    assert {rate, level} <= catalog.series[source].keys(), "one of the two is not mapped any more"
    owned = [
        row
        for row in mirror
        if row["status"] == "200" and connector(catalog.sources[source].connector).owns(row["url"])
    ]
    blocks = {block.native: block for row in owned for block in parsed(catalog, row).blocks}
    missing = [native for native in (rate, level) if native not in blocks]
    if missing:
        pytest.skip(f"not among the publishers' files: {', '.join(missing)}")
    frequency = catalog.series[source][rate].frequency
    found = ours(blocks[level].statements, frequency, "1y", 1)
    levels = {s.period: s.value for s in blocks[level].statements}
    at = {ordinal(key, frequency): value for key, value in levels.items()}
    told = {s.period: s.value for s in blocks[rate].statements if s.value is not None}
    step, rate_step = step_of(map(repr, levels.values())), step_of(map(repr, told.values()))
    both = sorted(told.keys() & found.keys())
    assert both, "no period has both"
    for key in both:
        number = ordinal(key, frequency)
        assert abs(found[key] - told[key]) <= bound(at[number], at[number - 12], 1, step, rate_step), key
