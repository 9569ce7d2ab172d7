"""What rows say beside their value: JSON objects, each stored once."""

from __future__ import annotations

from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import next_id


def body_sql(table: str) -> str:
    """Return SQL for the note of a row of `vintages`, which goes by this name in the statement; NULL: it has none."""
    return f"(SELECT n.body FROM note n WHERE n.note = {table}.note)"


class Notes:
    """Numbers of notes, as one transaction meets them."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._numbers: dict[str, int] = {}

    def number(self, body: str | None) -> int | None:
        """Return the number of a note, which is stored if it is new; None for no note."""
        if body is None:
            return None
        held = self._numbers.get(body)
        if held is None:
            found: int | None = self._db.execute("SELECT note FROM note WHERE body = ?", (body,)).get
            if found is None:
                found = int(self._db.execute(_NEXT).get)
                self._db.execute("INSERT INTO note VALUES(?, ?)", (found, body))
            held = self._numbers[body] = found
        return held

    def body(self, number: int) -> str | None:
        """Return the text of a note by its number; None if there is none."""
        text: str | None = self._db.execute("SELECT body FROM note WHERE note = ?", (number,)).get
        return text


_NEXT = f"SELECT {next_id('note', 'note')}"
