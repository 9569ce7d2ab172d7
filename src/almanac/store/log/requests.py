"""The state of each request of a source. A turn repeats only the requests that failed."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Database, Queryable


class RequestState(NamedTuple):
    """
    The state of a request. `via` is the planned request that leads to it; `answered_at` None means it has to be
    repeated.
    """

    via: str
    answered_at: int | None


def standing(db: Queryable, source: str) -> dict[str, RequestState]:
    """Return the state of each request of a source, by URL."""
    rows = db.execute("SELECT url, via, answered_at FROM request WHERE source = ?", (source,))
    return {url: RequestState(*row) for url, *row in rows}


def note(db: Database, source: str, url: str, via: str, answered_at: int | None, *, keep: bool = False) -> None:
    """
    Record that a request was answered at `answered_at`, or with None, that it failed.

    A request that another one led to is kept only while it is failed, or with `keep` for good.
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
    """Delete requests that are no longer planned, and all that they led to."""
    if urls:
        with db.transaction():
            db.executemany(
                "DELETE FROM request WHERE source = ?1 AND ?2 IN (url, via)", [(source, url) for url in urls]
            )
