"""Companies: the list of those that have statements, with their scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.columns import among
from almanac.dashboard.explorer import statements
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import histories
from almanac.dashboard.explorer.places import domiciles, names
from almanac.dashboard.explorer.statements import KINDS, SCALES, before
from almanac.dashboard.explorer.watchlist import star
from almanac.dashboard.formatting.dates import day, day_of
from almanac.dashboard.formatting.numbers import fraction, in_words, unit, unit_of
from almanac.dashboard.formatting.transforms import INDEX, common_base, transformed
from almanac.dashboard.formatting.values import (
    ChartPoint,
    FormattedValue,
    look,
    look_field,
    look_reading,
    masked,
    with_values,
)
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Redirect, Visit
from almanac.domain.numbers import exact
from almanac.domain.periods import Frequency, add_months, freshness
from almanac.reports.scoring import MONTHS, PILLARS_MINIMUM, SECTOR_MINIMUM

_PAGE = 50
#: Rows from which on a page that was filled by several requests is full.
_ENOUGH = 25
#: What the list can be sorted by, as the interface names it; scores go from the highest down.
SORTS = {
    "name": "Name",
    "ticker": "Ticker",
    "score": "Score",
    "profitability": "Profitability",
    "growth": "Growth",
    "strength": "Strength",
    "efficiency": "Efficiency",
    "quality": "Quality",
    "piotroski_f": "Piotroski F",
    "altman_z2": "Altman Z″",
}
_RISING = {"name", "ticker"}
_EXPIRED = "This list is older than 7 days."
#: In the address of a page of those without the value that is sorted by.
_REST = "rest"


def listing(visit: Visit) -> Answer:
    """Companies; sector, industry, country and `q` narrow them as they do for programs."""
    asked = {name: visit.query.get(name) or None for name in ("sector", "industry", "country", "q")}
    sort = visit.query.get("sort", "name")
    sort = sort if sort in SORTS else "name"
    order = visit.query.get("order") or ("asc" if sort in _RISING else "desc")
    errors: list[dict[str, str]] = []
    expired = ""
    cursor = visit.query.get("cursor") or None
    try:
        listed = _page(visit, asked, sort, order, cursor)
    except ApiError as error:
        field = (error.details or {}).get("parameter", "") if isinstance(error.details, dict) else ""
        if error.status != 400:
            raise
        if field == "cursor":
            expired = _EXPIRED
        else:
            errors = [{"field": field if field in asked else "", "message": error.message}]
        # The page stays, with the whole list below what was refused.
        listed = _page(visit, asked if expired else {}, sort, "asc" if sort in _RISING else "desc", None)
    values: dict[str, Any] = {
        "rows": listed.rows,
        "countries": names(visit, {row["country"] for row in listed.rows if row["country"]}),
        "asked": asked,
        "sort": sort,
        "order": order,
        "sorts": SORTS,
        "places": domiciles(visit),
        "warnings": listed.warnings,
        "next": visit.here(**listed.next) if listed.next else "",
        "first": visit.here(cursor=None, rest=None) if cursor or visit.query.get(_REST) else "",
        "expired": expired,
        "errors": errors,
    }
    return Html("explorer/companies.html", values, 400 if errors or expired else 200)


class _Listed(NamedTuple):
    """Rows of one page, what the interface warns of, and what the address of the next page has; empty: there is none."""

    rows: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    next: dict[str, str | None]


def _page(visit: Visit, asked: dict[str, str | None], sort: str, order: str, cursor: str | None) -> _Listed:
    """
    One page: companies with a value to sort by, then those without one from A on, whichever way the values go. The
    interface turns the names of those too; so they are taken from the list by name.
    """
    if sort == "name" or not visit.query.get(_REST):
        told = visit.ask("/companies", **asked, sort=sort, order=order, limit=_PAGE, cursor=cursor)
        rows = told.data if sort == "name" else [row for row in told.data if _value(row, sort) is not None]
        warnings = told.meta.get("warnings", [])
        if len(rows) == len(told.data):
            return _Listed(rows, warnings, {"cursor": told.next_cursor} if told.next_cursor else {})
        cursor = None
    else:
        rows, warnings = [], []
    while True:
        told = visit.ask("/companies", **asked, sort="name", order="asc", limit=_PAGE, cursor=cursor)
        rows += [row for row in told.data if _value(row, sort) is None]
        cursor = told.next_cursor
        if cursor is None or len(rows) >= _ENOUGH:
            return _Listed(rows, warnings, {"cursor": cursor, _REST: "1"} if cursor else {})


def _value(row: dict[str, Any], sort: str) -> Any:
    """Return what a row is sorted by."""
    return {"piotroski_f": row["piotroskiF"], "altman_z2": row["altmanZ2"], **row, **row["scores"]}[sort]


_LIST = Page("/companies", listing)


def age(newest: str | None, held: Mapping[tuple[str, str], Mapping[str, Any]], today: date) -> dict[str, str] | None:
    """
    Return a chip on the age of the newest statement, by the rule that judges series: of a filer of quarters 200 days.

    `newest`: last day of its period; `held`: newest statements, whose frequencies tell what it files. None without any.
    """
    if newest is None:
        return None
    every = {Frequency(one["frequency"][0].upper()) for one in held.values()}
    allowance = min((one.allowance_days for one in every), default=Frequency.ANNUAL.allowance_days)
    end = day_of(newest)
    if freshness(end, today, allowance) == "fresh":
        return {"text": f"statements to {day(newest)}", "kind": "good"}
    return {"text": f"statements to {day(newest)}, stale", "kind": "warn"}


def unscored(record: Mapping[str, Any], today: date) -> str:
    """Return a sentence that says why a company has no score; empty if it has one."""
    if record["score"] is not None:
        return ""
    newest = record["lastPeriodEnd"]
    if newest is None:
        return "Not scored: no statement is known."
    if day_of(newest) < add_months(today, -MONTHS):
        return (
            f"Not scored: its newest statement ended on {day(newest)}, and a score is of statements of the last "
            f"{MONTHS} months."
        )
    pillars = [value for value in record["scores"].values() if value is not None]
    told = f"{len(pillars)} of {len(record['scores'])}" if pillars else "none"
    return (
        f"Not scored: a score needs {PILLARS_MINIMUM} of {len(record['scores'])} pillars, and of {told} a measure is known. "
        "A figure that fails a grave check is none."
    )


def compared(record: Mapping[str, Any]) -> str:
    """Among whom a score was taken, and how many they are, in a sentence; empty where there is none."""
    peers = record["scorePeers"]
    if peers is None:
        return ""
    every = f"all {peers['all']:,} companies with statements of the last {MONTHS} months"
    within, measures = peers["measuresWithinSector"], peers["measures"]
    own = f"the {peers['sector']:,} of them of {record['sector']}"
    if within == measures:
        return f"Each measure compares with the {peers['sector']:,} companies of {record['sector']} with statements of the last {MONTHS} months."
    if within == 0:
        return f"Each measure compares with {every}, for fewer than {SECTOR_MINIMUM} of one sector have it; {own[4:]}."
    return (
        f"{within} of {measures} measures compare with companies of {record['sector']} ({peers['sector']:,}), the others, which fewer "
        f"than {SECTOR_MINIMUM} of them have, with {every}."
    )


#: Titles of the scores that the interface explains, and the decimals that each is told with.
_TITLES = {
    "piotroskiF": ("Piotroski F", 0),
    "altmanZ2": ("Altman Z″", 2),
    "beneishM": ("Beneish M", 2),
    "accrualsRatio": ("Accruals ratio", 3),
}
_DIGITS = 3
_RATIO = unit("ratio")
_IN_WORDS = 10**6
_WHEN = {"ttm": "12 months", "1y_ago": "a year ago", "2y_ago": "two years ago", "3y_ago": "three years ago"}
_PARTS = re.compile(rf"_({'|'.join(_WHEN)})(?=_|$)")
#: What begins a further word of a score's name on the wire.
_CAPITAL = re.compile(r"[A-Z]")
_PILLARS = ("profitability", "growth", "strength", "efficiency", "quality")


def score_title(name: str) -> tuple[str, int]:
    """Return the title of a score that the interface explains, by its name on the wire, and its decimals."""
    return _TITLES.get(name) or (words(_CAPITAL.sub(lambda big: f"_{big[0].lower()}", name)), _DIGITS)


def words(key: str) -> str:
    """`net_income_ttm_1y_ago` in words: `Net income, 12 months, a year ago`."""
    parts = [_WHEN[part] for part in _PARTS.findall(key)]
    return ", ".join([_PARTS.sub("", key).replace("_", " ").capitalize(), *parts])


def number(value: float | None) -> FormattedValue:
    """Return an input: from a million on in words for its size, with the whole number beside it."""
    look = look_field(value, _RATIO)
    if value is None or abs(exact(value)) < _IN_WORDS:
        return look
    told = in_words(value, 2)
    return look._replace(text=told, spoken=told)


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
    look: FormattedValue
    #: `to 30 Sep 2026`: of what the number is.
    period: str
    drawing: Markup
    #: `From 8.1% to 14.3% since 2014. Median of 5 peers: 9.0%.`
    words: str


def charts(visit: Visit, entity: str, peers: Sequence[str], as_of: str | None) -> list[CompanyChart]:
    """
    Return what is drawn of a company as known on a day (None: today): measures of which two or more values may be shown.

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
    # Points are joined as long as one follows within a year: figures of twelve months leave no day out then.
    lines = {
        series: [point._replace(frequency=Frequency.ANNUAL) for point in points] for series, points in read.items()
    }
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
    shown = with_values(own)
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
    """Return whether a peer is told of in numbers: not if it is behind, if its statements fail a check, or the value was taken back."""
    behind = row["freshnessStatus"] == "stale" or row["metadata"].get("quality") == "failed"
    return not behind and not masked(row) and row["valueNumeric"] is not None


