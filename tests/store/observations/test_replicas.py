"""Which of several databases a read goes to."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from almanac.store.engine.errors import UnavailableError
from almanac.store.observations.reading.reader import Reader
from almanac.store.observations.reading.replicas import Replicas


class State:
    def __init__(self, of: Database) -> None:
        self.version, self.of = of.version, of.name


class Database:
    """One that has got to a version, or is away."""

    def __init__(self, name: str, version: int) -> None:
        self.name, self.version, self.away, self.asked, self.open = name, version, False, 0, 0

    def view(self) -> Database:
        return self

    def __enter__(self) -> State:
        self.asked += 1
        if self.away:
            raise UnavailableError(f"{self.name} is away")
        self.open += 1
        return State(self)

    def __exit__(self, *_: object) -> None:
        self.open -= 1

    def close(self) -> None:
        assert self.open == 0

    def end(self, error: BaseException | None) -> None:
        self.open -= 1
        if error is not None:
            raise error


class Set:
    """A primary and two replicas, and a clock."""

    def __init__(self, primary: int, first: int, second: int) -> None:
        self.now = 0.0
        self.primary, self.first, self.second = (
            Database(name, version) for name, version in (("primary", primary), ("first", first), ("second", second))
        )
        held = cast("Any", (self.primary, self.first, self.second))
        self.told: list[tuple[str, str | None]] = []
        self.replicas = Replicas(
            cast("Reader", held[0]), held[1:], monotonic=lambda: self.now, tell=self.tell, watched=False
        )

    def tell(self, name: str, reason: str | None) -> None:
        self.told.append((name, reason))

    def read(self, least: int | None = None) -> str:
        with self.replicas.view(least) as view:
            found = cast("Any", view)
            assert sum(one.open for one in (self.primary, self.first, self.second)) == 1
        assert sum(one.open for one in (self.primary, self.first, self.second)) == 0
        return str(found.of)


def test_replicas_take_turns_and_the_primary_is_not_asked() -> None:
    every = Set(5, 5, 5)
    assert sorted(every.read(5) for _ in range(4)) == ["first", "first", "second", "second"]
    assert every.primary.asked == 0


def test_who_has_seen_more_is_answered_by_whoever_has_got_as_far() -> None:
    every = Set(7, 5, 6)
    assert {every.read(6) for _ in range(4)} == {"second"}
    assert every.read(7) == "primary"
    # Left out for a moment, for those too whom they would do for.
    assert every.read(0) == "primary"
    every.now += 0.2
    assert every.read(0) in {"first", "second"}
    # The primary has the last word: a client may have seen what was restored away since.
    every.now += 0.2
    assert every.read(9) == "primary"


def test_whoever_does_not_say_what_they_saw_is_given_nothing_older_than_anybody_was() -> None:
    every = Set(7, 5, 5)
    assert every.read() in {"first", "second"}
    assert every.read(7) == "primary"
    every.now += 0.2
    assert every.read() == "primary"


def test_one_that_is_away_is_left_out_until_it_was_reached_again() -> None:
    every = Set(5, 5, 5)
    every.first.away = True
    assert {every.read(5) for _ in range(6)} == {"second"}
    assert every.first.asked == 1
    # However long that takes, no request is made to wait for it: whoever watches tries it.
    every.now += 3_600
    assert {every.read(5) for _ in range(6)} == {"second"}
    assert every.first.asked == 1
    assert every.replicas.try_again()
    assert every.told == [("first", "first is away")]
    every.first.away = False
    assert not every.replicas.try_again()
    assert every.told == [("first", "first is away"), ("first", None)]
    assert {every.read(5) for _ in range(4)} == {"first", "second"}


def test_without_the_primary_reads_go_on_and_one_behind_is_asked_again() -> None:
    every = Set(6, 5, 5)
    assert every.read(6) == "primary"
    every.primary.away = True
    every.first.version = 6
    assert every.read(6) == "first"
    with pytest.raises(UnavailableError, match="reached data version 7 can be read"):
        every.read(7)
    every.first.away = every.second.away = True
    with pytest.raises(UnavailableError, match=r"(first|second) is away"):
        every.read(0)
    # While all of them are left out nobody is asked again.
    asked = every.first.asked + every.second.asked + every.primary.asked
    with pytest.raises(UnavailableError, match="neither the primary nor a replica"):
        every.read(0)
    assert every.first.asked + every.second.asked + every.primary.asked == asked


def test_a_thread_tries_those_that_are_left_out() -> None:
    every = Set(5, 5, 5)
    replicas = Replicas(
        cast("Reader", every.primary), cast("Any", (every.first, every.second)), tell=every.tell, watched=True
    )
    every.first.away = True
    for _ in range(4):
        with replicas.view(0):
            pass
    every.first.away = False
    until = time.monotonic() + 30
    while ("first", None) not in every.told:
        assert time.monotonic() < until, "nobody tries it"
        time.sleep(0.02)


def test_one_lost_while_it_is_read_is_left_out() -> None:
    every = Set(5, 5, 5)
    with pytest.raises(UnavailableError, match="lost"), every.replicas.view(0) as view:
        lost = str(cast("Any", view).of)
        raise UnavailableError("lost")
    assert {every.read(5) for _ in range(4)} == {"first", "second"} - {lost}
