"""
Registrants that go on as another one: a new holding company takes the place, and the ticker, of the company it now owns.

The regulator gives the new registrant a number of its own and a history of one report; all before lies with the old one.
That the one continues the other is told by what they filed: the ticker went from the one to the other, the new one's first
periodic report comes within a year of an old one's, and it states the old one's numbers as its own, either outright (a
comparative) or in its arithmetic (a year to date less its last part). A ticker that is merely used again brings none of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from almanac.domain.companies import PERIODIC_FORMS
from almanac.domain.numbers import exact_sum
from almanac.domain.periods import days_of
from almanac.domain.times import DAY_SECONDS
from almanac.domain.units import is_amount
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered

#: Days between a report of the old registrant and the first one of the new, at most.
_NEAR = 400
#: Lines that both state alike, at least.
_LINES = 2
#: What is smaller is alike by chance.
_SMALL = 1_000.0


class Succession(NamedTuple):
    """Two registrants of one enterprise. `since`: when the report that shows it could be read, unix seconds."""

    predecessor: str
    successor: str
    since: int


class StatedAmount(NamedTuple):
    """An amount of money that a company stated of a line for a period, and when that was first known."""

    line: str
    start: int | None
    end: int
    value: float
    known: int


def known_successions(view: View, at: int) -> list[Succession]:
    """Those that could be told at a moment (unix seconds)."""
    return [one for one in _SUCCESSIONS.of(view) if one.since <= at]


def successions(db: Queryable) -> list[Succession]:
    """All there are, by what is stored now."""
    pairs = db.execute(_IN_TURN).fetchall()
    shown = [(old, new, shown_since(_amounts(db, old), _amounts(db, new))) for old, new in pairs]
    return [Succession(old, new, since) for old, new, since in shown if since is not None]


_SUCCESSIONS: Remembered[list[Succession]] = Remembered("successions", successions)


def shown_since(before: Iterable[StatedAmount], after: Iterable[StatedAmount]) -> int | None:
    """From when on the amounts of `after` show that it continues the accounts of `before`, unix seconds; None: they do not."""
    held = {(one.line, one.start, one.end): one for one in before if abs(one.value) >= _SMALL}
    alike: dict[str, int] = {}
    for one in sorted(_with_remainders(after), key=lambda one: one.known):
        other = held.get((one.line, one.start, one.end))
        if other is not None and other.value == one.value and other.known < one.known:
            alike.setdefault(one.line, one.known)
    moments = sorted(alike.values())
    return moments[_LINES - 1] if len(moments) >= _LINES else None


def _with_remainders(stated: Iterable[StatedAmount]) -> Iterator[StatedAmount]:
    """Amounts as stated, and what a longer period leaves of its beginning where its last part is stated too."""
    flows: Mapping[tuple[str, int], list[StatedAmount]] = defaultdict(list)
    for one in stated:
        yield one
        if one.start is not None:
            flows[one.line, one.end].append(one)
    for ending in flows.values():
        for whole in ending:
            for part in ending:
                assert whole.start is not None
                assert part.start is not None
                if whole.start < part.start:
                    rest = exact_sum(whole.value, -part.value)
                    known = max(whole.known, part.known)
                    yield StatedAmount(whole.line, whole.start, part.start - 1, rest, known)


def _amounts(db: Queryable, entity: str) -> list[StatedAmount]:
    return [
        StatedAmount(line, *days_of(period), value, known)
        for line, unit, period, value, known in db.execute(_AMOUNTS, (entity,))
        if is_amount(unit)
    ]


_FORMS = ", ".join(f"'{form}', '{form}/A'" for form in sorted(PERIODIC_FORMS))
#: When the first report of the successor could be read.
_FIRST = f"(SELECT min(f.known_at) FROM filing f WHERE f.entity = n.entity AND f.form IN ({_FORMS}))"
#: A ticker went from the one to the other, and the first report of that one comes soon after one of the former.
_IN_TURN = (
    "SELECT DISTINCT o.entity, n.entity FROM alias o JOIN alias n ON n.norm = o.norm AND n.scheme = 'ticker'"
    " AND n.entity <> o.entity AND (n.valid_to IS NULL OR n.valid_to > o.valid_to)"
    " WHERE o.scheme = 'ticker' AND o.valid_to IS NOT NULL AND EXISTS"
    f" (SELECT 1 FROM filing f WHERE f.entity = o.entity AND f.form IN ({_FORMS})"
    f" AND f.known_at >= {_FIRST} - {_NEAR * DAY_SECONDS} AND f.known_at < {_FIRST}) ORDER BY o.entity, n.entity"
)
_AMOUNTS = (
    "SELECT t.indicator, p.unit, v.period, v.value, min(v.known_at) FROM topic t CROSS JOIN series s ON s.topic = t.topic"
    " CROSS JOIN spec p USING(spec) CROSS JOIN vintages v ON v.topic = t.topic AND v.series = s.series"
    f" WHERE t.entity = ? AND t.kind = 'raw' AND v.to_version = {OPEN} AND v.value IS NOT NULL"
    " GROUP BY t.indicator, p.unit, v.period, v.value"
)
