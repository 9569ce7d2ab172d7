"""What should be derived, computed from the inputs as known at one moment and from nothing else: plain dates and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from statistics import median
from typing import Any, NamedTuple

from almanac.domain.periods import Frequency, Period
from tests.support.small_world import ALPHA, BETA, GAMMA, MIXED

#: Our own mixed values first; then as declared, but for gamma: nobody has consented to its values being sent.
ORDER = (MIXED, ALPHA, BETA, GAMMA)


class Stated(NamedTuple):
    """What is said of a value beside it."""

    final: bool
    flags: frozenset[str] = frozenset()
    basis: str | None = None

    @staticmethod
    def of(found: list[Stated]) -> Stated:
        """What is said of a value computed from these."""
        return Stated(all(one.final for one in found), frozenset().union(*(one.flags for one in found)))


#: period key → (value, what is said of it)
Cells = dict[int, tuple[Any, Stated]]
#: (indicator, country) → source → cells
Inputs = dict[tuple[str, str], dict[str, Cells]]


def months_before(key: int, months: int) -> int:
    """The month that many months before a month."""
    end = Period.from_key(key).end
    index = end.year * 12 + end.month - 1 - months
    return Period.parse(f"{index // 12:04}-{index % 12 + 1:02}").key


def day_key(day: date) -> int:
    return Period(day, day).key


def year_before(key: int) -> list[int]:
    """The same day a year earlier (the month's last where it has none), then the seven days before that."""
    day = Period.from_key(key).end
    same = day.replace(year=day.year - 1) if (day.month, day.day) != (2, 29) else date(day.year - 1, 2, 28)
    return [day_key(same - timedelta(days=back)) for back in range(8)]


def growth(now: float, base: float, power: int = 1) -> float | None:
    if base == 0:
        return None
    ratio = 1.0
    for _ in range(power):
        ratio *= now / base
    return 100 * (ratio - 1)


def sahm(cells: Cells, key: int) -> float | None:
    def mean(lag: int) -> float | None:
        found = [cells[k][0] for k in (months_before(key, lag + step) for step in range(3)) if k in cells]
        return sum(found) / len(found) if len(found) >= 2 else None

    before = [m for m in map(mean, range(1, 13)) if m is not None]
    now = mean(0)
    return None if key not in cells or now is None or len(before) < 10 else now - min(before)


def month_end_value(cells: Cells, key: int) -> tuple[float, list[int]] | None:
    """The last daily value inside a month that is over: a value for its last day, or one of the ten days after it, is there."""
    period = Period.from_key(key)
    start, end = period.start or period.end, period.end
    inside = [k for k in sorted(cells) if start <= Period.from_key(k).end <= end]
    after = [k for k in sorted(cells) if end <= Period.from_key(k).end <= end + timedelta(days=10)]
    if not inside or not after:
        return None
    return cells[inside[-1]][0], [inside[-1], after[0]]


Pick = Callable[[Cells, int], tuple[list[float], list[int]] | None]


def at_lags(*lags: int) -> Pick:
    """Values some months apart, all of them there."""

    def pick(cells: Cells, key: int) -> tuple[list[float], list[int]] | None:
        keys = [months_before(key, lag) for lag in lags]
        return ([cells[k][0] for k in keys], keys) if all(k in cells for k in keys) else None

    return pick


def same_period(cells: Cells, key: int) -> tuple[list[float], list[int]] | None:
    return ([cells[key][0]], [key]) if key in cells else None


def and_a_year_ago(cells: Cells, key: int) -> tuple[list[float], list[int]] | None:
    base = next((k for k in year_before(key) if k in cells), None)
    return ([cells[key][0], cells[base][0]], [key, base]) if key in cells and base is not None else None


def sahm_months(cells: Cells, key: int) -> tuple[list[float], list[int]] | None:
    value = sahm(cells, key)
    return None if value is None else ([value], [k for k in (months_before(key, m) for m in range(15)) if k in cells])


def within_month(cells: Cells, key: int) -> tuple[list[float], list[int]] | None:
    found = month_end_value(cells, key)
    return None if found is None else ([found[0]], found[1])


def last_move(cells: Cells, key: int) -> tuple[list[Any], list[int]] | None:
    """Moves of at least 1 from one value to the next, in the twelve months to a day; the first may be from the week before."""
    if key not in cells:
        return None
    week = year_before(key)
    inside = sorted(k for k in cells if week[0] < k <= key)
    before = [k for k in week if k in cells][:1]
    run = [*before, *inside]
    for place in range(len(run) - 1, 0, -1):
        moved = cells[run[place]][0] - cells[run[place - 1]][0]
        if abs(moved) >= 1:
            return ["hiking" if moved > 0 else "cutting"], run[place - 1 :]
    return (["on_hold"], run) if before else None


#: slug → (inputs with how each is looked up, arithmetic, one source only); the period comes from the first input named.
FORMULAS: dict[str, tuple[list[tuple[str, Pick]], Callable[..., float | None], bool]] = {
    "level_yoy": ([("level", at_lags(0, 12))], growth, False),
    "level_mom": ([("level", at_lags(0, 1))], lambda now, base: growth(now, base, 12), False),
    "jobless_change": ([("jobless", at_lags(0, 1))], lambda now, base: now - base, False),
    "sahm": ([("jobless", sahm_months)], lambda value: value, False),
    "misery": ([("jobless", same_period), ("level_yoy", same_period)], lambda a, b: a + b, False),
    "real_rate": (
        [("level_yoy", same_period), ("policy", within_month)],
        lambda inflation, rate: rate - inflation,
        False,
    ),
    "slope": ([("yield_10y", same_period), ("yield_2y", same_period)], lambda a, b: a - b, True),
    "butterfly": (
        [("yield_5y", same_period), ("yield_2y", same_period), ("yield_10y", same_period)],
        lambda b, a, c: 2 * b - a - c,
        True,
    ),
    "spread": ([("yield_10y", same_period), ("country_aaa:yield_10y", same_period)], lambda a, b: a - b, False),
    "yield_change": ([("yield_10y", and_a_year_ago)], lambda now, base: now - base, False),
    "cycle": ([("policy", last_move)], lambda word: word, False),
}


def gap(values: list[float], place: int) -> float | None:
    others = values[:place] + values[place + 1 :]
    return values[place] - sum(others) / len(others)


def score(values: list[float], place: int) -> float | None:
    middle = median(values)
    deviation = 1.4826 * median(abs(value - middle) for value in values)
    return round((values[place] - middle) / deviation, 2) if deviation else None


#: slug → (input, years back at which a value must be there too, arithmetic); at least two countries. Gamma's channel is
#: restricted, so its values are compared with nobody's.
SECTIONS: dict[str, tuple[str, int, Callable[[list[float], int], float | None]]] = {
    "level_gap": ("level", 0, gap),
    "level_score": ("level", 1, score),
}


def sections(known: Inputs, exists: set[tuple[str, str, str]]) -> dict[tuple[str, str, str], Cells]:
    made: dict[tuple[str, str, str], Cells] = {}
    for slug, (topic, years, arithmetic) in SECTIONS.items():
        offers = {
            country: [
                known.get((topic, country), {}).get(s, {}) for s in (ALPHA, BETA) if (topic, country, s) in exists
            ]
            for country in ("country_aaa", "country_bbb")
        }
        for key in {key for cells in offers.values() for one in cells for key in one}:
            keys = [key, *(months_before(key, 12 * year) for year in range(1, years + 1))]
            there: dict[str, list[tuple[Any, Stated]]] = {}
            for country, several in offers.items():
                found = next((cells for cells in several if all(k in cells for k in keys)), None)
                if found is not None:
                    there[country] = [found[k] for k in keys]
            if len(there) < 2:
                continue
            stated = Stated.of([one for cells in there.values() for _, one in cells])
            for place, country in enumerate(there):
                value = arithmetic([cells[0][0] for cells in there.values()], place)
                if value is not None:
                    made.setdefault((slug, country, MIXED), {})[key] = (value, stated)
    return made


def derived(inputs: Inputs, exists: set[tuple[str, str, str]]) -> dict[tuple[str, str, str], Cells]:
    """
    (slug, country, source) → cells, from inputs as known at a moment.

    `exists`: (indicator, country, source) of every series there is at all, whatever the moment.
    """
    known = {place: dict(found) for place, found in inputs.items()}
    made: dict[tuple[str, str, str], Cells] = {}
    for slug, (lookups, arithmetic, one_source) in FORMULAS.items():
        for country in ("country_aaa", "country_bbb"):
            if slug == "spread" and country == "country_aaa":
                continue
            topics = [_topic(name, country) for name, _ in lookups]
            offers = [[s for s in ORDER if (*topic, s) in exists] for topic in topics]
            whole = [source for source in offers[0] if all(source in offer for offer in offers)]
            choices = {source: [[source]] * len(lookups) for source in whole}
            if all(offers) and not one_source and len({offer[0] for offer in offers}) > 1:
                choices[MIXED] = offers
            for source, candidates in choices.items():
                cells = _series(known, topics, [pick for _, pick in lookups], candidates, arithmetic)
                made[slug, country, source] = cells
                known.setdefault((slug, country), {})[source] = cells
    return made | sections(known, exists)


def _topic(name: str, country: str) -> tuple[str, str]:
    entity, _, slug = name.rpartition(":")
    return slug, entity or country


def _series(
    known: Inputs, topics: list[tuple[str, str]], picks: list[Pick], candidates: list[list[str]],
    arithmetic: Callable[..., float | None],
) -> Cells:  # fmt: skip
    firsts: Iterable[Cells] = (known.get(topics[0], {}).get(source, {}) for source in candidates[0])
    cells: Cells = {}
    for key in {key for found in firsts for key in found}:
        values: list[float] = []
        said: list[Stated] = []
        two_bases = False
        for topic, pick, sources in zip(topics, picks, candidates, strict=True):
            for source in sources:
                own = known.get(topic, {}).get(source, {})
                found = pick(own, key)
                if found is not None:
                    values += found[0]
                    of_input = [own[k][1] for k in found[1]]
                    said += of_input
                    two_bases |= len({one.basis for one in of_input}) > 1
                    break
            else:
                break
        else:
            value = None if two_bases else arithmetic(*values)
            if value is not None:
                cells[key] = (value, Stated.of(said))
    return cells


def letter(slug: str) -> str:
    return (
        Frequency.DAILY if slug in {"slope", "butterfly", "spread", "yield_change", "cycle"} else Frequency.MONTHLY
    ).value
