"""Time bounds as a model writes them: days, months, quarters, halves and years, and fiscal years of companies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .asking import Api, Record
from .text import words
from .text.refusals import RefusalError

#: The allowed forms of a bound, as refusals list them.
FORMS = "2024, 2024-Q3 (Q3 2024, 2024Q3), 2024-H1, 2024-06, 2024-06-30; of a company FY2024, FY2024-Q3 (fiscal Q3 2024)"


def within(start: str | None, end: str | None, *, names: Sequence[str] = ("start", "end")) -> dict[str, str | None]:
    """
    Return the first and last day of two bounds, by name. Raises RefusalError for an invalid one, with the allowed
    forms.
    """
    return {
        names[0]: None if start is None else _day(names[0], start, words.first_day(start)),
        names[1]: None if end is None else _day(names[1], end, words.last_day(end)),
    }


def _day(name: str, given: str, found: str) -> str:
    try:
        datetime.fromisoformat(found)
    except ValueError:
        raise RefusalError(f"{name!r} is {words.plain(given)!r}, which is no day or period", allowed=FORMS) from None
    return found


async def of_entity(
    api: Api, entity: Record | None, start: str | None, end: str | None, as_of: str | None
) -> tuple[dict[str, str | None], list[str]]:
    """Return the bounds for one entity, and notes on them. Fiscal periods are looked up if the entity is a company."""
    if entity is None or entity["type"] != "company":
        fiscal = [one for one in (start, end) if one is not None and words.fiscal(one) is not None]
        said = f"{' and '.join(dict.fromkeys(fiscal))} is taken by the calendar: only companies have fiscal years here"
        return within(start, end), [said] if fiscal else []
    years = {one: await _fiscal(api, entity, one, as_of) for one in dict.fromkeys((start, end)) if one is not None}
    first = None if start is None else years[start]
    last = None if end is None else years[end]
    notes = [
        f"{words.spelled(one)} of {entity['name']} is {found[0]} to {found[1]}" for one, found in years.items() if found
    ]
    return within(start if first is None else first[0], end if last is None else last[1]), notes


async def _fiscal(api: Api, entity: Record, text: str, as_of: str | None) -> tuple[str, str] | None:
    """
    Return the first and last day of a company's fiscal period, from its income statement. Return None if the text isn't
    a fiscal period.
    """
    meant = words.fiscal(text)
    if meant is None:
        return None
    frequency = "annual" if meant[1] == "FY" else "quarterly"  # halves are among the quarters
    found = await api.item("companies.financials", entity["entityId"], frequency=frequency, limit=100, as_of=as_of)
    told = {
        (one["fiscalYear"], one["fiscalPeriod"]): one for one in found.record["incomeStatements"] if one["periodStart"]
    }
    if (one := told.get(meant)) is None:
        there = [f"FY{year}" if part == "FY" else f"FY{year}-{part}" for year, part in sorted(told)]
        raise RefusalError(f"{entity['name']} has no statement of {words.spelled(text)}", allowed=there)
    return words.day(one["periodStart"]), words.day(one["periodEnd"])
