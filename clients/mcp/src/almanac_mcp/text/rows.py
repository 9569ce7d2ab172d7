"""Rows of observations as an answer shows them, including the words for missing values and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from . import words

Record = Mapping[str, Any]

WITHHELD = "withheld"
#: Added to every withheld value, because language models tend to fill gaps.
DO_NOT_ESTIMATE = "do not estimate"


def withheld(record: Record) -> bool:
    """Return whether a record has a value that must not be shown."""
    rights = record.get("rights") or {}
    return bool(rights.get("valueWithheld"))


def period(row: Record) -> str:
    """Return the period of a row, followed by the company's fiscal name if that differs."""
    metadata = row.get("metadata") or {}
    return words.named(row, metadata.get("fiscalYear"), metadata.get("fiscalPeriod"))


def value(row: Record) -> str:
    """Return a row's value as text: the number, `withheld`, or `withdrawn`."""
    if withheld(row):
        return WITHHELD
    if (row.get("metadata") or {}).get("withdrawn"):
        return "withdrawn"
    numeric = row.get("valueNumeric")
    return words.number(row.get("valueText") if numeric is None else numeric)


def quality(row: Record) -> str:
    """Return the verdict of the checks on a company's figure: ok, warning or failed. For other rows it is ok."""
    return str((row.get("metadata") or {}).get("quality") or "ok")


def status(row: Record) -> str:
    """Return a row's revision status, with marks for forecasts, projections and failed checks."""
    metadata = row.get("metadata") or {}
    marks = [name for name in ("forecast", "projection") if metadata.get(name)]
    if quality(row) != "ok":
        marks.append(f"checks: {quality(row)}")
    return "+".join([str(row.get("revisionStatus") or "unknown"), *marks])


def reasons(records: Iterable[Record], noun: str = "row") -> list[str]:
    """Return one line for each reason why values are withheld, with their number."""
    found = Counter(
        words.plain((record["rights"].get("reason") or "its rights do not allow it").rstrip("."))
        for record in records
        if withheld(record)
    )
    return [f"{WITHHELD}: {words.counted(many, noun)}, {reason}; {DO_NOT_ESTIMATE}" for reason, many in found.items()]


def series_id(row: Record) -> str:
    """Return the id of a row's series."""
    return str((row.get("metadata") or {}).get("seriesId") or row.get("seriesId") or "")


def unit(record: Record) -> str:
    """Return the unit with its currency."""
    currency = record.get("currency") or (record.get("metadata") or {}).get("currency")
    name = record.get("unit") or "no unit"
    return f"{name} ({currency})" if currency and currency.lower() not in name else str(name)
