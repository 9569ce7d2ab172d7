"""Bank of Canada: the Valet service, JSON. Native codes are its series names; numbers are text, percent.

One object per day: `{"d": "2026-09-01", "BD.CDN.2YR.DQ.YLD": {"v": "3.01"}}`. No value is an empty text, an empty
object or a name left out. The answers state no time of publication.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from almanac.domain.reference import Source
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import strict, tables

_HOST = "www.bankofcanada.ca"
_OBSERVATIONS = re.compile(r"/valet/observations/(?:group/)?([^/]+)(?:/json)?")


class _Dimension(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    name: str


class _Detail(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    description: str
    dimension: _Dimension


class _Value(msgspec.Struct, forbid_unknown_fields=True):
    v: str | None = None


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    terms: dict[str, str]
    series_detail: dict[str, _Detail] = msgspec.field(name="seriesDetail")
    observations: list[dict[str, str | _Value]]
    group_detail: dict[str, Any] | None = msgspec.field(name="groupDetail", default=None)


class Boc(Connector):
    """Observations of series, or of a group of them."""

    version = 3
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """One request for each series: a name the bank no longer knows fails alone."""
        start = "" if since is None else f"?start_date={since}"
        return [Request(f"https://{_HOST}/valet/observations/{native}/json{start}") for native in sorted(series)]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one answer, one block for each mapped series, complete from the answer's first day to its last.

        Raises SourceChanged naming series and day, also where none of the series asked for in the URL is there.
        """
        path = urlsplit(payload.url).path
        asked = _OBSERVATIONS.fullmatch(path)
        if asked is None:
            return Parsed(ignored=f"{path}: not observations in JSON")
        where = f"valet {unquote(asked[1])}"
        parsed = Parsed()
        answer = strict.json(payload.body, _Answer, where, parsed)
        names = set(answer.series_detail)
        if not path.startswith("/valet/observations/group/"):
            parsed.lack(unquote(asked[1]).split(","), names, f"{where}: seriesDetail")
        for name, detail in answer.series_detail.items():
            if detail.dimension.key != "d":
                raise SourceChanged(f"{where}: {name} is dated by {strict.shown(detail.dimension.key)}, expected d")
        days = _days(answer, where, parsed)
        if not days:  # nothing yet since the day asked for
            return parsed
        for name in sorted(names):
            tables.take(parsed, name, {day: cells.get(name) or None for day, cells in days.items()}, series, where)
        return parsed


def _days(answer: _Answer, where: str, parsed: Parsed) -> dict[date, dict[str, str | None]]:
    days: dict[date, dict[str, str | None]] = {}
    for number, cells in enumerate(answer.observations, start=1):
        stamp = cells.pop("d", None)
        if not isinstance(stamp, str):
            raise SourceChanged(f"{where}: observation {number} has no day d")
        day = strict.day(stamp, where)
        if day in days:
            raise SourceChanged(f"{where}: {day} is there twice")
        parsed.meet(sorted(cells.keys() - answer.series_detail.keys()), "series not in seriesDetail:")
        days[day] = values = {}
        for name, value in cells.items():
            if name not in answer.series_detail:
                continue
            if not isinstance(value, _Value):
                raise SourceChanged(f"{where}: {day} {name} is {strict.shown(value)}, expected an object with v")
            values[name] = value.v
    return days


CONNECTOR = Boc()
