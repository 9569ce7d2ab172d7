"""Codes that continue or repeat one series: which one speaks for which periods, and what is refused."""

from datetime import date
from typing import Any

from almanac.catalog.checks import successions
from almanac.catalog.succession import stretches
from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec


def spec(native: str, **more: Any) -> SeriesSpec:
    fields = {
        "source": "office", "indicator": "prices", "entity": "country_aaa", "frequency": Frequency.MONTHLY,
        "unit": "index", "name": native,
    }  # fmt: skip
    return SeriesSpec(native=native, **(fields | more))


def table(*specs: SeriesSpec) -> dict[str, SeriesSpec]:
    return {one.native: one for one in specs}


def key(text: str) -> int:
    return Period.parse(text).key


OLD, NEW = spec("old"), spec("new", from_date=date(2025, 2, 1))
COPY = spec("copy", copy_of="new")
MONTHS = [ReportedValue(key(month), 1.0) for month in ("2024-12", "2025-01", "2025-02", "2025-03")]
WHOLE = (key("2024-12"), key("2025-03"))


def test_each_code_speaks_for_its_own_stretch_and_the_newest_names_the_series() -> None:
    by_code = stretches(table(NEW, COPY, OLD))
    assert {native: stretch.series.native for native, stretch in by_code.items()} == dict.fromkeys(
        ["old", "new", "copy"], "new"
    )
    assert by_code["old"].clip(MONTHS, None) == (MONTHS[:2], None)
    assert by_code["new"].clip(MONTHS, None) == (MONTHS[2:], None)


def test_a_span_listed_completely_is_cut_to_the_stretch() -> None:
    by_code = stretches(table(OLD, NEW))
    before, after = by_code["old"].clip(MONTHS, WHOLE)[1], by_code["new"].clip(MONTHS, WHOLE)[1]
    assert before is not None
    assert after is not None
    assert [before[0] <= s.period <= before[1] for s in MONTHS] == [True, True, False, False]
    assert [after[0] <= s.period <= after[1] for s in MONTHS] == [False, False, True, True]


def test_what_lies_wholly_in_another_stretch_is_not_heard() -> None:
    by_code = stretches(table(OLD, NEW))
    assert by_code["new"].clip(MONTHS[:2], (key("2024-12"), key("2025-01"))) == ([], None)
    assert by_code["old"].clip(MONTHS[2:], (key("2025-02"), key("2025-03"))) == ([], None)


def test_a_copy_is_heard_where_its_original_is_and_withdraws_nothing() -> None:
    assert stretches(table(OLD, NEW, COPY))["copy"].clip(MONTHS, WHOLE) == (MONTHS[2:], None)
    alone = stretches(table(spec("new"), spec("copy", copy_of="new")))
    assert alone["copy"].clip(MONTHS, WHOLE) == (MONTHS, None)
    assert alone["new"].clip(MONTHS, WHOLE) == (MONTHS, WHOLE)


def test_a_series_with_one_code_may_begin_late() -> None:
    assert stretches(table(NEW))["new"].clip(MONTHS, None) == (MONTHS[2:], None)


def test_codes_that_do_not_make_a_series_are_named() -> None:
    cases: list[tuple[tuple[SeriesSpec, ...], list[str]]] = [
        ((OLD, NEW, COPY), []),
        ((OLD, spec("other")), ["series office:country_aaa:prices:M: two native codes make it, old and other"]),
        (
            (NEW, spec("other", from_date=date(2025, 2, 1))),
            ["series office:country_aaa:prices:M: two native codes make it from 2025-02-01, new and other"],
        ),
        (
            (OLD, spec("copy", copy_of="gone")),
            ["series office copy: copy_of gone is no code of office:country_aaa:prices:M in its own right"],
        ),
        (
            (NEW, COPY, spec("echo", copy_of="copy")),
            ["series office echo: copy_of copy is no code of office:country_aaa:prices:M in its own right"],
        ),
        (
            (NEW, spec("copy", copy_of="new", from_date=date(2025, 3, 1))),
            ["series office copy: a copy has the from_date of new, not one of its own"],
        ),
        (
            (OLD, spec("new", from_date=date(2025, 2, 1), unit="percent")),
            ["series office:country_aaa:prices:M: old and new differ in unit"],
        ),
        (
            (OLD, spec("new", from_date=date(2025, 2, 1), curve_type="par")),
            ["series office:country_aaa:prices:M: old and new differ in curve_type"],
        ),
    ]
    for specs, expected in cases:
        assert [": ".join(found) for found in successions("office", table(*specs))] == expected
