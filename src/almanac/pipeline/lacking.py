"""
Payloads that a database names and a raw store cannot give back: what would be lost if the data were made anew from it.

Every command that replaces data, or promises that they can be made again, looks here first (`lost`) and goes on only where
nothing is lost, or where as many payloads as are lost were typed (`Demand.meet`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Self

from almanac.store.engine.errors import DatabaseError, StoreError
from almanac.store.engine.opening import fault
from almanac.store.engine.protocol import Database
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Corrupt, RawStore, index_name, object_name

#: Payloads that are named, of those that are lost.
_NAMED = 3
#: The option that goes on without them.
OPTION = "--without-missing"


class LossError(Exception):
    """A command would lose data that are served, or promise what cannot be had. Nothing was changed; the message says what to do."""


class Lost(NamedTuple):
    """A payload that cannot be had, and why."""

    capture: str
    source: str
    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source} {self.url} (capture {self.capture}: {self.reason})"


def named(db: Database) -> list[PayloadRow]:
    """
    The payloads that a data database names, of whatever schema it is; none where it has no such table yet.

    Raises StoreError where it has one that cannot be read: then nobody knows what would be lost.
    """
    try:
        return payloads.every(db) if "payload" in db.tables() else []
    except Exception as error:
        found = fault(error)
        if not isinstance(found, DatabaseError):
            raise
        raise StoreError(
            f"which payloads the data came from cannot be read ({found}): what would be lost is not known, and nothing was changed"
        ) from error


def lost(
    rows: Iterable[PayloadRow],
    raw: RawStore,
    *,
    names: Iterable[str] | None = None,
    sources: Collection[str] | None = None,
    read: bool = False,
) -> list[Lost]:
    """
    Those of the payloads that the raw store lacks, in the order given. `names`: what it holds, where that was listed already.
    `sources`: payloads of any other cannot be read either.

    Names are listed and nothing is read, unless `read`: then each is, and one that is damaged is as good as missing.
    """
    there = set(raw.names() if names is None else names)
    found = []
    for row in rows:
        reason = _missing(row, there)
        if reason is None and sources is not None and row.source not in sources:
            reason = "the catalogue has no such source"
        if reason is None and read:
            reason = _damage(row, raw)
        if reason is not None:
            found.append(of(row, reason))
    return found


def of(row: PayloadRow, reason: str) -> Lost:
    """A payload that is lost, for a reason."""
    return Lost(row.capture, row.source, row.url, reason)


def _missing(row: PayloadRow, there: Collection[str]) -> str | None:
    if index_name(row.source, row.capture) not in there:
        return "the raw store has no such capture"
    return None if object_name(row.sha256) in there else "the raw store has not its bytes"


def _damage(row: PayloadRow, raw: RawStore) -> str | None:
    try:
        capture = raw.capture(row.source, row.capture)
    except Corrupt as error:
        return str(error)
    return "the raw store has no such capture" if capture is None else raw.flaw(capture)


class Demand(NamedTuple):
    """
    How a command asks to be allowed to lose payloads. `doing`: what would be done without them; `where` they are not;
    `advice`: what else may be done.
    """

    doing: str
    where: str
    advice: str

    @classmethod
    def of(cls, doing: str, place: str, advice: str = "") -> Self:
        """Of a command that looks into the raw store at a place."""
        bring = "Set ALMANAC_RAW_URL to the raw store that has them, or bring them back into this one"
        return cls(doing, f"the raw store {place}", bring + advice)

    def meet(self, gone: Sequence[Lost], of_all: int, without: int | None, *, at_most: bool = False) -> None:
        """
        Raise LossError unless nothing is lost, or `without`, the number that was typed, is that of the payloads that are.

        `at_most`: there may turn out to be more of them, so a larger number is not refused yet.
        """
        if len(gone) == (without or 0) or (at_most and len(gone) < (without or 0)):
            return
        if not gone:
            raise LossError(f"{OPTION} {without}: no payload is missing, and nothing was changed; leave the option out")
        rest = len(gone) - _NAMED
        listed = "; ".join(map(str, gone[:_NAMED])) + (f"; and {rest} more" if rest > 0 else "")
        typed = "" if without is None else f"{OPTION} {without} is not their number. "
        raise LossError(
            f"{self.doing} would do without {len(gone)} of the {of_all} payloads that the data came from, which cannot be had from"
            f" {self.where}: {listed}. {typed}Nothing was changed. {self.advice}; only where they are gone for good:"
            f" {OPTION} {len(gone)}"
        )
