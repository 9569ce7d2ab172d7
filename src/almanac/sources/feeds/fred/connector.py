"""FRED and ALFRED: series of many publishers, with the history of what was published when.

Native codes are series ids. `fred_responses` has the records of the JSON, `fred_realtime` the rule by which a response
of observations is a snapshot or an archive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from almanac.domain.periods import add_months
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.domain.times import DAY_SECONDS, end_of_day
from almanac.sources.base import Connector, NamedRelease, Parsed, Payload, ReleaseDate, Request, SourceChanged, Specs
from almanac.sources.feeds.fred import realtime, responses
from almanac.sources.formats import strict

_HOST = "api.stlouisfed.org"
#: Of real time, in the words of the API; observations begin no sooner.
_BEGINNING, _END = date(1776, 7, 4), date(9999, 12, 31)

#: Release dates of half a month, at most.
_DATES = 1_000

#: Kinds of response that are FRED's and hold nothing this service keeps, with the reason to be shown.
_SET_ASIDE = {
    "series/vintagedates": "days on which a series changed; the archive itself states them with the values",
    "series/categories": "categories of a series",
    "category": "a category",
    "categories": "categories",
    "release/sources": "publishers behind a release",
    "source": "one publisher",
    "sources": "publishers",
}
_FREQUENCIES = {"D": "D", "W": "W", "M": "M", "Q": "Q", "SA": "S", "A": "A"}
#: What FRED writes of a unit of the catalogue.
_UNITS = {
    "percent": r"Percent.*",
    "percentage_points": r"Percent.*",
    "index": r"Index.*|\+1 or 0",
    "thousands": r"(?:Level in )?Thousands.*",
    "persons": r"Number|Persons",
    "usd": r"(?:U\.S\. )?Dollars.*",
    "usd_millions": r"Millions of .*Dollars",
    "usd_billions": r"Billions of .*Dollars",
    "usd_per_barrel": r"(?:U\.S\. )?Dollars per Barrel",
}
_COPYRIGHT = re.compile(r"(?<!not )\bcopyright(?:ed)?\b|\N{COPYRIGHT SIGN}|\ball rights reserved\b", re.IGNORECASE)
#: FRED's keys are 32 lower-case letters and digits; an error message may repeat the request.
_YEAR = re.compile(r"[12][0-9]{3}")
_KEY = re.compile(r"\b[0-9a-z]{32}\b")

#: Lists of which an answer may hold one page only.
_PAGED: dict[str, type[responses.ListHead]] = {
    "releases": responses.Releases, "releases/dates": responses.ReleaseDates, "release/dates": responses.ReleaseDates,
}  # fmt: skip

_Shape = TypeVar("_Shape")


class Fred(Connector):
    """The JSON of api.stlouisfed.org. `parse` tells responses apart by path and query of their URL."""

    version = 3
    hosts = frozenset({_HOST})
    leads_further = True

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Observations, tags and units of every mapped series, then the releases and their dates around `today`.

        Tags, units, releases and dates of other days than these change seldom: they are asked for once a day.

        A, S, Q, M: the whole archive, or every period as it stood on the day of `since` and was changed after it, for
        revisions reach back. W and D: an ordinary request, of periods from `since` on, because the API refuses more than 2,000
        vintages in one response and daily series have more.
        The API's limit of 100,000 rows to a response, also its default, holds the archive of a monthly series; a
        response cut by it is an error when parsed. Raises ValueError naming the setting when there is no key.
        """
        if not key:
            raise ValueError(f"source {source.id} needs an API key in setting {source.key_setting or 'api_key'}")

        def request(kind: str, *, once_a_day: bool = True, **query: object) -> Request:
            asked = urlencode(sorted({"file_type": "json", **query}.items()))
            url = f"https://{_HOST}/fred/{kind}?{asked}"
            return Request(url, {"api_key": key}, once_a_day=once_a_day)

        planned: list[Request] = []
        for native, spec in sorted(series.items()):
            if spec.frequency.months:
                span: dict[str, object] = {"realtime_start": since or _BEGINNING, "realtime_end": _END}
            else:
                span = {} if since is None else {"observation_start": since}
            planned.append(request("series/observations", once_a_day=False, series_id=native, **span))
        planned += [request("series/tags", series_id=native) for native in sorted(series)]
        planned += [request("series", series_id=native) for native in sorted(series)]
        planned.append(request("releases"))
        planned += [
            request(
                "releases/dates",
                once_a_day=not first <= today <= last,
                realtime_start=first,
                realtime_end=last,
                include_release_dates_with_no_data="true",
                limit=_DATES,
            )
            for first, last in _halves(today)
        ]
        return planned

    def follow(self, payload: Payload, source: Source, key: str | None) -> list[Request]:
        """Return the request of the next page of a list of releases or of their dates, if there is one. Raise SourceChanged."""
        url = urlsplit(payload.url)
        kind = url.path.removeprefix("/fred/").strip("/")
        shape = _PAGED.get(kind)
        if shape is None or not key:
            return []
        refused = strict.json(payload.body, responses.Head, kind, Parsed()).error_code is not None
        following = None if refused else strict.json(payload.body, shape, kind, Parsed()).next
        if following is None:
            return []
        query = {name: value for name, value in parse_qsl(url.query) if name != "api_key"} | {"offset": str(following)}
        return [Request(f"https://{_HOST}{url.path}?{urlencode(sorted(query.items()))}", {"api_key": key})]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one response. A body of another shape, an error body, a misplaced date: SourceChanged."""
        url = urlsplit(payload.url)
        query = {name: value for name, value in parse_qsl(url.query) if name != "api_key"}
        kind = url.path.removeprefix("/fred/").strip("/")
        native = query.get("series_id", "").upper()
        where = f"{kind} {native}".strip()
        parsed = Parsed()
        head = strict.json(payload.body, responses.Head, where, parsed)
        if head.error_code is not None:
            raise SourceChanged(f"{where}: error {head.error_code}, {_KEY.sub('(key)', head.error_message)}")
        if kind in {"series/observations", "series/tags"} and not native:
            raise SourceChanged(f"{where}: the URL names no series_id")

        def read(shape: type[_Shape]) -> _Shape:
            return strict.json(payload.body, shape, where, parsed)

        if kind == "series/observations":
            parsed.ignored = _other_kind(head, query)
            if parsed.ignored is None:
                response = read(responses.Observations)
                _check_page(response, query, where)
                if _past(response, query, payload.fetched_at):
                    parsed.ignored = f"{where}: the state of {response.realtime_end}, asked for long after that day"
                elif native in series:
                    parsed.blocks.append(realtime.block(native, series[native], response, where, parsed))
                    if response.count == 0 and response.observation_start <= _BEGINNING:
                        parsed.missing.add(native)  # asked for since ever; one that is taken away is refused with 400
                else:
                    parsed.unmapped[native] = len(response.observations)
        elif kind == "series/tags":
            told = read(responses.Tags)
            told.check(len(told.tags), where)  # a tag that was cut off might be the one that restricts
            if native not in series:
                parsed.ignored = f"tags of {native}, which the catalogue does not map"
                return parsed
            for tag in told.tags:
                # Every other tag of the group restricts, one we have never met too.
                if tag.group_id == "cc" and not tag.name.lower().startswith("public domain"):
                    parsed.tightened[native] = (Exposure.restricted, f"FRED tags this series “{tag.name}”.")
        elif kind in {"series", "release/series"}:
            items = read(responses.SeriesList).seriess
            _check_series(parsed, items, series, where)
        elif kind in {"release", "releases", "series/release"}:
            named = read(responses.Releases)
            named.check(len(named.releases), where)
            parsed.releases = [NamedRelease(str(item.id), item.name, item.link) for item in named.releases]
        elif kind in {"release/dates", "releases/dates"}:
            dated = read(responses.ReleaseDates)
            dated.check(len(dated.release_dates), where)
            parsed.release_dates = [ReleaseDate(str(item.release_id), item.day) for item in dated.release_dates]
        else:
            parsed.ignored = f"{kind}: {_SET_ASIDE.get(kind, 'a kind of response nobody reads')}"
        return parsed


def _halves(today: date) -> Iterator[tuple[date, date]]:
    """First and last days of six half months, from the one before today's month.

    Half a month of all releases is under the API's 1,000 dates a response, and its URL stays the same from day to day.
    """
    month = today.replace(day=1)
    for first in (add_months(month, -1), month, add_months(month, 1)):
        yield first, first.replace(day=15)
        yield first.replace(day=16), add_months(first, 1) - timedelta(days=1)


def _other_kind(head: responses.Head, query: Mapping[str, str]) -> str | None:
    """Return the reason why a response of observations is not the plain one, else None: its rows would be misread as levels."""
    if head.output_type not in {None, 1}:
        return f"observations with output_type {head.output_type}; only output_type 1 is read"
    if head.units not in {None, "lin"}:
        return f"observations in units={head.units}, computed by FRED; only units=lin is read"
    for name in ("frequency", "vintage_dates"):
        if name in query:
            return f"observations with {name}={query[name]}, which are not the series as published"
    return None


def _check_page(response: responses.Observations, query: Mapping[str, str], where: str) -> None:
    """Raise SourceChanged for a response that was cut on the way, or by the limit without being one of several pages."""
    listed, count = len(response.observations), response.count
    if listed != max(0, min(count - response.offset, response.limit)):
        raise SourceChanged(
            f"{where}: lists {listed} observations, says {count} from {response.offset} with limit {response.limit}"
        )
    if not response.whole and not {"limit", "offset"} & query.keys():
        raise SourceChanged(f"{where}: lists {listed} of {count} observations; ask for pages with limit and offset")


def _past(response: responses.Observations, query: Mapping[str, str], fetched_at: int) -> bool:
    """Return whether a snapshot is of a past day by request: taken as the present state it would undo what came after.

    The API's day is Central time, so its date may be the one before the day of the fetch in UTC.
    """
    if "realtime_end" not in query or response.realtime_start != response.realtime_end:
        return False
    return end_of_day(response.realtime_end) + DAY_SECONDS < fetched_at


def _check_series(parsed: Parsed, items: list[responses.SeriesRow], series: Specs, where: str) -> None:
    """
    Restrict series whose notes claim copyright, withhold those that FRED states in another unit than the catalogue, and report
    those that it states on another base. Raise SourceChanged for another frequency.

    An observation does not say its unit, so the newest statement of `fred/series` speaks for all of them.
    """
    mapped = [item for item in items if item.id in series]
    if not mapped:
        parsed.ignored = f"{where}: no series of the catalogue among {len(items)}"
    for item in mapped:
        expected = series[item.id].frequency
        if _FREQUENCIES.get(item.frequency_short) != expected.value:
            raise SourceChanged(f"{where}: {item.id} is {item.frequency}, the catalogue says {expected.word}")
        if item.notes is not None and _COPYRIGHT.search(item.notes):
            parsed.tightened[item.id] = (Exposure.restricted, "The publisher's notes on this series claim copyright.")
    newest = {item.id: item for item in sorted(mapped, key=lambda item: item.realtime_end)}
    for native, item in newest.items():
        spec = series[native]
        if re.fullmatch(_UNITS.get(spec.unit or "", ""), item.units) is None:
            parsed.meet([f"{strict.shown(item.units)} of {native}"], "unit")
            reason = f"FRED states this series in {strict.shown(item.units)}, the catalogue in {spec.unit}."
            parsed.tightened[native] = (Exposure.blocked, reason)
        elif (stated := set(_YEAR.findall(item.units))) and stated != set(
            _YEAR.findall(spec.basis or spec.price_basis or "")
        ):
            parsed.meet([f"{strict.shown(item.units)} of {native}"], "base")


CONNECTOR = Fred()
