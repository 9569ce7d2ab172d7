"""Statements as tables: how precisely columns are told, and what a split makes of a restated line."""

from __future__ import annotations

from typing import Any

from almanac.dashboard.explorer import statements as restatements
from almanac.dashboard.explorer.statements import table


def income(end: str, items: dict[str, float], computed: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "frequency": "quarterly", "periodEnd": f"{end}T00:00:00Z", "items": items, "revisionStatus": "initial",
        "observedAt": f"{end}T00:00:00Z", "derivedItems": {key: {"method": "formula", "derivedFrom": []} for key in computed},
        "quality": {"status": "ok", "checks": []}, **more,
    }  # fmt: skip


def texts(*told: dict[str, Any]) -> list[str]:
    (line,) = table("income", told, {}, "millions")["lines"]
    return [cell.look.text for cell in line.cells]


def test_a_figure_per_share_is_told_as_precisely_as_it_was_filed() -> None:
    """What was computed between two filed ones has twelve digits, which are nobody's."""
    key = "earnings_per_share_basic"
    filed, made = income("2026-03-28", {key: 2.02}), income("2025-09-27", {key: 1.853893534160}, (key,))
    assert texts(filed, made) == ["2.02", "1.85"]
    assert texts(made) == ["1.85"]
    assert texts(income("2026-03-28", {key: 0.4975}), made) == ["0.4975", "1.8539"]
    assert texts(income("2026-03-28", {key: 0.123456789})) == ["0.1235"]
    # The whole number stays beside the short one.
    (line,) = table("income", [made], {}, "millions")["lines"]
    assert line.cells[0].look.full == "1.85389353416"


def test_a_line_that_a_split_changed_is_no_revision_up_or_down() -> None:
    before = income(
        "2019-09-28",
        {"revenue": 260e9, "earnings_per_share_basic": 11.97, "weighted_average_shares_basic": 4_617_834_000},
    )
    after = income(
        "2019-09-28",
        {"revenue": 261e9, "earnings_per_share_basic": 2.99, "weighted_average_shares_basic": 18_471_336_000},
        revisionStatus="revised",
        observedAt="2020-10-30T10:00:00Z",
    )
    was, _ = restatements.before([after], lambda _: [before])
    assert {key: one.split for (_, key), one in was.items()} == {
        "revenue": "",
        "earnings_per_share_basic": "4-for-1 split",
        "weighted_average_shares_basic": "4-for-1 split",
    }
    looks = {line.key: line.cells[0].look for line in table("income", [after], was, "millions")["lines"]}
    per_share = looks["earnings_per_share_basic"]
    assert (per_share.text, per_share.direction, per_share.note) == ("2.99", None, "4-for-1 split")
    assert per_share.spoken == "2.99, restated for a 4-for-1 split"
    assert looks["revenue"].direction == "up"
