"""Rows that are stored once for all that say the same: notes, specifications of series, sets of input series."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import msgspec

from almanac.domain.reference import SeriesSpec
from almanac.store.engine.protocol import Database


def digest_of(text: str) -> int:
    """Return 48 bits of SHA-256. Two texts may have one number, though rarely, so a look-up compares the text too."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


_Key = TypeVar("_Key")


class Numbers(Generic[_Key]):
    """The numbers of one table's rows, as one transaction meets them."""

    table: str
    column: str
    #: Finds a row `x` by what `search` gives, which is `k.column2` and further.
    condition: str

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[_Key, int] = {}
        self._next: int | None = None

    def search(self, key: _Key) -> tuple[Any, ...]:
        """Return what a key is found by."""
        raise NotImplementedError

    def row(self, number: int, key: _Key) -> tuple[Any, ...]:
        """Return the row of a key: its number, and by default what it is found by."""
        return number, *self.search(key)

    def known(self, keys: Iterable[_Key]) -> list[int | None]:
        """Return the number of each key, or None if it isn't stored."""
        listed = list(keys)
        unknown = [key for key in dict.fromkeys(listed) if key not in self._known]
        for place, number in self._db.seek(
            f"SELECT k.column1, x.{self.column} FROM {{keys}}{self.table} x WHERE {self.condition}",
            [(place, *self.search(key)) for place, key in enumerate(unknown)],
        ):
            self._known[unknown[place]] = number
        return [self._known.get(key) for key in listed]

    def put(self, keys: Iterable[_Key]) -> list[int]:
        """Return the number of each key. New ones are stored, in their order."""
        listed = list(keys)
        numbers = self.known(listed)
        missing = dict.fromkeys(key for key, number in zip(listed, numbers, strict=True) if number is None)
        if missing:
            if self._next is None:
                self._next = int(self._db.execute(f"SELECT coalesce(max({self.column}), 0) + 1 FROM {self.table}").get)
            fresh = dict(zip(missing, itertools.count(self._next), strict=False))
            self._next += len(fresh)
            self._db.insert(self.table, [self.row(number, key) for key, number in fresh.items()])
            self._known |= fresh
        return [self._known[key] for key in listed]


class NoteNumbers(Numbers[str]):
    """Numbers of what rows say beside their value: JSON objects."""

    table, column, condition = "note", "note", "x.body = k.column2"

    def search(self, key: str) -> tuple[Any, ...]:
        return (key,)


class SpecNumbers(Numbers[SeriesSpec]):
    """Numbers of specifications. Keys are without their entity: there are as many series of a tag as companies that use it."""

    table, column, condition = "spec", "spec", "x.digest = k.column2 AND x.body = k.column3"

    def search(self, key: SeriesSpec) -> tuple[Any, ...]:
        body = msgspec.json.encode(key).decode()
        return digest_of(body), body

    def row(self, number: int, key: SeriesSpec) -> tuple[Any, ...]:
        otherwise = key.allowance_days is not None or key.judged_by_fetch or key.discontinued
        return number, key.native, key.variant, key.unit, int(key.exposure), int(otherwise), *self.search(key)


class LineageNumbers(Numbers[tuple[str, ...]]):
    """Numbers of sets of input series: their ids, in the order given."""

    table, column, condition = "lineage", "lineage", "x.digest = k.column2 AND x.inputs = k.column3"

    def search(self, key: tuple[str, ...]) -> tuple[Any, ...]:
        listed = json.dumps(key, separators=(",", ":"))
        return digest_of(listed), listed


class TopicNumbers(Numbers[tuple[str, str, str]]):
    """Numbers of topics: indicator, entity and frequency. `kind` is that of new ones, raw or derived."""

    table, column = "topic", "topic"
    condition = "x.indicator = k.column2 AND x.entity = k.column3 AND x.frequency = k.column4"

    def __init__(self, db: Database, kind: str) -> None:
        super().__init__(db)
        self._kind = kind

    def search(self, key: tuple[str, str, str]) -> tuple[Any, ...]:
        return key

    def row(self, number: int, key: tuple[str, str, str]) -> tuple[Any, ...]:
        return number, *key, self._kind
