"""Budgets, citations, withheld rows and refusals, without a service."""

import pytest

from almanac_mcp.text import rows
from almanac_mcp.text.answers import HARD, SOFT, Answer, Table, cut
from almanac_mcp.text.citations import Citations
from almanac_mcp.text.refusals import RefusalError, unknown
from almanac_mcp.tools.revisions import _difference as difference


def numbered(many, keep="last"):
    return Table("title", ("period", "value"), [(f"{year:04}", year * 7) for year in range(many)], keep=keep)


def test_a_short_answer_is_whole():
    answer = Answer(["head"], [numbered(3)], ["note"])
    assert answer.text() == "head\n\ntitle\nperiod,value\n0000,0\n0001,7\n0002,14\nnote"


def test_over_the_soft_budget_the_newest_rows_stay_and_the_last_line_tells():
    answer = Answer(["head"], [numbered(2000)], hint=lambda gone: f"start={gone[0][0]}, end={gone[-1][0]}")
    text = answer.text()
    lines = text.splitlines()
    assert SOFT - 40 < len(text) <= SOFT
    assert "1999,13993" in lines
    shown = sum("," in line and line[:4].isdigit() for line in lines)
    assert lines[-1] == f"left out {2000 - shown} rows: start=0000, end={1999 - shown:04}"


def test_a_ranked_table_keeps_its_first_rows():
    text = Answer([], [numbered(2000, keep="first")]).text()
    assert "0000,0" in text
    assert "1999," not in text
    assert "left out" in text.splitlines()[-1]


def test_every_table_keeps_a_row():
    tables = [Table(f"table {n}", ("a",), [("x" * 200,), (f"row of {n}",)]) for n in range(40)]
    text = Answer([], tables).text()
    assert [n for n in range(40) if f"row of {n}" not in text] == []
    assert "left out 40 rows" in text


def test_nothing_passes_the_hard_budget():
    long = Answer(["h" * 100] * 900)
    assert len(long.text()) <= HARD
    assert long.text().endswith("\nleft out the rest: the answer is too long; ask for less at a time")
    assert len(cut("x" * 50_000)) <= HARD
    assert cut("x" * HARD) == "x" * HARD


def observation(**more):
    rights = {"valueWithheld": False, "reason": None, "license": "CC", "attribution": "By A"}
    return {
        "id": "obs_1", "providerId": "a", "sourceId": "a-feed", "attribution": "By A", "valueNumeric": 1.5, "valueText": None,
        "unit": "percent", "revisionStatus": "initial", "metadata": {}, "rights": rights, **more,
    }  # fmt: skip


HIDDEN = {"valueWithheld": True, "reason": "No.", "license": "own", "attribution": "B"}


def test_a_source_is_cited_once_with_its_references():
    cited = Citations()
    assert [cited.row(observation(id=f"obs_{n}")) for n in range(6)] == [1] * 6
    assert cited.row(observation(providerId="b", sourceId="b")) == 2
    assert cited.lines() == [
        "[1] a, a-feed, licence: CC, cite as: By A, ref obs_0 obs_1 obs_2 obs_3 and 2 more",
        "[2] b, licence: CC, cite as: By A, ref obs_1",
    ]


def test_what_stands_for_a_value():
    assert rows.value(observation()) == "1.5"
    assert rows.value(observation(valueNumeric=None, valueText="AAA")) == "AAA"
    assert rows.value(observation(valueNumeric=None, metadata={"withdrawn": True})) == "withdrawn"
    assert rows.value(observation(valueNumeric=None, rights=HIDDEN)) == "withheld"
    # Should a service ever send one beside the mark, it is still not said.
    assert rows.value(observation(valueNumeric=9.9, rights=HIDDEN)) == "withheld"


def test_reasons_are_counted_and_forbid_to_guess():
    other = {**HIDDEN, "reason": None}
    found = rows.reasons([observation(), *[observation(rights=HIDDEN)] * 2, observation(rights=other)])
    assert found == [
        "withheld: 2 rows, No; do not estimate",
        "withheld: 1 row, its rights do not allow it; do not estimate",
    ]


def test_status_and_unit():
    assert rows.status(observation(metadata={"forecast": True})) == "initial+forecast"
    assert rows.unit(observation(unit="local_currency", metadata={"currency": "CHF"})) == "local_currency (CHF)"
    assert rows.unit(observation(unit="usd", currency="USD")) == "usd"
    assert rows.unit(observation(unit=None)) == "no unit"


@pytest.mark.parametrize(
    ("allowed", "text"),
    [
        ({"minimum": 1, "maximum": 5}, "allowed: 1 to 5"),
        (["a", "b"], "allowed: a, b"),
        ([str(n) for n in range(50)], f"allowed: {', '.join(map(str, range(40)))} and 10 more"),
        ({"form": "a date"}, "allowed: form a date"),
        ("a date", "allowed: a date"),
    ],
)
def test_a_refusal_says_what_is_allowed(allowed, text):
    assert RefusalError("no\nway", allowed=allowed, suggestion="x").text() == f"error: no way\n{text}\nsuggestion: x"


def test_a_refusal_without_more_is_one_line():
    assert RefusalError("no", allowed=[]).text() == "error: no"
    assert len(RefusalError("n" * 90_000).text()) <= SOFT


def test_an_unknown_name_has_three_candidates_at_most():
    many = [{"id": f"id{n}", "name": f"Name {n}"} for n in range(5)]
    assert unknown("an indicator", "x", many).text() == (
        "error: 'x' is not the exact id of an indicator; candidates: id0 (Name 0); id1 (Name 1); id2 (Name 2)\n"
        "suggestion: use one of these ids, or call almanac_find"
    )
    assert unknown("a place", "x", []).text() == (
        "error: 'x' is not the exact id of a place; nothing is close to it\nsuggestion: call almanac_find"
    )


def state(value, quality=None):
    """A published state of a company's figure."""
    return {
        "observedAt": "2026-01-02T00:00:00Z", "valueNumeric": value, "revisionStatus": "revised",
        "metadata": {"quality": quality} if quality else {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "change", "status"),
    [
        (state(5.0), state(5.0, "failed"), "none; checks: ok before", "revised+checks: failed"),
        (state(5.0, "failed"), state(5.0), "none; checks: failed before", "revised"),
        (state(5.0, "warning"), state(6.0, "failed"), "1", "revised+checks: failed"),
        (state(5.0, "warning"), state(5.0, "warning"), "0", "revised+checks: warning"),
        (state(None), state(5.0, "warning"), "", "revised+checks: warning"),
    ],
)
def test_a_state_that_differs_in_what_checks_say_alone_is_no_change_of_the_number(before, after, change, status):
    assert (difference(before, after), rows.status(after)) == (change, status)
