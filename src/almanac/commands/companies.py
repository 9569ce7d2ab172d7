"""`almanac companies report`: how good the statements are that this store serves."""
# ruff: noqa: PLC0415  (imported when a command runs: `almanac --help` answers at once)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from almanac.commands.progress import Progress
from almanac.commands.shared import put, put_json, settings, table

if TYPE_CHECKING:
    from almanac.pipeline.operate.statement_report import StatementReport
    from almanac.reports.statement_counts import ItemCount


@click.group()
def companies() -> None:
    """Look at what is served of companies."""


@companies.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report(as_json: bool) -> None:
    """
    Count, for each style of reporting and item, of how many filers it is served, absent and why, warned, failed.

    Only reads the store.
    """
    from almanac.pipeline.operate.statement_report import statement_report
    from almanac.store.engine.opening import place
    from almanac.store.observations.reading.reader import Reader

    reader = Reader(place(settings(home=False).data_place))
    progress = Progress()
    try:
        with reader.view() as view, progress():
            found = statement_report(view, progress.meter)
    finally:
        reader.close()
    if as_json:
        put_json(found)
    else:
        _tell(found)


def _tell(found: StatementReport) -> None:
    import msgspec

    shares = [
        {
            **msgspec.to_builtins(one),
            "revenue": share(one.own_periods_with_revenue, one.own_periods),
            "totalAssets": share(one.balance_sheets_with_total_assets, one.balance_sheets),
            "ok": share(one.ok, one.statements),
            "warning": share(one.warning, one.statements),
            "failed": share(one.failed, one.statements),
        }
        for one in found.shares
    ]
    columns = ("style", "filers", "ownPeriods", "revenue", "balanceSheets", "totalAssets", "statements", "ok")
    table(shares, (*columns, "warning", "failed"))
    put()
    table([_row(one) for one in found.items], ("style", "item", "filers", "served", "warned", "failed", "absent"))


def _row(one: ItemCount) -> dict[str, Any]:
    return {
        "style": one.style,
        "item": f"{one.statement}.{one.item}",
        "filers": one.statements,
        "served": one.served,
        "warned": one.warned,
        "failed": one.failed,
        "absent": ", ".join(f"{reason} {count}" for reason, count in one.absent.items()),
    }


def share(part: int, whole: int) -> str | None:
    """A part in percent, rounded down: 100 % is all of it. None of nothing."""
    return f"{part * 1_000 // whole / 10:.1f} %" if whole else None
