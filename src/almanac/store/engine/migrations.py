"""Bringing a database of an earlier schema to today's, in place: one step after the other, each whole or not at all."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from almanac.distribution import version
from almanac.store.engine.errors import SchemaError
from almanac.store.engine.protocol import Database

log = logging.getLogger("almanac.store")


class Step(NamedTuple):
    """
    What leads to a schema from the one before it.

    `change`: statements in SQL, or a function that is given the database inside the step's transaction; None where the
    tables cannot be brought there in place. `what` says in a few words what is another, for the log and for messages.
    A step moves no row that is served: one that must, can only be a rebuild.
    """

    schema: int
    what: str
    change: str | Callable[[Database], object] | None


class Schema(NamedTuple):
    """
    The schema of one kind of database: the steps that led to it, the first for the oldest schema that anyone may have.

    `read` and `write` are its number in a database. `remedy` completes a message where no step leads on: what to do.
    `newer` does so where the database was written by a later version of ours.
    """

    what: str
    steps: tuple[Step, ...]
    read: Callable[[Database], int]
    write: Callable[[Database, int], object]
    remedy: str
    newer: str

    @property
    def newest(self) -> int:
        return self.steps[-1].schema

    def bring(self, db: Database, path: Path | str) -> None:
        """
        Bring a database to the newest schema, each step in a transaction of its own: killed between two, it goes on there.

        May be called by several processes at once; the others wait for the one that comes first. Raises SchemaError, before
        anything is changed, for a database that is newer than this program, or that no steps lead on from.
        """
        found = self.read(db)
        for step in self.ahead(found, path):
            with db.transaction():
                if self.read(db) >= step.schema:  # another process came first
                    continue
                if isinstance(step.change, str):
                    db.execute(step.change)
                elif step.change is not None:
                    step.change(db)
                self.write(db, step.schema)
            log.warning("%s: brought to schema %s (%s)", path, step.schema, step.what)

    def ahead(self, found: int, path: Path | str) -> list[Step]:
        """The steps that are still to be taken. Raises SchemaError where they cannot be."""
        if found > self.newest:
            raise SchemaError(
                f"{self.what} {path} has schema {found} and was written by a newer version: this one, Almanac"
                f" {version()}, knows schema {self.newest}; {self.newer}"
            )
        ahead = [step for step in self.steps if step.schema > found]
        barred = [step for step in ahead if step.change is None]
        if found < self.steps[0].schema - 1 or barred:
            why = f" (schema {barred[-1].schema}: {barred[-1].what})" if barred else ""
            raise SchemaError(
                f"{self.what} {path} has schema {found}, this version, Almanac {version()}, needs {self.newest},"
                f" which cannot be made of it in place{why}: {self.remedy}"
            )
        return ahead
