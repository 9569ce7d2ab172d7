"""What the interface has learnt of one state of the store, kept from one request to the next while that state lasts."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from almanac.api.contract.records import WarningSchema
from almanac.domain.aliases import Alias
from almanac.reports.suggestions import Suggestions
from almanac.store.observations.reading.reader import View

if TYPE_CHECKING:
    from almanac.api.rows.redaction import Redaction

#: What the parameters naming indicators and entities were, and for whom they were read.
Names = tuple[object, ...]


class Meaning(NamedTuple):
    """What names given together mean (None: not restricted), and what is said of those that mean nothing."""

    indicators: tuple[str, ...] | None
    entities: tuple[str, ...] | None
    warnings: tuple[WarningSchema, ...]
    #: Scopes for want of which rows are left out.
    lacking: tuple[str, ...]


class StateMemory:
    """What is kept with one view. Each owner bounds its own part. Nothing in it may hold the view, which it would keep."""

    def __init__(self) -> None:
        self.meanings: dict[Names, Meaning] = {}
        #: Names of countries and regions, by what is compared of them; None: not asked for yet.
        self.places: Mapping[str, Sequence[Alias]] | None = None
        #: By what they are names of.
        self.suggestions: dict[str, Suggestions] = {}
        #: By version, `as_of` as asked, and day.
        self.redactions: dict[tuple[int, int | None, int], Redaction] = {}


#: By identity: two look-ups are made for every page, and a WeakKeyDictionary takes ten times as long.
_memories: dict[int, StateMemory] = {}


def memory_of(view: View) -> StateMemory:
    """The memory of a view; it goes when the view does, and before another can have its identity."""
    memory = _memories.get(id(view))
    if memory is None:
        memory = _memories[id(view)] = StateMemory()
        weakref.finalize(view, _memories.pop, id(view), None).atexit = False
    return memory
