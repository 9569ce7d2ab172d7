"""What a home holds, in a form in which two homes compare: no numbers of rows, no ids of runs."""

from pathlib import Path
from typing import Any

from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta
from tests.support.treasury_home import PAYLOADS, SERVED

_QUERIES = {
    "vintages": SERVED,
    "payloads": PAYLOADS,
    "records": "SELECT kind, id, body FROM record ORDER BY kind, id",
    "orders": "SELECT DISTINCT indicator, sources FROM preference ORDER BY 1, 2",
    "series": "SELECT id, s.source, body, s.exposure, p.fetched_at, p.sha256, rows, vintages, first_period, last_period,"
    " first_known, last_known FROM series s JOIN spec USING(spec) LEFT JOIN payload p ON p.payload = s.folded ORDER BY id",
    "unmapped": "SELECT source, native, rows FROM unmapped ORDER BY 1, 2",
    "world": "SELECT v FROM meta WHERE k = 'world'",
}


def state(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is served, and where it came from."""
    db = opening.connect(home / "data.db", read_only=True)
    try:
        with db.snapshot():
            return {name: list(db.execute(sql)) for name, sql in _QUERIES.items()}
    finally:
        db.close()


def version(home: Path) -> int:
    db = opening.connect(home / "data.db", read_only=True)
    try:
        return int(meta(db, "version") or 0)
    finally:
        db.close()


def unfinished(folder: Path) -> list[str]:
    """Temporary files and folders anywhere below."""
    return sorted(path.name for path in folder.rglob("*") if "unfinished" in path.name)


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Assert that two states are equal, naming the part that is not: the whole would be megabytes."""
    for name, rows in one.items():
        differing = sorted(map(repr, set(rows) ^ set(other[name])))
        assert not differing, f"{name}: {len(differing)} rows differ, the first is {differing[0]}"
        assert rows == other[name]
