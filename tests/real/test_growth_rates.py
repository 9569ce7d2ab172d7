"""
Growth rates of ours beside the publishers' own, and differences and means: they differ by what rounding explains, no more.

A level published to a step of s is within s/2 of what its publisher computes with, so that 100·((x/y)^n − 1) is within
100·n·(x/y)^n·(s/2x + s/2y) of his rate, to first order; his rate is rounded itself, by half of its own step.
"""

import json
from decimal import Decimal

import pytest

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.operators import operator
from almanac.domain.observations import UNKNOWN, Vintage
from almanac.domain.periods import Frequency, Period, ordinal
from almanac.sources.base import Payload, connector

from .files import FOLDER, REAL, mirror

pytestmark = REAL
#: A moment after all of it was known.
NOW = 2_000_000_000
M, Q, A = Frequency.MONTHLY, Frequency.QUARTERLY, Frequency.ANNUAL

CPI, CORE = "observations_cpiaucsl_2022-10-19.json", "observations_cpilfesl_2024-10-10.json"
CORE_LATER = "observations_cpilfesl_2025-01-15.json"
ADVANCE, THIRD = "observations_gdp_2024-10-30.json", "observations_gdp_2024-12-19.json"

#: File, lag, power, frequency, first period, and the rates of the periods from there on, to one decimal, as the publisher's
#: releases state them. The texts of the releases were read for these; each comment says where the figures are.
RELEASES = [
    # Bureau of Labor Statistics, Consumer Price Index, table A of 12 April 2022 (Sep 2021 to Mar 2022, seasonally adjusted
    # changes from the preceding month). Seasonal factors are revised in February, so these held in October too.
    (CPI, "1m", 1, M, "2021-09", "0.4 0.9 0.7 0.6 0.6 0.8 1.2"),
    # The same, first sentences of 13 July (May, June), 13 September (July unchanged, August) and 13 October 2022.
    (CPI, "1m", 1, M, "2022-05", "1.0 1.3 0.0 0.1 0.4"),
    # The same, less food and energy: 11 September (July, August) and 10 October 2024.
    (CORE, "1m", 1, M, "2024-07", "0.2 0.3 0.3"),
    # The same, 15 January 2025: 0.2 in December after 0.3 in each of the four months before.
    (CORE_LATER, "1m", 1, M, "2024-08", "0.3 0.3 0.3 0.3 0.2"),
    # Bureau of Economic Analysis, Gross Domestic Product, current-dollar GDP at annual rates: advance estimate of 30 October
    # 2024 ("increased 4.7 percent… In the second quarter, GDP increased 5.6 percent"), third estimate of 19 December 2024.
    (ADVANCE, "1q", 4, Q, "2024-Q2", "5.6 4.7"),
    (THIRD, "1q", 4, Q, "2024-Q3", "5.0"),
]


def bound(now, base, power, step, rate_step):
    """What rounding of two levels and of the publisher's rate can make of the difference."""
    ratio = (now / base) ** power
    return 100 * power * ratio * (step / 2 / now + step / 2 / base) * 1.01 + rate_step / 2


def step_of(texts):
    """The step of numbers as published: of the one with the most decimals (a trailing zero may be left out)."""
    return 10.0 ** min(int(Decimal(text).as_tuple().exponent) for text in texts)


def series(values, frequency):
    """An input series with one vintage for each of these values, by period key."""
    return InputSeries(
        frequency,
        {ordinal(key, frequency): [Vintage(NOW, value, None, UNKNOWN, None, NOW, 1)] for key, value in values.items()},
    )


def ours(levels, frequency, lag, power):
    """Growth by the service's own operator, by period key."""
    own = series({one.period: one.value for one in levels if one.value is not None}, frequency)
    made = derive(operator("growth", {"lag": lag, "power": power}, frequency), frequency, [[own]], 90)
    return {key: found[-1].vintage.value for key, found in made.items() if found}


def parsed(catalog, row):
    owner = next(s for s in catalog.sources.values() if s.connector and connector(s.connector).owns(row["url"]))
    body = (FOLDER / row["file"]).read_bytes()
    return connector(owner.connector).parse(
        Payload(row["url"], body, NOW, row["media_type"]), owner, catalog.series[owner.id]
    )


@pytest.mark.parametrize(
    ("name", "lag", "power", "frequency", "first", "told"),
    RELEASES,
    ids=[f"{one[0]}-{one[4]}" for one in RELEASES],
)
def test_rates_of_the_publishers_own_releases(catalog, name, lag, power, frequency, first, told):
    row = next((row for row in mirror() if row["file"].endswith("/" + name)), None)
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


def blocks_of(catalog, source):
    reader = connector(catalog.sources[source].connector)
    owned = [row for row in mirror() if row["status"] == "200" and reader.owns(row["url"])]
    return {block.native: block for row in owned for block in parsed(catalog, row).blocks}


def test_rates_beside_the_levels_they_are_of(catalog):
    """Where a publisher's rate and level are both among the files, for every period that has both."""
    compared = 0
    for source, rate, level in PAIRS:
        assert {rate, level} <= catalog.series[source].keys(), f"{rate} or its level is not mapped any more"
        blocks = blocks_of(catalog, source)
        if not {rate, level} <= blocks.keys():
            continue
        frequency = catalog.series[source][rate].frequency
        found = ours(blocks[level].statements, frequency, "1y", 1)
        levels = {s.period: s.value for s in blocks[level].statements}
        at = {ordinal(key, frequency): value for key, value in levels.items()}
        told = {s.period: s.value for s in blocks[rate].statements if s.value is not None}
        step, rate_step = step_of(map(repr, levels.values())), step_of(map(repr, told.values()))
        both = sorted(told.keys() & found.keys())
        assert both, f"no period has both {rate} and its level"
        for key in both:
            number = ordinal(key, frequency)
            allowed = bound(at[number], at[number - 12], 1, step, rate_step)
            assert abs(found[key] - told[key]) <= allowed, (rate, key)
        compared += len(both)
    if not compared:
        pytest.skip("no publisher's rate is among the files together with its level")


def test_differences_are_those_of_the_publisher():
    """The BIS publishes credit to GDP (A), its trend (B) and the gap between them (C), with one decimal each."""
    file = FOLDER / "macro/bis/ws_credit_gap_pt_sample.json"
    if not file.exists():
        pytest.skip(f"{file.name} is not among the publishers' files")
    data = json.loads(file.read_bytes())["data"]
    (kinds,) = [one["values"] for one in data["structure"]["dimensions"]["series"] if one["id"] == "CG_DTYPE"]
    (dates,) = [one["values"] for one in data["structure"]["dimensions"]["observation"]]
    values = {
        kinds[int(key.rpartition(":")[2])]["id"]: {
            dates[int(n)]["id"]: float(row[0]) for n, row in one["observations"].items()
        }
        for key, one in data["dataSets"][0]["series"].items()
    }
    inputs = [[series({Period.parse(text).key: value for text, value in values[kind].items()}, Q)] for kind in "AB"]
    made = derive(operator("difference", {}, Q), Q, inputs, 200)
    compared = [abs(made[Period.parse(text).key][-1].vintage.value - gap) for text, gap in values["C"].items()]
    assert len(compared) == 3
    assert max(compared) <= 3 * 0.05 + 1e-9  # half a step of each of the three
