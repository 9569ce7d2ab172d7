"""
Growth rates of ours beside the publishers' own, and differences and means: they differ by what rounding explains, no more.

A level published to a step of s is within s/2 of what its publisher computes with, so that 100·((x/y)^n − 1) is within
100·n·(x/y)^n·(s/2x + s/2y) of his rate, to first order; his rate is rounded itself, by half of its own step.
"""

import json
from decimal import Decimal

import pytest
from lxml import etree

from almanac.derived.macro.derivation import InputSeries, cells_for, derive, result_at
from almanac.derived.macro.operators import Operator, Slot, operator
from almanac.domain.observations import UNKNOWN, ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period, key_at, ordinal
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
#: The same, written down from memory: nobody has held these against the releases. They agree, which is weak evidence.
RECALLED = [
    (CPI, "1m", 1, M, "2022-04", "0.3"),
    (CORE, "1m", 1, M, "2024-01", "0.4 0.4 0.4 0.3 0.2 0.1"),
    (CORE_LATER, "1m", 1, M, "2024-06", "0.1 0.2"),
    (THIRD, "1q", 4, Q, "2024-Q2", "5.6"),
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
    [
        *(pytest.param(*one, id=f"{one[0]}-{one[4]}") for one in RELEASES),
        *(pytest.param(*one, id=f"from-memory-{one[0]}-{one[4]}") for one in RECALLED),
    ],
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


def test_unrounded_rates_are_growth_of_levels_of_one_decimal(catalog):
    """
    The OECD gives this rate with fifteen digits and its index, which is not among the files, with one decimal.

    So each rate is 100·(p/q − 1) of two whole numbers of tenths, which its digits give away: by chance one rate in a
    hundred thousand would be. The level of a month that is the upper one of one rate and the lower one of another, a year
    later, must come out the same; and our own operator over the levels must give every digit.
    """
    native = "DSD_KEI@DF_KEI.EA20.M.PRVM.GR.BTE.Y.GY"
    source = "oecd-kei" if native in catalog.series.get("oecd-kei", {}) else "oecd"
    block = blocks_of(catalog, source).get(native)
    if block is None:
        pytest.skip(f"{native} is not among the publishers' files")
    told = {ordinal(s.period, M): s.value for s in block.statements}
    assert len(told) == 19
    #: Month of a rate → its lower level → its upper one, all that give the rate.
    possible = {
        number: {
            below: above
            for below in range(800, 1_200)
            if abs(100 * ((above := round(below * (1 + rate / 100))) / below - 1) - rate) < 1e-9
        }
        for number, rate in told.items()
    }
    assert all(possible.values())
    levels = {}
    chained = [number for number in sorted(told) if number + 12 in told]
    assert len(chained) == 7
    for number in chained:
        fitting = {below: above for below, above in possible[number].items() if above in possible[number + 12]}
        assert fitting, f"{key_at(number, M)} is another level above than below"
        below, above = min(fitting.items())
        levels |= {number - 12: below, number: above, number + 12: possible[number + 12][above]}
    for number in told.keys() - levels.keys():
        below, above = min(possible[number].items())
        levels |= {number - 12: below, number: above}
    statements = [ReportedValue(key_at(number, M), tenths / 10) for number, tenths in sorted(levels.items())]
    found = {ordinal(key, M): value for key, value in ours(statements, M, "1y", 1).items()}
    compared = [abs(found[number] - rate) for number, rate in told.items()]
    assert max(compared) < 1e-9


def test_annual_means_are_those_of_the_publisher():
    """Insee publishes the annual means of its monthly indices of production, five of them from 1990 to 2014."""
    file = FOLDER / "macro/insee/insee_ipi_2010_a21.xml"
    if not file.exists():
        pytest.skip(f"{file.name} is not among the publishers' files")
    published = {}
    for one in etree.parse(file).iter("{*}Series"):
        said = {v.get("id"): v.get("value") for part in ("SeriesKey", "Attributes") for v in one.find(f"{{*}}{part}")}
        rows = {o.find("{*}ObsDimension").get("value"): o.find("{*}ObsValue").get("value") for o in one.iter("{*}Obs")}
        published[said["FREQ"], said["NATURE"], said["PRODUIT"], said["TIME_PER_COLLECT"]] = rows
    mean = Operator((Slot(0, within="mean"),), lambda value: value, vector=False)
    compared = []
    for product in "BCDEF":
        months, years = published["M", "BRUT", product, "PERIODE"], published["A", "BRUT", product, "MOYENNE"]
        inputs = [[series({Period.parse(month).key: float(text) for month, text in months.items()}, M)]]
        for year, text in years.items():
            number = ordinal(Period.parse(year).key, A)
            windows = [[cells_for(mean.slots[0], number, A, inputs[0][0])]]
            found = result_at(mean, A, inputs, windows, number, NOW)
            if found is not None:  # the last year is not over
                compared.append(abs(found[0].value - float(text)))
    assert len(compared) == 125
    # Half a step of the mean as published, and half a step of the months it is of.
    assert max(compared) <= 0.005 + 0.005


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
