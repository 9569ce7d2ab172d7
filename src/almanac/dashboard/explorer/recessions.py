"""Recessions behind the lines of a country's chart, where a source that may be shown dates them; as known on the chart's day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import msgspec

from almanac.dashboard.drawing.lines import Band
from almanac.dashboard.explorer.happenings import EventSubject
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day_of
from almanac.dashboard.words.periods import period
from almanac.dashboard.words.values import masked
from almanac.reports.wording import country, listed

Row = Mapping[str, Any]

#: The indicator that is 1 in months of a recession, and as many of its rows as one request gives.
INDICATOR, _ROWS = "recession_indicator", 500
#: So many are named by their months, of more their number is told.
_NAMED = 3


class Recessions(msgspec.Struct, frozen=True):
    """Bands of a chart, the oldest first, and the sentence that says what they are and whose; both empty where there is nothing."""

    bands: tuple[Band, ...] = ()
    words: str = ""


def recessions(visit: Visit, subjects: Iterable[EventSubject], first: date, as_of: str | None) -> Recessions:
    """
    Those since a day of the one country that all lines are of; none for lines of several places, or of a company.

    Months that a plan does not reach, or whose values may not be shown, are not among them.
    """
    of = {subject.entity: subject for subject in subjects}
    if len(of) != 1:
        return Recessions()
    (subject,) = of.values()
    if subject.company or subject.indicator == INDICATOR:
        return Recessions()
    told = visit.follow(
        "/observations",
        indicator=INDICATOR,
        entity_id=subject.entity,
        period_start=first.replace(day=1).isoformat(),
        as_of=as_of,
        order="desc",
        limit=_ROWS,
    )
    months = [row for row in told.data[::-1] if not masked(row) and row["valueNumeric"] == 1]
    if not months:
        return Recessions()
    visit.told.append(told)
    groups: list[list[Row]] = []
    for row in months:
        before = groups[-1][-1] if groups else None
        if before is not None and (day_of(row["periodStart"]) - day_of(before["periodEnd"])).days == 1:
            groups[-1].append(row)
        else:
            groups.append([row])
    bands = tuple(
        Band(day_of(some[0]["periodStart"]).toordinal(), day_of(some[-1]["periodEnd"]).toordinal()) for some in groups
    )
    return Recessions(bands, _words(groups, subject))


def _words(groups: list[list[Row]], subject: EventSubject) -> str:
    """`Shaded: the recession of the United States, Mar 2020 to Oct 2020 (Source: …).`"""
    rights = groups[-1][-1]["rights"]
    whose = f" ({rights['attribution']})" if rights["attribution"] else ""
    if len(groups) > _NAMED:
        since = day_of(groups[0][0]["periodStart"]).year
        return f"Shaded: {len(groups)} recessions of {country(subject.place)} since {since}{whose}."
    spans = [_month(some[0]) if len(some) == 1 else f"{_month(some[0])} to {_month(some[-1])}" for some in groups]
    noun = "the recession" if len(groups) == 1 else "recessions"
    return f"Shaded: {noun} of {country(subject.place)}, {listed(spans)}{whose}."


def _month(row: Row) -> str:
    return period(row["periodStart"], row["periodEnd"], row["frequency"])
