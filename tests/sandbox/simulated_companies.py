"""The simulated companies' pages, made once and read with plain JSON, for the tests of the sandbox."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from almanac.sandbox.companies.filers import Filer, companies
from almanac.sandbox.companies.responses import company_pages, pages_of

NOW = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp())
DAY = 86_400


class Row(NamedTuple):
    """One row of companyfacts."""

    tag: str
    unit: str
    start: str | None
    end: str
    val: float
    accn: str
    fy: int | None
    fp: str | None
    form: str
    filed: str


def rows_of(body: bytes) -> Iterator[Row]:
    for taxonomy, tags in json.loads(body)["facts"].items():
        for tag, told in tags.items():
            for unit, rows in told["units"].items():
                for row in rows:
                    yield Row(
                        f"{taxonomy}:{tag}", unit, row.get("start"), row["end"], row["val"], row["accn"], row["fy"],
                        row["fp"], row["form"], row["filed"],
                    )  # fmt: skip


def quarters_long(row: Row) -> int:
    """0 for an instant, else the length of the period in quarters."""
    if row.start is None:
        return 0
    return round(((date.fromisoformat(row.end) - date.fromisoformat(row.start)).days + 1) / 91.3)


@dataclass
class Told:
    """One company as its pages tell of it."""

    company: Filer
    submissions: dict[str, Any]
    body: bytes

    @cached_property
    def rows(self) -> list[Row]:
        return list(rows_of(self.body)) if self.body else []

    @cached_property
    def filings(self) -> list[dict[str, Any]]:
        """Filings by column, oldest first."""
        recent = self.submissions["filings"]["recent"]
        return [dict(zip(recent, values, strict=True)) for values in zip(*recent.values(), strict=True)][::-1]

    def by_filing(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row.accn].append(row)
        return found


@dataclass
class World:
    """All pages at one instant, by URL; `fetched` when each was."""

    bodies: dict[str, bytes]
    fetched: dict[str, int]

    def told(self, number: int) -> Told:
        company = companies()[number]
        cik = f"CIK{company.cik:010d}.json"
        listed = self.bodies[f"https://data.sec.gov/submissions/{cik}"]
        facts = self.bodies.get(f"https://data.sec.gov/api/xbrl/companyfacts/{cik}", b"")
        return Told(company, json.loads(listed), facts)

    def everyone(self) -> Iterator[Told]:
        for company in companies():
            yield self.told(company.number)


#: The first ones: those who report as most do.
ORDINARY = sum(not one.kind for one in companies())
#: Every ninth company, and those to whom something happens that the ninth lack.
SAMPLE = frozenset([*range(0, ORDINARY, 9), 5, 11, 20, 33, 51, 72, 77, 80, 86, 181, 201])


def made(now: int, numbers: Iterable[int] | None = None) -> World:
    """Return the pages of these companies; without numbers those of all, and the list of tickers."""
    captures = list(company_pages(now) if numbers is None else pages_of(numbers, now))
    return World(
        {capture.url: capture.make() for capture in captures}, {capture.url: capture.fetched_at for capture in captures}
    )
