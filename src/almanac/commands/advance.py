"""How far a load of several sources is, in words: what is there already, what is being asked, how long the rest takes by the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from almanac.domain.reference import Source
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track
from almanac.pipeline.ingest.plans import SourcePlan
from almanac.pipeline.ingest.register import Portion
from almanac.pipeline.ingest.worker import ask
from almanac.pipeline.ingest.workload import span
from almanac.pipeline.workplace import Workplace

#: Portions of a plan as they are called there, and what one that was asked has brought.
_PORTIONS = {"newest": "what is new is there", "past": "its past is there"}


class LoadAdvance:
    """Follows a worker through its round, by what each source was planned to be asked. `tell` hears each step."""

    def __init__(self, planned: Sequence[SourcePlan], tell: Say) -> None:
        self._tell = tell
        self._planned = {one.source: one for one in planned}
        #: Seconds of what is still to be asked, by source and portion.
        self._left = {
            (one.source, portion): _seconds(one, portion)
            for one in planned
            for portion in _PORTIONS
            if _due(one, portion)
        }
        #: Requests that have no answer of any use, by source and portion.
        self._waiting: dict[tuple[str, str], int] = {}

    def beginning(self) -> Iterator[str]:
        """What is there, what waits, and what is asked now."""
        there = [one.source for one in self._planned.values() if one.answered and not one.now]
        if there:
            yield f"there already, and asked again when they are due: {', '.join(there)}"
        for one in self._planned.values():
            if not one.answered and not one.now and one.next:
                yield f"{one.source} has not answered yet, and is asked again at {one.next}"
        begun = [one.source for one in self._planned.values() if one.answered and one.now]
        if begun:
            yield f"there in part, and going on: {', '.join(begun)}"
        asked = [one for one in self._planned.values() if one.now]
        if not asked:
            yield "nothing is to be loaded now"
            return
        first = sum(
            seconds
            for (source, portion), seconds in self._left.items()
            if portion == "newest" and self._planned[source].turn == "first"
        )
        yield (
            f"{_many(sum(one.now for one in asked), 'request')} to {_many(len(asked), 'source')}, about {span(self.seconds)}, answers not"
            f" counted; what rates and briefs need first comes in about {span(first)}"
        )

    @property
    def seconds(self) -> float:
        """How long the rest takes at the publishers' pace, answers not counted."""
        return sum(self._left.values())

    @property
    def words(self) -> str:
        """How far all of it is, in one line."""
        missing = self._left.keys() | self._waiting.keys()
        left = {source for source, portion in missing if portion == "newest"}
        past = {source for source, portion in missing if portion == "past"}
        new = f"what is new of {len(self._planned) - len(left)} of {_many(len(self._planned), 'source')} is there"
        whole = len(self._planned) - len(left | past)
        ahead = f"about {span(self.seconds)} left" if self._left else "all of them asked"
        if count := sum(self._waiting.values()):
            ahead += f", {_many(count, 'request')} {'waits' if count == 1 else 'wait'} for an answer"
        return f"{new}, the whole of {whole}, {ahead}"

    def ask(
        self,
        world: Workplace,
        source: Source,
        say: Say,
        track: Track,
        between: Callable[[], None],
        portion: Portion,
    ) -> RunOutcome:
        """Ask a source as a worker does, and tell what that was of the whole."""
        outcome = ask(world, source, say, track, between, portion)
        ended = "past" if portion is Portion.PAST else "newest"
        self._left.pop((source.id, ended), None)
        brought = f"{source.id}: {_PORTIONS[ended]}"
        self._waiting.pop((source.id, ended), None)
        if portion is Portion.OWED:  # of either kind, and all that was left of both
            self._waiting.pop((source.id, "past"), None)
        if count := len(outcome.failed) + len(outcome.later):
            self._waiting[source.id, ended] = count
            brought = f"{source.id}: {_many(count, 'request')} without an answer yet"
        self._tell(f"{brought}; {self.words}")
        return outcome


def _due(one: SourcePlan, portion: str) -> int:
    return sum(request.next is None and request.portion == portion for request in one.requests)


def _seconds(one: SourcePlan, portion: str) -> float:
    return one.at_once.seconds * _due(one, portion) / one.now if one.now else 0.0


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
