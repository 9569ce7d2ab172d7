"""One company: figures, statements as known on any day, scores with their tests, filings, peers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.companies import pictures, restatements, statements
from almanac.dashboard.explorer.companies.scores import shown_scores
from almanac.dashboard.explorer.companies.standing import age, compared, unscored
from almanac.dashboard.explorer.companies.statement_lines import KINDS, SCALES
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.places import names
from almanac.dashboard.explorer.stars import star
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.numbers import fraction
from almanac.dashboard.words.units import unit
from almanac.dashboard.words.values import Look, look_field, look_reading

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
    """The page of one company. Its statements follow `as_of`; the interface has the rest as of today only."""
    typed = visit.values["name"]
    slug = _slug(visit, typed)
    if slug is not None and slug != typed:
        return Redirect(visit.here().replace(visit.path, f"/companies/{quote(slug, safe='')}", 1), 301)
    told = visit.ask_known(f"/companies/{typed}/profile")
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
    chosen["frequency"] = _frequency(held, chosen)
    # Those of today are none of a past day's.
    peers = [] if past else record["peers"][: pictures.PEERS]
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
        "scores": shown_scores(record),
        "age": age(record["lastPeriodEnd"], today, visit.today),
        "unscored": unscored(record, visit.today),
        "compared": compared(record),
        "elsewhere": _elsewhere(visit, held, today, chosen),
        "charts": _charts(record["entityId"], past) if held else [],
        "pictures": pictures.charts(visit, record["entityId"], [one["entityId"] for one in peers], past),
        "beside": peers,
        "series_address": series_address,
        "errors": errors,
        **_statements(visit, record["entityId"], chosen, past),
    }
    return Html("explorer/company.html", values, 400 if errors else 200)


#: The newest statement of each frequency and kind, as the interface has it.
Held = dict[tuple[str, str], dict[str, Any]]


def _find_statements(visit: Visit, entity: str, as_of: str | None) -> Held:
    """Which statements there are: for what the page opens on, and where it leads to. Raises ApiError for a refused day."""
    found: Held = {}
    for frequency in FREQUENCIES:
        told = visit.look_up(f"/companies/{entity}/financials", frequency=frequency, limit=1, as_of=as_of)
        for kind, (_, place) in KINDS.items():
            if told is not None and told.data[place]:
                found[frequency, kind] = told.data[place][0]
    return found


def _statement(visit: Visit, held: Held, chosen: dict[str, str]) -> str:
    """The kind that was asked for, else the first that there is, of the frequency where that was asked for: some file a balance alone."""
    if visit.query.get("statement") in KINDS:
        return chosen["statement"]
    asked = (chosen["frequency"],) if chosen["frequency"] in FREQUENCIES else FREQUENCIES
    there = {kind for frequency, kind in held if frequency in asked} or {kind for _, kind in held}
    return next((kind for kind in KINDS if kind in there), chosen["statement"])


def _frequency(held: Held, chosen: dict[str, str]) -> str:
    """The frequency that was asked for, else the first with statements of the kind: many a filer has one of both only."""
    if chosen["frequency"] in FREQUENCIES:
        return chosen["frequency"]
    return next((one for one in FREQUENCIES if (one, chosen["statement"]) in held), FREQUENCIES[0])


def _elsewhere(visit: Visit, held: Held, today: Held, chosen: dict[str, str]) -> list[tuple[str, str]]:
    """Where there are statements, in words and as an address, for a table that has none."""
    here = (chosen["frequency"], chosen["statement"])
    if here in held:
        return []
    found = [
        (f"{KINDS[kind][0]}, {frequency}", visit.here(statement=kind, frequency=frequency)) for frequency, kind in held
    ]
    if here in today:
        found.append(("The newest", visit.here(as_of=None)))
    return found


def _charts(entity: str, as_of: str | None) -> list[tuple[str, str]]:
    """Where a company's lines are drawn on the day of the page, its reports marked: words and addresses."""
    then = f"&as_of={as_of}" if as_of else ""
    return [
        (title, f"/compare?indicator={lines}&entities={entity}&events=own{then}") for title, lines in CHARTS.items()
    ]


def _slug(visit: Visit, name: str) -> str | None:
    """The slug of the one company that is called exactly so, in whatever form; None where the interface knows none."""
    try:
        told = visit.look_up("/entities/resolve", alias=name, type="company")
    except ApiError:  # nothing that could be a name
        return None
    if told is None or told.data["match"] == "fuzzy":
        return None
    found: str | None = told.data["slug"]
    return found


def _one_of(wanted: str | None, allowed: Iterable[str]) -> str:
    """What was chosen, else the first."""
    every = tuple(allowed)
    return wanted if wanted is not None and wanted in every else every[0]


def _statements(visit: Visit, entity: str, chosen: dict[str, str], as_of: str | None) -> dict[str, Any]:
    """The chosen statements and what is beside them."""
    _, place = KINDS[chosen["statement"]]
    path = f"/companies/{entity}/financials"
    asked = {"frequency": chosen["frequency"], "limit": int(chosen["periods"])}
    told = visit.ask(path, **asked, as_of=as_of).data
    # The key of a moment is that of the statements before it: as many as there may be between.
    longer = asked | {"limit": int(chosen["periods"]) + 4}
    shown = told[place]
    was, more = restatements.before(shown, lambda moment: visit.ask(path, **longer, as_of=moment).data[place])
    table = statements.table(chosen["statement"], shown, was, chosen["scale"])
    return {
        "told": told,
        "table": table,
        "unit": statements.money_head(told["currency"], chosen["scale"]),
        "failed": statements.failed_checks(shown),
        "absent": statements.absent_lines(shown),
        "restated": [
            {"title": line.title, "cell": cell, "statement": shown[number], "note": line.note}
            for line in table.lines
            for number, cell in enumerate(line.cells)
            if cell.was is not None
        ],
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


def figure(row: dict[str, Any], name: str) -> Look:
    """How a key figure looks; one without a value may not be shown, or rests on a statement that fails a grave check."""
    if row["value"] is None and row["quality"] == "failed":
        return Look("none", "A check failed", "left out, a check of a statement behind it does not hold")
    if row["value"] is None:
        return look_reading({"rights": {"valueWithheld": True, "exposure": "restricted"}})
    words = unit(row["unit"], "net_margin" if name.endswith("Margin") else None)
    return look_field(row["value"], words, figure=True)


PAGES = (Page("/companies/{name}", company),)
