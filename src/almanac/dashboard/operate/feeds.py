"""Pages for operators: sources, runs and quarantine."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from almanac.dashboard.formatting.numbers import read_whole
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Visit
from almanac.domain.cadence import Cadence
from almanac.store.accounts.administration import Administration
from almanac.store.log import payloads, schedule
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Corrupt, RawStore

#: What is shown of a payload.
HEAD_BYTES = 2048
#: Worst first.
ORDER = {"failing": 0, "late": 1, "never_run": 2, "ok": 3}
_HEX_LINE = 16


def read_sources(visit: Visit) -> list[dict[str, Any]]:
    """Rows of the interface's /sources, the worst first, with what the log has of each beside it."""
    told = visit.ask("/sources", limit=500).data
    with visit.api.log() as view:
        words, turns = payloads.tried(view), schedule.read(view)
        cadences = {one.id: one.cadence for one in view.directory.sources.values()}
        waiting = Counter(row.source for row in payloads.quarantined(view))
    now = visit.api.now()
    rows = []
    for row in told:
        turn, word, cadence = turns.get(row["id"]), words.get(row["id"]), cadences.get(row["id"])
        due = None if turn is None or cadence is None else moment(turn.turn.due_at(Cadence(cadence), now))
        rows.append(
            row
            | {
                "due": due,
                "error": None if word is None else word.last_error,
                "failures": 0 if word is None else word.failures,
                "quarantined": waiting[row["id"]],
                "consent": visit.settings.consent(row["id"]),
                "leased": turn is not None and turn.by(now) is not None,
            }
        )
    return sorted(rows, key=lambda row: (ORDER[row["health"]], -row["failures"], row["id"]))


def quarantined(visit: Visit) -> list[PayloadRow]:
    """Return what could not be read, the newest first."""
    with visit.api.log() as view:
        return sorted(payloads.quarantined(view), key=lambda row: (-row.fetched_at, row.number))


def read_payload(visit: Visit, number: int) -> PayloadRow | None:
    """One payload in quarantine; None where there is none of this number."""
    with visit.api.log() as view:
        found = payloads.by_number(view, number)
    return found if found is not None and found.state == payloads.QUARANTINED else None


def head(visit: Visit, row: PayloadRow) -> tuple[str, str]:
    """
    Return the first bytes of a payload as text, and what they are: `text`, `hex`, or with the reason as the text `damaged`, or
    `away` where the raw store cannot be read at all.
    """
    try:
        content = RawStore.at(visit.settings.raw_place).head(row.sha256, HEAD_BYTES)
    except Corrupt as error:
        return str(error), "damaged"
    except OSError as error:
        return str(error), "away"
    text = _text(content)
    if text is not None:
        return text, "text"
    lines = (content[start : start + _HEX_LINE].hex(" ") for start in range(0, len(content), _HEX_LINE))
    return "\n".join(f"{number * _HEX_LINE:04x}  {line}" for number, line in enumerate(lines)), "hex"


def moment(seconds: int) -> datetime:
    """Return a time of the log, unix seconds, for the filters that write times."""
    return datetime.fromtimestamp(seconds, UTC)


def _text(content: bytes) -> str | None:
    """Read bytes as UTF-8, a character cut at the end left out; None where they are no text."""
    try:
        found = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data" or len(content) < HEAD_BYTES:
            return None
        found = content[: error.start].decode("utf-8")
    return found if all(one.isprintable() or one in "\r\n\t\ufeff" for one in found) else None


_RUNS, _QUARANTINED = 100, 100


def overview(visit: Visit) -> Answer:
    """Show the first page of those who run the service."""
    rows = read_sources(visit)
    waiting = quarantined(visit)
    with visit.api.log() as view:
        last = payloads.runs(view, 1)
    values = {
        "health": Counter(row["health"] for row in rows),
        "bad": [row for row in rows if row["health"] in {"failing", "late"}],
        "total": len(rows),
        "quarantined": len(waiting),
        "last": last[0] if last else None,
        "now": moment(visit.api.now()),
    }
    return Html("operate/overview.html", values)


def sources(visit: Visit) -> Answer:
    """Health of all sources, the worst first."""
    return Html("operate/sources.html", {"rows": read_sources(visit), "now": moment(visit.api.now())})


def runs(visit: Visit) -> Answer:
    """Show the latest runs; of one source where it is named."""
    source = visit.query.get("source") or None
    typed = visit.query.get("before", "")
    before = read_whole(typed, 11)
    with visit.api.log() as view:
        rows = payloads.runs(view, _RUNS + 1, source=source, before=before)
    shown = rows[:_RUNS]
    following = visit.here(before=str(shown[-1].started_at)) if len(rows) > _RUNS else ""
    values = {"rows": shown, "source": source, "next": following, "first": visit.here(before=None) if before else ""}
    return Html("operate/runs.html", values)


def quarantine(visit: Visit) -> Answer:
    """Responses that could not be read, the newest first."""
    rows = quarantined(visit)
    return Html("operate/quarantine.html", {"rows": rows[:_QUARANTINED], "total": len(rows)})


def payload(visit: Visit) -> Answer:
    """One of them: its reason, and how it begins."""
    number = read_whole(visit.values["number"], 17)
    row = None if number is None else read_payload(visit, number)
    if row is None:
        raise NotFound("There is nothing of this number in quarantine. It may have been read since.")
    rights = {one["id"]: one["rights"] for one in visit.ask("/sources", limit=500).data}.get(row.source)
    # What a licence lets nobody pass on is on no page, not even on this one; nor what nobody knows the licence of.
    shown = rights is not None and rights["redistributable"]
    text, kind = head(visit, row) if shown else ("", "withheld")
    values = {"row": row, "text": text, "kind": kind, "bytes": HEAD_BYTES}
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