def _look(row: Row, digits: int) -> FormattedValue:
    """Return the newest value; one that rests on a statement which fails a grave check is not shown, as nowhere on the page."""
    if row["metadata"].get("quality") == "failed" and not masked(row):
        return FormattedValue("none", "A check failed", "left out, a check of a statement behind it does not hold")
    return look(row, digits=digits, history=True, figure=True)


def _indexed(
    own: list[ChartPoint], others: Sequence[list[ChartPoint]]
) -> tuple[list[ChartPoint], list[list[ChartPoint]]]:
    """Lines as indices that are 100 on one day; those that are not above zero there are left out, the own then as it is."""
    base = common_base([with_values(line) for line in (own, *others)])
    if base is None:
        return own, []
    made = [transformed(INDEX, line, unit_of({}), 1, base=base).points for line in (own, *others)]
    if not with_values(made[0]):
        return own, []
    return made[0], [line for line in made[1:] if with_values(line)]


#: What is drawn of a company: lines that one chart has, by what they are about.
CHARTS = {
    "Revenue and income": "revenue,net_income",
    "Margins": "gross_margin,operating_margin,net_margin",
    "Cash flow": "net_cash_flow_from_operations,free_cash_flow",
    "Debt and cash": "total_debt,cash_and_equivalents",
}
#: Periods of one table, and of the longer one.
PERIODS = ("8", "20")
FREQUENCIES = ("annual", "quarterly")


