"""What words ask to be compared: one indicator of several places, `inflation usa germany japan`."""

from __future__ import annotations

from typing import Any

import msgspec

from almanac.dashboard.drawing.svg import MOST_LINES
from almanac.dashboard.explorer.finding import SMALL_WORDS, indicators_of
from almanac.dashboard.explorer.places import places
from almanac.dashboard.visit import Visit
from almanac.reports.wording import listed
from almanac.store.state_memory import Remembered

Row = dict[str, Any]
#: Words that are looked at, and the most that the name of a place has.
_WORDS, _NAME = 24, 4
#: Places that have data, by each of their names and codes in small letters.
_PLACES_BY_NAME: Remembered[dict[str, Row]] = Remembered("places by name", lambda _: {})
#: Stand between what is compared.
_BETWEEN = {"vs", "versus", "against", "with", "compare", "compared"}
#: Words that are ISO codes too: of Peru and of the Emirates.
_NO_CODES = {"per", "are"}


class WantedComparison(msgspec.Struct, frozen=True):
    """An indicator and at least two places."""

    indicator: Row
    places: list[Row]

    @property
    def address(self) -> str:
        """The page that shows it."""
        entities = ",".join(row["slug"] for row in self.places)
        return f"/compare?indicator={self.indicator['slug']}&entities={entities}"

    @property
    def title(self) -> str:
        """`Consumer price inflation: Germany and Japan`."""
        return f"{self.indicator['name']}: {listed([row['name'] for row in self.places])}"


def wanted_comparison(visit: Visit, words: str) -> WantedComparison | None:
    """The comparison that words ask for; None where they name fewer than two places, or nothing to compare them by."""
    parts = words.replace(",", " ").split()[:_WORDS]
    if len(parts) < 3:
        return None
    named = _named(visit)
    found: dict[str, Row] = {}
    rest: list[str] = []
    at = 0
    while at < len(parts):
        for length in range(min(_NAME, len(parts) - at), 0, -1):
            text = " ".join(parts[at : at + length]).casefold()
            row = None if text in SMALL_WORDS | _NO_CODES else named.get(text)
            if row is not None:
                found[row["id"]] = row
                at += length
                break
        else:
            rest.append(parts[at])
            at += 1
    left = [word for word in rest if word.casefold() not in SMALL_WORDS | _BETWEEN]
    if len(found) < 2 or not left:
        return None
    served = next((row for row in indicators_of(visit, " ".join(left)) if row["entityCount"]), None)
    return None if served is None else WantedComparison(served, list(found.values())[:MOST_LINES])


def _named(visit: Visit) -> dict[str, Row]:
    """Places that have data, by each of their names and codes in small letters; the same for everybody."""
    kept = visit.api.remembered(_PLACES_BY_NAME)
    if not kept:
        for row in places(visit):
            codes = [row["isoAlpha2"], row["isoAlpha3"], row["slug"]]
            for name in (row["name"], *row["aliases"], *codes):
                if name:
                    kept.setdefault(name.casefold(), row)
    return kept
