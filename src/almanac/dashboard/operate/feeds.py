"""How the service does: its sources, its runs, what it could not read, and its plans. All of it is read-only."""

from __future__ import annotations

from collections import Counter

from almanac.dashboard.operate import ledger
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Visit
from almanac.dashboard.words.numbers import read_whole
from almanac.store.accounts.administration import Administration

_RUNS, _QUARANTINED = 100, 100


def overview(visit: Visit) -> Answer:
    """The first page of those who run the service."""
    rows = ledger.sources(visit)
    waiting = ledger.quarantined(visit)
    last = ledger.runs(visit, 1)
    values = {
        "health": Counter(row["health"] for row in rows),
        "bad": [row for row in rows if row["health"] in {"failing", "late"}],
        "total": len(rows),
        "quarantined": len(waiting),
        "last": last[0] if last else None,
        "now": ledger.moment(visit.api.now()),
    }
    return Html("operate/overview.html", values)


def sources(visit: Visit) -> Answer:
    """Health of all sources, the worst first."""
    return Html("operate/sources.html", {"rows": ledger.sources(visit), "now": ledger.moment(visit.api.now())})


def runs(visit: Visit) -> Answer:
    """The latest runs; of one source where it is named."""
    source = visit.query.get("source") or None
    typed = visit.query.get("before", "")
    before = read_whole(typed, 11)
    rows = ledger.runs(visit, _RUNS + 1, source=source, before=before)
    shown = rows[:_RUNS]
    following = visit.here(before=str(shown[-1].started_at)) if len(rows) > _RUNS else ""
    values = {"rows": shown, "source": source, "next": following, "first": visit.here(before=None) if before else ""}
    return Html("operate/runs.html", values)


def quarantine(visit: Visit) -> Answer:
    """Responses that could not be read, the newest first."""
    rows = ledger.quarantined(visit)
    return Html("operate/quarantine.html", {"rows": rows[:_QUARANTINED], "total": len(rows)})


def payload(visit: Visit) -> Answer:
    """One of them: its reason, and how it begins."""
    number = read_whole(visit.values["number"], 17)
    row = None if number is None else ledger.payload(visit, number)
    if row is None:
        raise NotFound("There is nothing of this number in quarantine. It may have been read since.")
    rights = {one["id"]: one["rights"] for one in visit.ask("/sources", limit=500).data}.get(row.source)
    # What a licence lets nobody pass on is on no page, not even on this one; nor what nobody knows the licence of.
    shown = rights is not None and rights["redistributable"]
    text, kind = ledger.head(visit, row) if shown else ("", "withheld")
    values = {"row": row, "text": text, "kind": kind, "bytes": ledger.HEAD_BYTES}
    return Html("operate/payload.html", values, 503 if kind == "away" else 200, secret=True)


def plans(visit: Visit) -> Answer:
    """Plans of the settings, with the number of accounts on each; accounts on a plan that is gone as well."""
    counts = Counter(Administration(visit.people.accounts, visit.who.email).on_plans())
    gone = sorted(set(counts) - set(visit.settings.plans))
    return Html("operate/plans.html", {"plans": visit.settings.plans, "counts": counts, "gone": gone})


PAGES = (
    Page("/operate", overview, who="operator"),
    Page("/operate/sources", sources, who="operator"),
    Page("/operate/runs", runs, who="operator"),
    Page("/operate/quarantine", quarantine, who="operator"),
    Page("/operate/quarantine/{number}", payload, who="operator"),
    Page("/operate/plans", plans, who="operator"),
)
