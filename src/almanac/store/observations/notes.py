"""What rows say beside their value: JSON objects, each stored once."""

from __future__ import annotations


def body_sql(table: str) -> str:
    """Return SQL for the note of a row of `vintages`, which goes by this name in the statement; NULL: it has none."""
    return f"(SELECT n.body FROM note n WHERE n.note = {table}.note)"
