"""Which rows of which filings count as a state of a fact, and in which order."""

import json

import pytest

from almanac.derived.companies.reported_values import FactKey, rank, reported_values
from almanac.domain.companies import Fact
from almanac.domain.observations import DAY
from almanac.domain.periods import Period
from tests.support.filer import day

START, END = day("2020-01-01"), day("2020-12-31")
CELL = FactKey("us-gaap:NetIncomeLoss", "USD", START, END)


def fact(value, accession, form="10-K", **changes):
    return Fact("us-gaap:NetIncomeLoss", "USD", START, END, value, accession, form, day("2021-02-20"))._replace(
        **changes
    )


def values(facts, known, **options):
    return [(s.known, s.value) for s in reported_values(facts, known, **options).get(CELL, [])]


def test_a_state_says_when_it_was_known_and_which_filing_and_form_it_is_from():
    ((cell, (state,)),) = reported_values([fact(5.0, "a")], {"a": 100}).items()
    assert cell == CELL
    assert (state.value, state.known, state.released, state.flags) == (5.0, 100, 100, 0)
    assert Period.from_key(state.period).start.toordinal() == START
    assert state.note == '{"accession":"a","form":"10-K"}'


def test_an_instant_has_an_instants_period():
    ((_, (state,)),) = reported_values([fact(5.0, "a", start=None)], {"a": 100}).items()
    assert Period.from_key(state.period).start is None


def test_a_filing_of_which_only_the_day_is_known_says_so():
    ((_, (state,)),) = reported_values([fact(5.0, "a")], {"a": 100}, by_day={"a"}).items()
    assert state.flags == DAY


def test_forms_rank_periodic_before_current_before_all_others():
    assert [rank(form) for form in ("10-K", "10-Q/A", "10-KT", "20-F", "6-K", "40-F/A")] == [0] * 6
    assert [rank(form) for form in ("8-K", "8-K/A")] == [1, 1]
    assert [rank(form) for form in ("S-1", "424B5", "DEF 14A", "PRE 14A", "Other", "S-3ASR")] == [2] * 6


def test_a_current_report_counts_only_after_a_periodic_report():
    known = {"early": 100, "annual": 200, "late": 300}
    facts = [fact(1.0, "early", "8-K"), fact(2.0, "annual"), fact(3.0, "late", "8-K")]
    assert values(facts, known) == [(200, 2.0), (300, 3.0)]
    assert values([fact(1.0, "early", "8-K")], known) == []


@pytest.mark.parametrize("form", ["DEF 14A", "PRE 14A", "S-1", "S-3ASR", "424B5", "Other"])
def test_proxy_and_registration_statements_never_replace_a_periodic_value(form):
    known = {"annual": 200, "same": 200, "later": 300}
    facts = [fact(2.0, "annual"), fact(8.0, "same", form), fact(9.0, "later", form)]
    assert values(facts, known) == [(200, 2.0)]


def test_a_registration_statement_stands_until_a_periodic_report_says_otherwise():
    known = {"s": 100, "annual": 200}
    assert values([fact(1.0, "s", "S-1"), fact(2.0, "annual")], known) == [(100, 1.0), (200, 2.0)]


def test_a_current_report_does_not_build_on_a_registration_statement():
    known = {"s": 100, "k": 150}
    assert values([fact(1.0, "s", "S-1"), fact(2.0, "k", "8-K")], known) == [(100, 1.0)]


def test_at_one_instant_periodic_comes_last_and_of_equals_the_later_accession():
    known = {"b": 100, "a": 100, "k": 100}
    facts = [fact(2.0, "b"), fact(9.0, "k", "8-K"), fact(1.0, "a")]
    # The last of an instant wins it (observations.settle).
    assert values(facts, known) == [(100, 9.0), (100, 1.0), (100, 2.0)]


def test_equal_rows_of_one_filing_are_one():
    assert values([fact(5.0, "a"), fact(5.0, "a")], {"a": 100}) == [(100, 5.0)]


def test_of_two_rows_that_differ_by_rounding_the_finer_counts():
    ((_, (state,)),) = reported_values([fact(12_000_000.0, "a"), fact(12_345_678.0, "a")], {"a": 100}).items()
    assert state.value == 12_345_678.0
    assert "inconsistent" not in json.loads(state.note)


def test_of_two_rows_that_contradict_each_other_the_first_counts_and_says_so():
    ((_, (state,)),) = reported_values([fact(12_000_000.0, "a"), fact(13_400_000.0, "a")], {"a": 100}).items()
    assert state.value == 12_000_000.0
    assert state.note == '{"accession":"a","form":"10-K","inconsistent":true}'


def test_units_and_periods_are_cells_of_their_own():
    facts = [fact(1.0, "a"), fact(2.0, "a", unit="TWD"), fact(3.0, "a", start=None)]
    assert {cell.unit + str(cell.start): s[0].value for cell, s in reported_values(facts, {"a": 1}).items()} == {
        f"USD{START}": 1.0,
        f"TWD{START}": 2.0,
        "USDNone": 3.0,
    }


def test_a_filing_without_a_time_is_named():
    with pytest.raises(ValueError, match="when filing a was known"):
        reported_values([fact(1.0, "a")], {})


def test_a_value_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="us-gaap:NetIncomeLoss in filing a"):
        reported_values([fact(float("nan"), "a")], {"a": 1})
