"""almanac_revisions: every published state of a period, or the difference between first and newest states of a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from statistics import fmean

from almanac_mcp import names
from almanac_mcp.asking import Api, Page, Record
from almanac_mcp.bounds import of_entity
from almanac_mcp.notes import history, warnings
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

STATES = ("observed", "value", "change", "status")
SUMMARY = ("period", "first", "first_observed", "newest", "newest_observed", "revision", "states")
#: Units whose revisions are differences. For all others they are percentages of the first value.
_RATES = frozenset({"percent", "percentage_points", "ratio"})
_PERIODS = 24


async def revisions(
    api: Api, indicator: str, place: str, period: str | None = None, as_of: str | None = None
) -> Answer:
    """Answer with the states of a period, or with a row for each of the newest periods and statistics over them."""
    api = api.saying(indicator_id="indicator", entity_id="place", period_start="period", period_end="period")
    record = await names.indicator(api, indicator)
    entity = await names.entity(api, place)
    period = None if period is None else await _meant(api, entity, period, as_of)

    async def states(frequency: str | None) -> Page:
        return await api.page(
            "observations.vintages",
            indicator_id=record["slug"],
            entity_id=entity["entityId"],
            frequency=frequency,
            **_within(period),
            as_of=as_of,
            order="asc" if period else "desc",
            limit=500,
        )

    known = {} if period else await names.frequencies(api, record, [entity["entityId"]], as_of)
    page = await names.finest(states, known.get(entity["entityId"], []))
    title = f"{record['name']}, {record['slug']}: {entity['name']} ({entity['entityId']})"
    answer = Answer([words.known(as_of, page.version), title], hint=_hint)
    cells = _cells(page)
    if not cells:
        answer.notes.append("no published states are known of this" + (f" in {period}" if period else ""))
    elif period is not None:
        exact = [cell for cell in cells if period in {words.period(cell[-1]), _days(cell[-1])}]
        answer.tables += [_states(answer, cell) for cell in exact or cells]
    else:
        answer.tables.append(_summary(answer, cells[-_PERIODS:]))
    answer.notes += history([page]) + warnings([page])
    return answer


async def _meant(api: Api, entity: Record, period: str, as_of: str | None) -> str:
    """Return a period as the interface takes it. A company's fiscal period becomes its first and last day."""
    if words.fiscal(period) is None:
        return words.spelled(period)
    span, _ = await of_entity(api, entity, period, period, as_of)
    return f"{span['start']}/{span['end']}"


def _within(period: str | None) -> Mapping[str, str]:
    if period is None:
        return {}
    first, slash, last = period.partition("/")
    return {"period_start": first, "period_end": last} if slash else {"period": period}


def _days(row: Record) -> str:
    return f"{words.day(row['periodStart'] or row['periodEnd'])}/{words.day(row['periodEnd'])}"


def _cells(page: Page) -> list[list[Record]]:
    """Return the states of each cell, oldest first. A cell that the end of the page cuts off is left out."""
    cells: dict[tuple[str, str, str], list[Record]] = {}
    for row in page.rows:
        cells.setdefault((rows.series_id(row), row["periodEnd"], row["periodStart"] or ""), []).append(row)
    if page.more and len(cells) > 1:
        cells.popitem()
    ordered = sorted(cells.items(), key=lambda item: (item[0][1], item[0][2], item[0][0]))
    return [sorted(states, key=lambda row: (row["observedAt"], row["ingestedAt"])) for _, states in ordered]


def _states(answer: Answer, cell: list[Record]) -> Table:
    newest = cell[-1]
    numbers = sorted({answer.citations.row(row, refer=row is newest) for row in cell})
    cited = "".join(f"[{number}]" for number in numbers)
    title = f"{rows.period(newest)}, {newest['frequency']}, {rows.unit(newest)} {cited}"
    before = [None, *cell[:-1]]
    lines = [
        (words.instant(row["observedAt"]), rows.value(row), _difference(former, row), rows.status(row))
        for former, row in zip(before, cell, strict=True)
    ]
    return Table(title, STATES, list(lines), rows.reasons(cell))


def _difference(former: Record | None, row: Record) -> str:
    if former is None or former.get("valueNumeric") is None or row.get("valueNumeric") is None:
        return ""
    if former["valueNumeric"] == row["valueNumeric"] and rows.quality(former) != rows.quality(row):
        return f"none; checks: {rows.quality(former)} before"
    return words.number(float(Decimal(repr(row["valueNumeric"])) - Decimal(repr(former["valueNumeric"]))))


def _summary(answer: Answer, cells: list[list[Record]]) -> Table:
    newest = cells[-1][-1]
    most = Counter(rows.series_id(cell[-1]) for cell in cells).most_common(1)[0][0]
    own = [cell for cell in cells if rows.series_id(cell[-1]) == most]
    rate = newest["unit"] in _RATES
    number = answer.citations.row(newest)
    table = Table(
        f"series {most}, {rows.unit(newest)}, {newest['frequency']} [{number}]\n"
        f"revision is newest less first, {'in ' + rows.unit(newest) if rate else 'in percent of first'}",
        SUMMARY,
        [_change(cell, rate=rate) for cell in own],
    )
    table.notes += rows.reasons(row for cell in own for row in (cell[0], cell[-1]))
    table.notes += _statistics(own, rate=rate)
    if len(own) < len(cells):
        table.notes.append(f"{words.counted(len(cells) - len(own), 'period')} of other series not shown")
    return table


def _change(cell: list[Record], *, rate: bool) -> Sequence[object]:
    first, last = cell[0], cell[-1]
    revision = _revision(cell, rate=rate)
    return (
        rows.period(last),
        rows.value(first) + ("" if first["revisionStatus"] == "initial" else "*"),
        words.day(first["observedAt"]),
        rows.value(last),
        words.day(last["observedAt"]),
        "" if revision is None else words.number(revision),
        len(cell),
    )


def _revision(cell: list[Record], *, rate: bool) -> float | None:
    """Return the newest value less the first, or None unless both are numbers and the first is a first publication."""
    first, last = cell[0].get("valueNumeric"), cell[-1].get("valueNumeric")
    if first is None or last is None or cell[0]["revisionStatus"] != "initial" or (not rate and first == 0):
        return None
    exact = Decimal(repr(last)) - Decimal(repr(first))
    return float(exact) if rate else float(f"{100 * float(exact) / first:.6g}")


def _statistics(cells: list[list[Record]], *, rate: bool) -> list[str]:
    found = [one for cell in cells if (one := _revision(cell, rate=rate)) is not None]
    lines = []
    if found:
        lines.append(
            f"over {words.counted(len(found), 'period')}: mean revision {fmean(found):.6g}, "
            f"mean absolute revision {fmean(map(abs, found)):.6g}, up {sum(one > 0 for one in found)}, "
            f"down {sum(one < 0 for one in found)}, none {sum(one == 0 for one in found)}"
        )
    if len(found) < len(cells):
        lines.append(
            f"{words.counted(len(cells) - len(found), 'period')} not counted: withheld, withdrawn, or (*) the first "
            "state kept is not known to be the first publication"
        )
    return lines


def _hint(gone: list[Sequence[object]]) -> str:
    return "ask with period=… for the states of one period"
