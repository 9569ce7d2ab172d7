"""What the interface has learnt of one state of the store, kept from one request to the next while that state lasts."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cachetools import LRUCache

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import day_of
from almanac.api.contract.records import WarningSchema
from almanac.api.rows.redaction import Redaction
from almanac.domain.aliases import Alias
from almanac.reports.names import Suggestions
from almanac.store.observations.reading.reader import View

#: Redactions that are kept of one view.
_REDACTIONS = 16
#: What the parameters naming indicators and entities were, and for whom they were read.
Names = tuple[object, ...]


class Meaning(NamedTuple):
    """What names given together mean (None: not restricted), and what is said of those that mean nothing."""

    indicators: tuple[str, ...] | None
    entities: tuple[str, ...] | None
    warnings: tuple[WarningSchema, ...]
    #: Scopes for want of which rows are left out.
    lacking: tuple[str, ...]


#: Bytes that remembered questions may take, about: names may be as long as a parameter lets them. And what each takes beside
#: its letters: objects, and its place.
MEANINGS_BYTES, _ENTRY = 8 << 20, 1_024
#: Of a letter, of whatever script, and of a text beside its letters.
_LETTER, _TEXT = 4, 64


def _size(value: object) -> int:
    """Bytes that the texts of a tuple take, about."""
    if isinstance(value, str):
        return _TEXT + _LETTER * len(value)
    if isinstance(value, WarningSchema):
        return _size((value.parameter, value.value, value.reason, value.suggestion))
    return sum(map(_size, value)) if isinstance(value, tuple) else 0


def _entry_size(entry: tuple[Names, Meaning]) -> int:
    return _ENTRY + _size(entry)


class StateMemory:
    """What is kept with one view. Each owner bounds its own part. Nothing in it may hold the view, which it would keep."""

    def __init__(self) -> None:
        #: With the names it is kept under, which its size in memory is told from.
        self.meanings: LRUCache[Names, tuple[Names, Meaning]] = LRUCache(MEANINGS_BYTES, _entry_size)
        #: Names of countries and regions, by what is compared of them; None: not asked for yet.
        self.places: Mapping[str, Sequence[Alias]] | None = None
        #: By what they are names of.
        self.suggestions: dict[str, Suggestions] = {}
        #: By version, `as_of` as asked, and day.
        self.redactions: LRUCache[tuple[int, int | None, int], Redaction] = LRUCache(_REDACTIONS)


#: By identity: two look-ups are made for every page, and a WeakKeyDictionary takes ten times as long.
_memories: dict[int, StateMemory] = {}


def memory_of(view: View) -> StateMemory:
    """The memory of a view; it goes when the view does, and before another can have its identity."""
    memory = _memories.get(id(view))
    if memory is None:
        memory = _memories[id(view)] = StateMemory()
        weakref.finalize(view, _memories.pop, id(view), None).atexit = False
    return memory


def redaction_of(ctx: Context) -> Redaction:
    """
    Find or make the redaction of a request: freshness is judged at its `as_of`, else at the moment its walk is pinned to.

    What is learnt for one request is kept for the next, for as long as the state of the store lasts.
    """
    asked, redactions, key = ctx.params.get("as_of"), memory_of(ctx.view).redactions, Redaction.key(ctx)
    redaction = redactions.get(key)
    if redaction is None:
        redaction = Redaction(ctx.view, ctx.version, asked, day_of(ctx.at if asked is None else asked))
        redactions[key] = redaction
    return redaction
