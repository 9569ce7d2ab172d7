"""A single check of the service for monitoring plug-ins: a word, a line of reasons, figures, and an exit code."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from almanac.pipeline.operate.vitals import Room, Vitals

#: Free shares of a disk below which there is a warning, or a critical finding.
_SCARCE, _GONE = 0.10, 0.03
#: A longer log was not truncated after a load, or a reader has kept it open for very long.
_LONG_LOG = 1 << 30


class Finding(NamedTuple):
    """An exit code (0 OK, 1 WARNING, 2 CRITICAL) and the line to print."""

    code: int
    line: str


def checkup(found: Vitals, room: Room, now: int) -> Finding:
    """
    Judge the state of the service at `now` (unix seconds).

    Critical: almost no disk space, or every source that was ever asked is failing. Warning: a source is failing or
    late, a response cannot be read, disk space is scarce, or the database's log was not truncated.
    """
    words: Counter[str] = Counter(one.health.word for one in found.sources)
    asked = sum(words.values()) - words["never_run"]
    free = {name: room.free[name] / max(room.total[name], 1) for name in room.free}
    critical = [f"{share:.1%} of the disk of {name} is free" for name, share in free.items() if share < _GONE]
    if asked and words["failing"] == asked:
        critical.append("every source that was asked is failing")
    warning = [f"{share:.1%} of the disk of {name} is free" for name, share in free.items() if _GONE <= share < _SCARCE]
    for word in ("failing", "late"):
        names = [one.source.id for one in found.sources if one.health.word == word]
        warning += [f"{word}: {', '.join(names)}"] if names else []
    if found.quarantined:
        warning.append(f"{found.quarantined.total()} responses cannot be read")
    log = room.logs.get("data", 0)  # a server looks after its own
    if log > _LONG_LOG:
        warning.append(f"the database's log has {log >> 20} MiB")
    reasons = critical + warning
    code = 2 if critical else 1 if warning else 0
    told = "; ".join(reasons) or f"{words['ok']} sources ok, data version {found.version}"
    return Finding(code, f"{('OK', 'WARNING', 'CRITICAL')[code]} - {told} | {_figures(found, words, room, now)}")


def failed(reason: str) -> Finding:
    """Build the critical finding for a check that could not be made."""
    return Finding(2, f"CRITICAL - {' '.join(reason.split()).replace('|', '/')}")


def _figures(found: Vitals, words: Counter[str], room: Room, now: int) -> str:
    """Format performance data by the Monitoring Plugins guidelines: label=value[unit];warn;crit;min;max."""
    age = None if found.version_at is None else max(0, now - found.version_at)
    parts = [
        *(f"{word}={words[word]};;;0" for word in ("ok", "late", "failing", "never_run")),
        f"quarantined={found.quarantined.total()};;;0",
        f"version={found.version};;;0",
        *([] if age is None else [f"version_age={age}s;;;0"]),
        *(f"data={room.databases[name]}B;;;0" for name in room.databases if name == "data"),
        *(f"log={room.logs[name]}B;{_LONG_LOG};;0" for name in room.logs if name == "data"),
        *(
            f"free_{name}={free}B;{int(total * _SCARCE)}:;{int(total * _GONE)}:;0;{total}"
            for (name, free), total in zip(room.free.items(), room.total.values(), strict=True)
        ),
    ]
    return " ".join(parts)
