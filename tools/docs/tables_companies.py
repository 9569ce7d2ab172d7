"""The table of how good statements are, counted as `almanac companies report` counts them, over one simulated filer of each trade."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from almanac.catalog.companies import styles as catalogued
from almanac.commands.companies import share
from almanac.config import Settings
from almanac.pipeline.operate.statement_report import StatementReport, statement_report
from almanac.store.observations.reading.reader import Reader
from tests.real.test_oracle import CAUSES
from tests.support import simulated_filers

from .markdown import table
from .served import NOW


def reported(home: Path) -> StatementReport:
    """What the first filer of each trade of the simulated world comes to, loaded into a folder. Half a second a filer."""
    settings = Settings(home=home, now=NOW, processes=1)
    simulated_filers.load(settings, simulated_filers.first_of_trades().values())
    reader = Reader(settings.data_path)
    try:
        with reader.view() as view:
            return statement_report(view)
    finally:
        reader.close()


def statements() -> str:
    """Shares by style, then each style's items."""
    with tempfile.TemporaryDirectory() as folder:
        found = reported(Path(folder))
    shares = [
        (
            f"`{one.style}`",
            str(one.filers),
            f"{share(one.own_periods_with_revenue, one.own_periods)} of {one.own_periods}",
            f"{share(one.balance_sheets_with_total_assets, one.balance_sheets)} of {one.balance_sheets}",
            *(f"{share(count, one.statements)}" for count in (one.ok, one.warning, one.failed)),
        )
        for one in found.shares
    ]
    head = ("Style", "Filers", "Own periods with revenue", "Sheets with total assets", "ok", "warning", "failed")
    rows = [
        (
            f"`{one.style}`",
            f"`{one.item}`",
            *map(str, (one.statements, one.served, one.warned, one.failed)),
            ", ".join(f"`{reason}` {count}" for reason, count in one.absent.items()),
        )
        for one in found.items
    ]
    items = table(("Style", "Item", "Filers", "Served", "Warned", "Failed", "Absent"), rows)
    return f"{table(head, shares)}\n\n{items}"


def styles() -> str:
    """The styles, and what a filer of each does."""
    return table(("Style", "What it is"), [(f"`{one.key}`", one.description) for one in catalogued().values()])


def differences() -> str:
    """Why another reader's value is another one."""
    return table(("Class", "What differs"), [(name, words) for name, words in CAUSES.items()])


TABLES: dict[str, Callable[..., str]] = {
    "statements": statements,
    "styles": styles,
    "differences": differences,
}
