"""The derived indicators that are shipped: what each gives for a case worked out by hand."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog, CatalogError, Formula
from almanac.catalog.releases import check, meetings, simulated
from almanac.catalog.releases import shipped as releases
from almanac.derived.macro.cross_sections import PEER_COMPARISONS, compare, peer_comparison
from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.input_series import window
from almanac.derived.macro.operators import Operator
from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency, Period, key_at, ordinal
from almanac.domain.times import midnight
from almanac.pipeline.derive.cross_sections import belongs
from almanac.pipeline.derive.plans import operator_of

CASES = tomllib.loads((Path(__file__).parent / "formula_cases.toml").read_text(encoding="utf-8"))
#: An instant after every period of the cases.
KNOWN = midnight(date(2027, 1, 1).toordinal())


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def frequency_of(period: str) -> Frequency:
    """The frequency of a period as a case writes it: `2026`, `2026-Q1`, `2026-03`, `2026-03-03`."""
    return Frequency.QUARTERLY if "Q" in period else Frequency({4: "A", 7: "M", 10: "D"}[len(period)])


def by_period(values: dict[str, Any]) -> tuple[Frequency, dict[int, Any]]:
    """Frequency, and number of the period → value."""
    frequency = frequency_of(min(values))
    return frequency, {ordinal(Period.parse(text).key, frequency): value for text, value in values.items()}


def input_series(frequency: Frequency, cells: dict[int, float]) -> InputSeries:
    """A series with one vintage in each cell."""
    return InputSeries(
        frequency, {at: [Vintage(KNOWN, float(value), None, 0, None, KNOWN, 1)] for at, value in cells.items()}
    )


def spread_out(frequency: Frequency, cells: dict[int, Any]) -> dict[int, float]:
    """Lists go on period by period."""
    found: dict[int, float] = {}
    for first, several in cells.items():
        for place, value in enumerate(several if isinstance(several, list) else [several]):
            found[first + place * max(frequency.months, 1)] = value
    return found


def results(derived: dict[int, list[Any]]) -> dict[int, float | str | None]:
    """Period key → what stands in the end, of the cells that have a value."""
    return {
        key: made[-1].vintage.value if made[-1].vintage.text is None else made[-1].vintage.text
        for key, made in derived.items()
        if made
    }


def test_every_formula_has_a_case(catalog: Catalog) -> None:
    assert sorted(CASES) == sorted(catalog.formulas)


@pytest.mark.parametrize("slug", sorted(CASES))
def test_a_formula_gives_what_its_case_gives(catalog: Catalog, slug: str) -> None:
    formula, case = catalog.formulas[slug], CASES[slug]
    assert (formula.unit, list(formula.inputs), formula.params.get("members")) == (
        case.get("unit"), list(case["inputs"]), case.get("members"),
    )  # fmt: skip
    frequency, expected = by_period(case["gives"])
    assert not formula.frequencies or frequency in formula.frequencies
    inputs = [by_period(values) for values in case["inputs"].values()]
    if formula.operator in PEER_COMPARISONS:
        check_peers(formula, frequency, inputs[0][1], expected)
        return
    operator = operator_of(formula, "country_can", frequency)
    assert operator.same_source == case.get("same_source", False)
    assert inputs[operator.slots[0].input][0] is frequency  # which sets the frequency of the result
    made = derive(operator, frequency, [[input_series(own, spread_out(own, cells))] for own, cells in inputs], 0)
    assert results(made) == {
        key_at(at, frequency): value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-9)
        for at, value in expected.items()
    }


@pytest.mark.parametrize("slug", sorted(CASES))
def test_a_hole_in_a_window_gives_no_value_unless_the_words_say_so(catalog: Catalog, slug: str) -> None:
    """Each input of a case is left out in turn: a result that looks at it goes, or says how many periods it does without."""
    formula, case = catalog.formulas[slug], CASES[slug]
    frequency, expected = by_period(case["gives"])
    inputs = [by_period(values) for values in case["inputs"].values()]
    if formula.operator in PEER_COMPARISONS or any(not own.months for own, _ in inputs):
        return  # peers have a minimum of their own; days without a value are passed over
    operator = operator_of(formula, "country_can", frequency)
    whole = [spread_out(own, cells) for own, cells in inputs]
    holes = 0
    for place, (own, _) in enumerate(inputs):
        for hole in whole[place]:
            rest = [{at: v for at, v in cells.items() if (n, at) != (place, hole)} for n, cells in enumerate(whole)]
            made = derive(
                operator, frequency, [[input_series(f, c)] for (f, _), c in zip(inputs, rest, strict=True)], 0
            )
            for at in expected:
                if looks_at(operator, place, own, hole, at, frequency):
                    left = made.get(key_at(at, frequency))
                    holes += 1
                    if left:
                        assert "missingPeriods" in (left[-1].vintage.note or "")
                        assert "missingPeriods" in formula.description
    assert holes


def looks_at(operator: Operator, place: int, own: Frequency, cell: int, output: int, frequency: Frequency) -> bool:
    """Whether a result looks at a cell of an input."""
    spans = (window(slot, np.array([output]), frequency, own) for slot in operator.slots if slot.input == place)
    return any(low[0] <= cell <= high[0] for low, high in spans)


def check_peers(
    formula: Formula, frequency: Frequency, cells: dict[int, list[float]], expected: dict[int, list[float]]
) -> None:
    """A comparison gives each member its result, and nobody any where one member more is missing."""
    how = peer_comparison(formula.operator, formula.params)
    ((at, wanted),) = expected.items()
    group = {
        f"member_{place:02d}": [input_series(frequency, {period: values[place] for period, values in cells.items()})]
        for place in range(len(wanted))
    }
    made = compare(how, frequency, group, [at], 0)
    assert [results(made[member])[key_at(at, frequency)] for member in group] == pytest.approx(wanted, rel=1e-9)
    del group["member_00"]
    assert compare(how, frequency, group, [at], 0) == {}


def test_every_operator_that_is_named_exists_and_takes_its_parameters(catalog: Catalog) -> None:
    for formula in catalog.formulas.values():
        if formula.operator in PEER_COMPARISONS:
            assert peer_comparison(formula.operator, formula.params).others >= 1
            belongs(catalog.entities["country_usa"], formula.params["members"])
        else:
            slots = operator_of(formula, "country_usa", Frequency.MONTHLY).slots
            assert {slot.input for slot in slots} == set(range(len(formula.inputs))), formula.slug


def test_redefinitions_are_those_known_by_their_day(catalog: Catalog) -> None:
    cycle = catalog.formulas["policy_cycle"]
    assert cycle.redefined == {"country_usa": (date(2008, 12, 16),)}
    assert {f.slug for f in catalog.formulas.values() if f.redefined} == {"policy_cycle"}
    (break_,) = operator_of(cycle, "country_usa", Frequency.DAILY).slots[1].breaks
    assert date.fromordinal(break_) == date(2008, 12, 16)
    assert operator_of(cycle, "country_can", Frequency.DAILY).slots[1].breaks == ()


def test_adjusted_series_only_where_the_formula_needs_them(catalog: Catalog) -> None:
    assert {f.slug for f in catalog.formulas.values() if f.seasonally_adjusted_only} == {
        "cpi_inflation_mom_annualized",
        "core_cpi_inflation_3m_annualized",
        "gdp_growth_qoq_annualized",
        "sahm_indicator",
    }


def test_no_country_is_measured_against_itself(catalog: Catalog) -> None:
    assert {f.slug: f.except_entities for f in catalog.formulas.values() if f.except_entities} == {
        "sovereign_spread_10y_usa": ("country_usa",),
        "exchange_rate_change_yoy": ("country_usa",),
    }


# -- the tables of releases and meetings: what ships fits the catalogue, and what does not is named -------------------


CALENDAR = {
    "source": "fred",
    "native": "10",
    "country": "country_usa",
    "zone": "UTC",
    "frequency": "M",
    "after_days": 8,
}
RELEASE = {
    "type": "prices", "name": "Prices", "headline": "cpi_inflation_yoy", "indicators": ["cpi_inflation_yoy"], "frequencies": ["M"],
    "calendars": [CALENDAR],
}  # fmt: skip


def test_what_ships_fits_the_catalogue():
    assert list(check(releases(), shipped())) == []
    by_type = {one.type: one for one in releases()}
    prices = by_type["consumer_prices"]
    assert prices.headline == prices.indicators[0] == "cpi_inflation_yoy"
    # The Bureau's own calendar, which states hours, before a list of days.
    assert [(c.source, c.native) for c in prices.calendars] == [
        ("bls-calendar", "Consumer Price Index"),
        ("fred", "10"),
    ]
    natives = {c.native: one.type for one in releases() for c in one.calendars if c.source == "fred"}
    assert [natives[n] for n in ("10", "50", "53", "54", "9", "13", "46")] == [
        "consumer_prices", "employment_situation", "gross_domestic_product_annualized", "personal_income_and_outlays",
        "retail_sales", "industrial_production", "producer_prices",
    ]  # fmt: skip
    # Two releases never speak of one place's headline.
    assert not by_type["unemployment"].exists_in("country_usa")
    assert by_type["unemployment"].exists_in("country_gbr")
    assert not by_type["gross_domestic_product_annualized"].exists_in("country_gbr")


def parse(instead, file, *plans):
    """The releases of a file, with these schedules."""
    schedules = {"entered": date(2026, 1, 1), "schedule": [*plans]}
    return instead(releases, {"events/releases.toml": file, "events/schedules.toml": schedules})


def test_the_simulated_world_has_copies_of_the_calendars(instead):
    made = parse(instead, {"release": [{**RELEASE, "calendars": [CALENDAR, {**CALENDAR, "source": "bls-calendar"}]}]})
    (one,) = simulated(made, {"sandbox-fred", "sandbox-bls-calendar"})
    assert [c.source for c in one.calendars] == ["sandbox-fred", "sandbox-bls-calendar"]


@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ([{}, {"calendars": []}], "release prices: is there twice"),
        ([{"only_countries": ["a"], "except_countries": ["b"]}], "release prices: only_countries and except_countries exclude"),
        ([{"frequencies": []}], "release prices: Expected array of length >= 1 at frequencies"),
        ([{"headline": "gdp"}], "release prices: the headline is not the first of its indicators"),
        ([{"calendars": [{**CALENDAR, "zone": "Mars"}]}], "release prices: unknown zone Mars"),
        ([{"calendars": [CALENDAR, CALENDAR]}], "calendar fred: 10 is there twice"),
        ([{"calendars": [{**CALENDAR, "after": 8}]}], r"release prices: unknown field after at calendars\[0\], allowed are source, native, "),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(instead, changes, culprit):
    with pytest.raises(CatalogError, match=culprit):
        parse(instead, {"release": [{**RELEASE, **change} for change in changes]})


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({"native": "11"}, "schedule fred 11: no calendar has it"),
        ({"days": {"2026-10": date(2026, 11, 10), "2026-09": date(2026, 11, 10)}}, "fred 10: one day for two periods"),
        ({"days": {"October": date(2026, 11, 10)}}, "fred 10: October is not a period"),
        ({"days": {"2026-Q3": date(2026, 11, 10)}}, "fred 10: 2026-Q3 is not a monthly period over by 2026-11-10"),
        ({"days": {"2026-11": date(2026, 11, 10)}}, "fred 10: 2026-11 is not a monthly period over by 2026-11-10"),
        ({"colour": "red"}, "schedule fred: unknown field colour, allowed are source, native, page, days"),
    ],
)
def test_a_schedule_that_does_not_fit_is_named(instead, change, culprit):
    plan = {"source": "fred", "native": "10", "page": "https://x.example", "days": {"2026-10": date(2026, 11, 10)}}
    (one,) = parse(instead, {"release": [RELEASE]}, plan)
    assert one.calendars[0].schedule == {date(2026, 11, 10).toordinal(): "2026-10"}
    with pytest.raises(CatalogError, match=culprit):
        parse(instead, {"release": [RELEASE]}, plan | change)


def test_names_the_catalogue_does_not_have(instead):
    calendars = [{**CALENDAR, "source": "nobody"}]
    change = {
        "headline": "nothing",
        "indicators": ["nothing"],
        "except_countries": ["country_xxx"],
        "calendars": calendars,
    }
    assert list(check(parse(instead, {"release": [{**RELEASE, **change}]}), shipped())) == [
        "release prices: unknown indicator nothing", "release prices: unknown entity country_xxx", "release prices: unknown source nobody",
    ]  # fmt: skip


def test_a_wrong_list_of_meetings_is_named(instead):
    bank = {
        "id": "b",
        "name": "B",
        "country": "c",
        "page": "https://b.example",
        "zone": "UTC",
        "days": [date(2026, 2, 1), date(2026, 1, 1)],
    }
    with pytest.raises(CatalogError, match="bank b: its days must ascend"):
        instead(meetings, {"events/meetings.toml": {"entered": date(2026, 1, 1), "bank": [bank]}})
    with pytest.raises(CatalogError, match="bank b: unknown zone X"):
        bank |= {"zone": "X", "days": []}
        instead(meetings, {"events/meetings.toml": {"entered": date(2026, 1, 1), "bank": [bank]}})