def company(visit: Visit) -> Answer:
    """Show the page of one company. Its statements follow `as_of`; the interface has the rest as of today only."""
    typed = visit.values["name"]
    slug = _slug(visit, typed)
    if slug is not None and slug != typed:
        return Redirect(visit.here().replace(visit.path, f"/companies/{quote(slug, safe='')}", 1), 301)
    told = visit.ask_if_known(f"/companies/{typed}/profile")
    if told is None:
        raise NotFound(f"There is no company “{typed[:80]}”. Search finds one by name, ticker, CIK or LEI.")
    record = told.data
    chosen = {
        "statement": _one_of(visit.query.get("statement"), KINDS),
        "frequency": visit.query.get("frequency", ""),
        "scale": _one_of(visit.query.get("scale"), SCALES),
        "periods": _one_of(visit.query.get("periods"), PERIODS),
    }
    errors: list[dict[str, str]] = []
    today = held = _find_statements(visit, record["entityId"], None)
    past = visit.as_of
    if past is not None:
        try:
            held = _find_statements(visit, record["entityId"], past)
        except ApiError as error:
            if error.status not in {400, 403}:
                raise
            errors.append({"field": "as_of", "message": error.message})
            past = None
    chosen["statement"] = _statement(visit, held, chosen)
    if chosen["frequency"] not in FREQUENCIES:
        # The first with statements of the kind: many a filer has one of both only.
        there = (one for one in FREQUENCIES if (one, chosen["statement"]) in held)
        chosen["frequency"] = next(there, FREQUENCIES[0])
    then = f"&as_of={past}" if past else ""
    # Those of today are none of a past day's.
    peers = [] if past else record["peers"][:PEERS]
    values: dict[str, Any] = {
        "record": record,
        "star": star(visit, "company", record["entityId"]),
        "past": past,
        "chosen": chosen,
        "kinds": {name: title for name, (title, _) in KINDS.items()},
        "frequencies": FREQUENCIES,
        "scales": tuple(SCALES),
        "country": names(visit, [record["country"]]).get(record["country"], "") if record["country"] else "",
        "figures": [] if past else _figures(record),
        "pillars": _PILLARS,
        "score_title": score_title,
        "test_words": words,
        "test_input": number,
        "age": age(record["lastPeriodEnd"], today, visit.today),
        "unscored": unscored(record, visit.today),
        "compared": compared(record),
        "elsewhere": _elsewhere(visit, held, today, chosen),
        # Where the company's lines are drawn on the day of the page, its reports marked: words and addresses.
        "charts": [
            (title, f"/compare?indicator={lines}&entities={record['entityId']}&events=own{then}")
            for title, lines in CHARTS.items()
            if held
        ],
        "pictures": charts(visit, record["entityId"], [one["entityId"] for one in peers], past),
        "beside": peers,
        "series_address": series_address,
        "errors": errors,
        **_statements(visit, record["entityId"], chosen, past),
    }
    return Html("explorer/company.html", values, 400 if errors else 200)


