"""Which request of a source was answered when, and which are owed: a turn asks again for those alone that failed."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Database, Queryable


class RequestState(NamedTuple):
    """How a request stands. `via`: the planned request through which it is asked; `answered_at` None: it is owed."""

    via: str
    answered_at: int | None


def standing(db: Queryable, source: str) -> dict[str, RequestState]:
    """URL → how it stands."""
    rows = db.execute("SELECT url, via, answered_at FROM request WHERE source = ?", (source,))
    return {url: RequestState(*row) for url, *row in rows}


def note(db: Database, source: str, url: str, via: str, answered_at: int | None, *, keep: bool = False) -> None:
    """
    Write down that a request was answered well, or (None) was not. One that was led to is kept while it is owed; with `keep`
    for good.
    """
    with db.transaction():
        if answered_at is not None and url != via and not keep:
            db.execute("DELETE FROM request WHERE source = ? AND url = ?", (source, url))
        else:
            db.execute(
                "INSERT INTO request VALUES(?1, ?2, ?3, ?4) ON CONFLICT(source, url) DO UPDATE SET via = ?3, answered_at = ?4",
                (source, url, via, answered_at),
            )


def forget(db: Database, source: str, urls: list[str]) -> None:
    """Forget requests that are planned no more, and all that they led to."""
    if urls:
        with db.transaction():
            db.executemany(
                "DELETE FROM request WHERE source = ?1 AND ?2 IN (url, via)", [(source, url) for url in urls]
            )
