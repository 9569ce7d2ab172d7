"""Small charts of a company, its peers behind: what it sells, what is left of that, and what it owes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from statistics import median
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from almanac.dashboard.drawing.multiples import among
from almanac.dashboard.explorer.histories import histories
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.points import ChartPoint, drawn
from almanac.dashboard.words.transforms import INDEX, common_base, transformed
from almanac.dashboard.words.units import unit_of
from almanac.dashboard.words.values import Look, look, masked
from almanac.domain.periods import Frequency

Row = Mapping[str, Any]

#: Peers that are drawn: of more no line could be followed.
PEERS = 5


class _Measure(NamedTuple):
    """One chart: an indicator of twelve months or of a balance sheet, and whether it is drawn as an index: amounts do not compare."""

    slug: str
    title: str
    as_index: bool = False

    @property
    def id(self) -> str:
        return f"indicator_{self.slug}"


_MEASURES = (
    _Measure("revenue_ttm", "Revenue, 12 months", as_index=True),
    _Measure("net_margin", "Net margin"),
    _Measure("fcf_margin", "Free cash flow margin"),
    _Measure("debt_to_equity", "Debt to equity"),
)


class CompanyChart(msgspec.Struct, frozen=True):
    """One small chart with what it says in words."""

    title: str
    #: The comparison that has the same lines.
    href: str
    look: Look
    #: `to 30 Sep 2026`: of what the number is.
    period: str
    drawing: Markup
    #: `From 8.1% to 14.3% since 2014. Median of 5 peers: 9.0%.`
    words: str


def charts(visit: Visit, entity: str, peers: Sequence[str], as_of: str | None) -> list[CompanyChart]:
    """
    What is drawn of a company as known on a day (None: today): measures of which two or more values may be shown.

    `peers`: whom to draw behind it, `PEERS` at most.
    """
    # None of the page's own requests: each chart leads to a page that shows them.
    told = visit.follow(
        "/observations/latest",
        indicator_id=[measure.id for measure in _MEASURES],
        entity_id=[entity, *peers],
        as_of=as_of,
        limit=len(_MEASURES) * (1 + len(peers)),
    )
    newest = {(row["indicatorId"], row["entityId"]): row for row in told.data}
    mine = {measure: newest[measure.id, entity] for measure in _MEASURES if (measure.id, entity) in newest}
    wanted = [row for row in told.data if row["indicatorId"] in {measure.id for measure in mine}]
    read = histories(visit, wanted, derived={measure.id for measure in mine}, as_of=as_of, failed_too=False)
    lines = {series: _yearly(points) for series, points in read.items()}
    found = []
    for measure, row in mine.items():
        beside = [newest[measure.id, peer] for peer in peers if (measure.id, peer) in newest]
        chart = _chart(measure, row, beside, lines, [entity, *peers], as_of)
        if chart is not None:
            found.append(chart)
    return found


def _chart(
    measure: _Measure,
    row: Row,
    beside: Sequence[Row],
    lines: Mapping[str, list[ChartPoint]],
    entities: Sequence[str],
    as_of: str | None,
) -> CompanyChart | None:
    own = lines.get(row["metadata"]["seriesId"], [])
    others = [lines[series] for one in beside if (series := one["metadata"]["seriesId"]) in lines]
    shown = drawn(own)
    if len(shown) < 2:
        return None
    unit = unit_of(row)
    digits = unit.digits([], computed=True)
    values = [point.value or 0.0 for point in shown]
    since = date.fromordinal(shown[0].end).year
    words = f"From {unit.sentence(min(values), digits)} to {unit.sentence(max(values), digits)} since {since}."
    if measure.as_index:
        own, others = _indexed(own, others)
    else:
        now = [one["valueNumeric"] for one in beside if _counts(one)]
        if len(now) > 2:
            words += f" Median of {len(now)} peers: {unit.sentence(median(now), digits)}."
    then = f"&as_of={as_of}" if as_of else ""
    show = f"&show={INDEX}" if measure.as_index and others else ""
    return CompanyChart(
        measure.title,
        f"/compare?indicator={measure.slug}&entities={','.join(entities)}{show}{then}",
        _look(row, digits),
        f"to {day(row['periodEnd'])}",
        among(own, others),
        words,
    )


def _counts(row: Row) -> bool:
    """Whether a peer is told of in numbers: not if it is behind, if its statements fail a check, or the value was taken back."""
    behind = row["freshnessStatus"] == "stale" or row["metadata"].get("quality") == "failed"
    return not behind and not masked(row) and row["valueNumeric"] is not None


def _yearly(points: Sequence[ChartPoint]) -> list[ChartPoint]:
    """Points that are joined as long as one follows within a year: figures of twelve months leave no day out then."""
    return [point._replace(frequency=Frequency.ANNUAL) for point in points]


def _look(row: Row, digits: int) -> Look:
    """The newest value; one that rests on a statement which fails a grave check is not shown, as nowhere on the page."""
    if row["metadata"].get("quality") == "failed" and not masked(row):
        return Look("none", "A check failed", "left out, a check of a statement behind it does not hold")
    return look(row, digits=digits, history=True, figure=True)


def _indexed(
    own: list[ChartPoint], others: Sequence[list[ChartPoint]]
) -> tuple[list[ChartPoint], list[list[ChartPoint]]]:
    """Lines as indices that are 100 on one day; those that are not above zero there are left out, the own then as it is."""
    base = common_base([drawn(line) for line in (own, *others)])
    if base is None:
        return own, []
    made = [transformed(INDEX, line, unit_of({}), 1, base=base).points for line in (own, *others)]
    if not drawn(made[0]):
        return own, []
    return made[0], [line for line in made[1:] if drawn(line)]
