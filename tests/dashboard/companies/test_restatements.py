"""What cells were before filings changed them, also where several filings changed one statement."""

from __future__ import annotations

from typing import Any

from almanac.dashboard.explorer import statements


def state(observed: str, status: str = "revised", end: str = "2024-12-31", **items: float) -> dict[str, Any]:
    return {"frequency": "annual", "periodEnd": end, "observedAt": observed, "revisionStatus": status, "items": items}


FIRST = state("2025-02-01T00:00:00Z", "initial", revenue=100, net_income=10)
SECOND = state("2025-06-01T00:00:00Z", revenue=100, net_income=9)
THIRD = state("2025-09-01T12:00:00Z", revenue=95, net_income=9)


def history(moment: str) -> list[dict[str, Any]]:
    known = [one for one in (FIRST, SECOND, THIRD) if one["observedAt"] <= moment]
    return known[-1:]


def test_each_cell_is_told_as_before_the_filing_that_changed_it_last() -> None:
    asked: list[str] = []

    def ask(moment: str) -> list[dict[str, Any]]:
        asked.append(moment)
        return history(moment)

    found, more = statements.before([THIRD], ask)
    assert asked == ["2025-09-01T11:59:59Z", "2025-05-31T23:59:59Z"]
    assert {key: (was.value, was.before, was.after) for (_, key), was in found.items()} == {
        "revenue": (100, SECOND, THIRD),
        "net_income": (10, FIRST, SECOND),
    }
    assert not more


def test_statements_changed_at_one_moment_are_asked_for_once() -> None:
    asked: list[str] = []
    other = state("2025-09-01T12:00:00Z", end="2023-12-31", revenue=7)
    before = [SECOND | {"revisionStatus": "initial"}, state("2024-02-01T00:00:00Z", "initial", "2023-12-31", revenue=8)]
    found, _ = statements.before([THIRD, other], lambda moment: asked.append(moment) or before)
    assert len(asked) == 1
    assert {place: was.value for place, was in found.items()} == {(0, "revenue"): 100, (1, "revenue"): 8}


def test_nothing_is_asked_where_nothing_changed() -> None:
    def never(_: str) -> list[dict[str, Any]]:
        raise AssertionError

    assert statements.before([FIRST], never) == ({}, False)


def test_there_is_an_end_to_asking() -> None:
    """A page costs a bounded number of requests, and says that there was more."""
    ends = [f"20{number:02d}-12-31" for number in range(statements.MOST + 3)]
    rows = [state(f"2025-01-{number + 1:02d}T00:00:00Z", end=end, revenue=1) for number, end in enumerate(ends)]
    asked: list[str] = []
    _, more = statements.before(rows, lambda moment: asked.append(moment) or [])
    assert len(asked) == statements.MOST
    assert more


def test_a_line_that_is_new_or_gone_was_not_changed() -> None:
    now = state("2025-06-01T00:00:00Z", revenue=1, ebitda=3)
    found, _ = statements.before([now], lambda _: [state("2025-01-01T00:00:00Z", "initial", revenue=1, net_income=2)])
    assert found == {}
