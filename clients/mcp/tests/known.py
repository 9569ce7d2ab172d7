"""What the store knows and the interface does not tell: the values of withheld series, read from the database itself."""

from functools import cache
from pathlib import Path

import apsw

#: The source of the simulated world whose owner allows no redistribution.
WITHHELD = "sandbox-licensed"


@cache
def withheld_values(home: Path, series: str) -> set[str]:
    """Every value ever known of a series, as an answer would write it."""
    db = apsw.Connection(str(home / "data.db"), flags=apsw.SQLITE_OPEN_READONLY)
    found = db.execute("SELECT DISTINCT v.value FROM vintages v JOIN series s USING (series) WHERE s.id = ?", (series,))
    values = {repr(value) for (value,) in found if value is not None}
    db.close()
    return values


@cache
def withheld_series(home: Path) -> list[str]:
    """The series of the withheld source, those computed from it too."""
    db = apsw.Connection(str(home / "data.db"), flags=apsw.SQLITE_OPEN_READONLY)
    found = [name for (name,) in db.execute("SELECT id FROM series WHERE id LIKE ? ORDER BY id", (f"{WITHHELD}:%",))]
    db.close()
    return found