#: The newest statement of each frequency and kind, as the interface has it.
Held = dict[tuple[str, str], dict[str, Any]]


def _find_statements(visit: Visit, entity: str, as_of: str | None) -> Held:
    """Return the newest statement of each frequency and kind that the company has. Raises ApiError for a refused day."""
    found: Held = {}
    for frequency in FREQUENCIES:
        told = visit.look_up(f"/companies/{entity}/financials", frequency=frequency, limit=1, as_of=as_of)
        for kind, (_, place) in KINDS.items():
            if told is not None and told.data[place]:
                found[frequency, kind] = told.data[place][0]
    return found


def _statement(visit: Visit, held: Held, chosen: dict[str, str]) -> str:
    """Return the kind that was asked for, else the first that there is, of the frequency where that was asked for: some file a balance alone."""
    if visit.query.get("statement") in KINDS:
        return chosen["statement"]
    asked = (chosen["frequency"],) if chosen["frequency"] in FREQUENCIES else FREQUENCIES
    there = {kind for frequency, kind in held if frequency in asked} or {kind for _, kind in held}
    return next((kind for kind in KINDS if kind in there), chosen["statement"])


def _elsewhere(visit: Visit, held: Held, today: Held, chosen: dict[str, str]) -> list[tuple[str, str]]:
    """Return the places that have statements, as words and address, for a table that has none."""
    here = (chosen["frequency"], chosen["statement"])
    if here in held:
        return []
    found = [
        (f"{KINDS[kind][0]}, {frequency}", visit.here(statement=kind, frequency=frequency)) for frequency, kind in held
    ]
    if here in today:
        found.append(("The newest", visit.here(as_of=None)))
    return found


def _slug(visit: Visit, name: str) -> str | None:
    """Return the slug of the one company that is called exactly so, in whatever form; None where the interface knows none."""
    try:
        told = visit.look_up("/entities/resolve", alias=name, type="company")
    except ApiError:  # nothing that could be a name
        return None
    if told is None or told.data["match"] == "fuzzy":
        return None
    found: str | None = told.data["slug"]
    return found


def _one_of(wanted: str | None, allowed: Iterable[str]) -> str:
    """Return what was chosen, else the first."""
    every = tuple(allowed)
    return wanted if wanted is not None and wanted in every else every[0]


def _statements(visit: Visit, entity: str, chosen: dict[str, str], as_of: str | None) -> dict[str, Any]:
    """Return the chosen statements and what is beside them."""
    _, place = KINDS[chosen["statement"]]
    path = f"/companies/{entity}/financials"
    asked = {"frequency": chosen["frequency"], "limit": int(chosen["periods"])}
    told = visit.ask(path, **asked, as_of=as_of).data
    # The key of a moment is that of the statements before it: as many as there may be between.
    longer = asked | {"limit": int(chosen["periods"]) + 4}
    shown = told[place]
    was, more = before(shown, lambda moment: visit.ask(path, **longer, as_of=moment).data[place])
    table = statements.table(chosen["statement"], shown, was, chosen["scale"])
    return {
        "told": told,
        "table": table,
        "unit": statements.money_head(told["currency"], chosen["scale"]),
        "failed": statements.failed_checks(shown),
        "absent": statements.absent_lines(shown),
        "more_restated": more,
    }


def _figures(record: dict[str, Any]) -> list[dict[str, Any]]:
    """At most four numbers for the head."""
    score = record["score"]
    found: list[dict[str, Any]] = []
    if score is not None:
        share = f"{fraction(record['scoreCoverage'], 0)} of its measures known"
        found.append({"label": "Score", "look": look_field(score, unit("index"), digits=1), "note": share, "big": True})
    keys = record["keyFigures"]
    for name, label in (
        ("revenue", "Revenue, 12 months"),
        ("netMargin", "Net margin"),
        ("freeCashFlow", "Free cash flow, 12 months"),
    ):
        if keys[name] is not None:
            found.append(
                {"label": label, "look": figure(keys[name], name), "note": f"to {day(keys[name]['periodEnd'])}"}
            )
    return found


def figure(row: dict[str, Any], name: str) -> FormattedValue:
    """Format a key figure. One without a value is withheld, or rests on a statement that fails a grave check."""
    if row["value"] is None and row["quality"] == "failed":
        return FormattedValue("none", "A check failed", "left out, a check of a statement behind it does not hold")
    if row["value"] is None:
        return look_reading({"rights": {"valueWithheld": True, "exposure": "restricted"}})
    words = unit(row["unit"], "net_margin" if name.endswith("Margin") else None)
    return look_field(row["value"], words, figure=True)


PAGES = (_LIST, Page("/companies/{name}", company))
