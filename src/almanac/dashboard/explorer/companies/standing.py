"""How current a company's statements are, and why it has no score."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from almanac.dashboard.words.dates import day, day_of
from almanac.domain.periods import Frequency, add_months, freshness
from almanac.reports.scoring import MONTHS, PILLARS_MINIMUM, SECTOR_MINIMUM


def age(newest: str | None, held: Mapping[tuple[str, str], Mapping[str, Any]], today: date) -> dict[str, str] | None:
    """
    A chip on the age of the newest statement, by the rule that judges series: of a filer of quarters 200 days.

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
    """Why a company has no score, in a sentence; empty where it has one."""
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
