"""
Responses that would withdraw much of what is served. They are stored, and held back until somebody confirms them.

If a publisher sends half a file, it is more often a fault than a true withdrawal. Whether a response is held back
depends on the responses before it in folding order and on recorded acceptances. The raw store knows both, so the result
is the same for every order of arrival and after a rebuild.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from almanac.domain.periods import EVERY_KEY
from almanac.store.log.payloads import HELD, PayloadRow
from almanac.store.observations.writing.vintages import SeriesClaim, SeriesHandle
from almanac.store.raw.captures import RawStore

#: A response is held back if it would withdraw more values than LEAST, and more than one in ONE_IN of those served in
#: its range.
LEAST, ONE_IN = 50, 10


def why_held(
    raw: RawStore,
    row: PayloadRow,
    claims: Iterable[SeriesClaim],
    served: Callable[[SeriesHandle, tuple[int, int]], Collection[int]],
) -> str | None:
    """
    Return, for people, why a response with these claims is held back, or None if it isn't.

    `served` returns the periods of the values that a series serves in a span. A window is compared with the values
    served in it: an emptied year in a history of thirty is a large part of that year.
    """
    before: dict[int, set[int]] = {}
    whole: dict[int, Collection[int]] = {}
    withdrawn: dict[int, set[int]] = {}
    for series, statements, complete, _ in claims:
        # Each stated cell with its last statement; a value known only since its capture counts after all known before.
        last = {
            line.period: line for line in sorted(statements, key=lambda line: (line.known is None, line.known or 0))
        }
        stated = {period: line.value is not None or line.text is not None for period, line in last.items()}
        empty = [period for period, has_value in stated.items() if not has_value]
        spans = [complete] if complete else []
        spans += [(min(empty), max(empty))] if empty else []
        if not spans:
            continue
        served_periods = served(series, (min(first for first, _ in spans), max(last for _, last in spans)))
        if complete is None:
            whole[series.number] = served(series, EVERY_KEY)
        else:
            before.setdefault(series.number, set()).update(served_periods)
        withdrawn.setdefault(series.number, set()).update(
            period
            for period in served_periods
            if not stated.get(period, complete is None or not complete[0] <= period <= complete[1])
        )
    gone, there = sum(map(len, withdrawn.values())), sum(map(len, (before | whole).values()))
    if gone <= LEAST or gone * ONE_IN <= there or raw.is_accepted(row.source, row.sha256):
        return None
    return (
        f"{HELD}would withdraw {gone} of the {there} values that its series serve in the time it lists;"
        f" if that is right: almanac ingest --accept {row.sha256}"
    )
