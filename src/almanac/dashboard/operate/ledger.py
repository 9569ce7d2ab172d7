"""What the store's log says of sources, runs and quarantine, read for operators' pages: no number of any series."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from almanac.dashboard.visit import Visit
from almanac.domain.cadence import Cadence
from almanac.store.log import history, payloads, schedule
from almanac.store.log.history import RunRow
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Corrupt, RawStore

#: What is shown of a payload.
HEAD_BYTES = 2048
#: Worst first.
ORDER = {"failing": 0, "late": 1, "never_run": 2, "ok": 3}
_HEX_LINE = 16


def sources(visit: Visit) -> list[dict[str, Any]]:
    """Rows of the interface's /sources, the worst first, with what the log has of each beside it."""
    told = visit.ask("/sources", limit=500).data
    with visit.api.log() as view:
        words, held = history.last_words(view), schedule.read(view)
        cadences = {one.id: one.cadence for one in view.directory.sources.values()}
        waiting = _counts(payloads.quarantined(view))
    now = visit.api.now()
    rows = []
    for row in told:
        turn, word, cadence = held.get(row["id"]), words.get(row["id"]), cadences.get(row["id"])
        due = None if turn is None or cadence is None else moment(turn.turn.due_at(Cadence(cadence), now))
        rows.append(
            row
            | {
                "due": due,
                "error": None if word is None else word.error,
                "failures": 0 if word is None else word.failures,
                "quarantined": waiting.get(row["id"], 0),
                "consent": visit.settings.consent(row["id"]),
                "leased": turn is not None and turn.by(now) is not None,
            }
        )
    return sorted(rows, key=lambda row: (ORDER[row["health"]], -row["failures"], row["id"]))


def runs(visit: Visit, limit: int, *, source: str | None = None, before: int | None = None) -> list[RunRow]:
    """The latest runs."""
    with visit.api.log() as view:
        return history.runs(view, limit, source=source, before=before)


def quarantined(visit: Visit) -> list[PayloadRow]:
    """What could not be read, the newest first."""
    with visit.api.log() as view:
        return sorted(payloads.quarantined(view), key=lambda row: (-row.fetched_at, row.number))


def payload(visit: Visit, number: int) -> PayloadRow | None:
    """One payload in quarantine; None where there is none of this number."""
    with visit.api.log() as view:
        found = payloads.by_number(view, number)
    return found if found is not None and found.state == payloads.QUARANTINED else None


def head(visit: Visit, row: PayloadRow) -> tuple[str, str]:
    """
    The first bytes of a payload as text, and what they are: `text`, `hex`, or with the reason as the text `damaged`, or
    `away` where the raw store cannot be read at all.
    """
    try:
        content = RawStore.at(visit.settings.raw_place).head(row.sha256, HEAD_BYTES)
    except Corrupt as error:
        return str(error), "damaged"
    except OSError as error:
        return str(error), "away"
    text = _text(content)
    return (_hex(content), "hex") if text is None else (text, "text")


def moment(seconds: int) -> datetime:
    """A time of the log, unix seconds, for the filters that write times."""
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


def _hex(content: bytes) -> str:
    lines = (content[start : start + _HEX_LINE] for start in range(0, len(content), _HEX_LINE))
    return "\n".join(f"{number * _HEX_LINE:04x}  {line.hex(' ')}" for number, line in enumerate(lines))


def _counts(rows: list[PayloadRow]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row.source] = found.get(row.source, 0) + 1
    return found
