"""
Payloads that a database names but a raw store cannot return. They would be lost if the data were rebuilt from it.

Every command that replaces data, or promises that it can be rebuilt, checks this first (`lost`). It continues only if
nothing is lost, or if the operator typed the number of lost payloads (`demand`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from almanac.domain.errors import UserError
from almanac.store.engine.errors import DatabaseError, StoreError
from almanac.store.engine.opening import fault
from almanac.store.engine.protocol import Database
from almanac.store.log import payloads
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Corrupt, RawStore, index_name, object_name

#: Lost payloads that a message names.
_NAMED = 3
#: The option to continue without them.
OPTION = "--without-missing"
#: Advice of commands that use the raw store of the settings.
BRING_BACK = "Set ALMANAC_RAW_URL to the raw store that has them, or bring them back into this one"


class LossError(UserError):
    """A command would lose served data, or promise data that is gone. Nothing was changed; the message says what to do."""


class Lost(NamedTuple):
    """A payload that is unavailable, and why."""

    capture: str
    source: str
    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source} {self.url} (capture {self.capture}: {self.reason})"


def named(db: Database) -> list[PayloadRow]:
    """
    Return the payloads that a data database of any schema names; none if it has no such table yet.

    Raises StoreError if the table cannot be read, because the possible loss is then unknown.
    """
    try:
        return payloads.every(db) if "payload" in db.tables() else []
    except Exception as error:
        translated = fault(error)
        if not isinstance(translated, DatabaseError):
            raise
        raise StoreError(
            f"which payloads the data came from cannot be read ({translated}): what would be lost is not known, and nothing was changed"
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
    Return the payloads that the raw store lacks, in the given order.

    `names` are the names in the raw store, if already listed. Payloads of sources outside `sources` count as lost too.
    Without `read` only names are checked; with it every payload is read, and a damaged one counts as lost.
    """
    there = set(raw.names() if names is None else names)
    missing = []
    for row in rows:
        reason = None
        if index_name(row.source, row.capture) not in there:
            reason = "the raw store has no such capture"
        elif object_name(row.sha256) not in there:
            reason = "the raw store has not its bytes"
        elif sources is not None and row.source not in sources:
            reason = "the catalogue has no such source"
        elif read:
            try:
                capture = raw.capture(row.source, row.capture)
                if capture is None:
                    reason = "the raw store has no such capture"
                elif (flaw := raw.flaw(capture)) is not None:
                    reason = str(flaw)
            except Corrupt as error:
                reason = str(error)
        if reason is not None:
            missing.append(of(row, reason))
    return missing


def of(row: PayloadRow, reason: str) -> Lost:
    """Build the record of a lost payload."""
    return Lost(row.capture, row.source, row.url, reason)


def demand(
    missing: Sequence[Lost],
    of_all: int,
    without: int | None,
    doing: str,
    where: str,
    advice: str,
    *,
    at_most: bool = False,
) -> None:
    """
    Raise LossError unless nothing is lost, or `without`, the typed number, equals the number of lost payloads.

    `doing` is the action, `where` the place that lacks them, `advice` what else can be done. With `at_most` a larger
    typed number is accepted for now, because more losses may be found later.
    """
    if len(missing) == (without or 0) or (at_most and len(missing) < (without or 0)):
        return
    if not missing:
        raise LossError(f"{OPTION} {without}: no payload is missing, and nothing was changed; leave the option out")
    rest = len(missing) - _NAMED
    listed = "; ".join(map(str, missing[:_NAMED])) + (f"; and {rest} more" if rest > 0 else "")
    typed = "" if without is None else f"{OPTION} {without} is not their number. "
    raise LossError(
        f"{doing} would do without {len(missing)} of the {of_all} payloads that the data came from, which cannot be had from"
        f" {where}: {listed}. {typed}Nothing was changed. {advice}; only where they are gone for good: {OPTION} {len(missing)}"
    )
