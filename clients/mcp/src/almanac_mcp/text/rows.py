"""Rows of observations as an answer shows them: what stands for a value that is not there, and why it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from . import words

Record = Mapping[str, Any]

WITHHELD = "withheld"
#: Said with every withheld value, for a language model likes to fill a gap.
DO_NOT_ESTIMATE = "do not estimate"


def withheld(record: Record) -> bool:
    """Whether there is a value that may not be sent."""
    rights = record.get("rights") or {}
    return bool(rights.get("valueWithheld"))


def period(row: Record) -> str:
    """The period a row is of; of a company's, what the company calls it too, where that is another name."""
    metadata = row.get("metadata") or {}
    return words.named(row, metadata.get("fiscalYear"), metadata.get("fiscalPeriod"))


def value(row: Record) -> str:
    """A row's value in words: the number, `withheld`, or `withdrawn`."""
    if withheld(row):
        return WITHHELD
    if (row.get("metadata") or {}).get("withdrawn"):
        return "withdrawn"
    numeric = row.get("valueNumeric")
    return words.number(row.get("valueText") if numeric is None else numeric)


def quality(row: Record) -> str:
    """What checks say of a company's figure: ok, warning or failed; of all others ok."""
    return str((row.get("metadata") or {}).get("quality") or "ok")


def status(row: Record) -> str:
    """What a row says of its revision, that it is a forecast, and that checks do not hold."""
    metadata = row.get("metadata") or {}
    marks = [name for name in ("forecast", "projection") if metadata.get(name)]
    if quality(row) != "ok":
        marks.append(f"checks: {quality(row)}")
    return "+".join([str(row.get("revisionStatus") or "unknown"), *marks])


def reasons(records: Iterable[Record], noun: str = "row") -> list[str]:
    """A line for each reason why values are withheld, with how many there are."""
    found = Counter(
        words.plain((record["rights"].get("reason") or "its rights do not allow it").rstrip("."))
        for record in records
        if withheld(record)
    )
    return [f"{WITHHELD}: {words.counted(many, noun)}, {reason}; {DO_NOT_ESTIMATE}" for reason, many in found.items()]


def series_id(row: Record) -> str:
    """Id of the series a row is of."""
    return str((row.get("metadata") or {}).get("seriesId") or row.get("seriesId") or "")


def unit(record: Record) -> str:
    """Unit and currency in words."""
    currency = record.get("currency") or (record.get("metadata") or {}).get("currency")
    name = record.get("unit") or "no unit"
    return f"{name} ({currency})" if currency and currency.lower() not in name else str(name)
