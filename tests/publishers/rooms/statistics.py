"""Rooms of the Bureau of Labor Statistics, of FRED and of the World Bank."""

import json
from datetime import UTC, date, datetime, timedelta

from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec
from almanac.sandbox import formats
from almanac.sandbox.fred_series import RELEASES
from tests.publishers.figures import Figure, Timetable
from tests.publishers.room import Asked, Reply, Room, Rules, as_json, newest
from tests.publishers.rooms.sdmx import PLACES


class Bls(Room):
    name, sources, hosts = "bls", ("bls",), ("api.bls.gov",)
    rules = Rules(
        documented="bls.gov/developers/api_faqs.htm: 25 queries a day and ten years without a key, 500 and 20 with one;"
        " 50 in ten seconds",
        limits=((25, 86_400.0), (50, 10.0)), limits_with_key=((500, 86_400.0), (50, 10.0)), publishes=Timetable(13.5),
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        native = asked.path.rpartition("/")[2]
        spec = self.series.get(native)
        first, last = int(asked.query["startyear"]), int(asked.query["endyear"])
        most = 20 if "registrationkey" in asked.query else 10
        if last - first + 1 > most:
            told = {"status": "REQUEST_NOT_PROCESSED", "message": [f"More than {most} years"], "Results": {}}
            return as_json({**told, "responseTime": 1})
        known = spec is not None and self.figures.known(spec, asked.now)
        figures = self.published(spec, asked, f"{first}-01-01", f"{last}-12-31") if spec is not None and known else []
        listed = {one.span.first.year for one in figures}
        message = [
            f"No Data Available for Series {native} Year: {y}" for y in range(first, last + 1) if y not in listed
        ]
        if not known:
            message = [f"Series does not exist for Series {native}"]
        data = [self._row(one, spec.frequency) for one in reversed(figures) if spec is not None]
        told = {
            "status": "REQUEST_SUCCEEDED", "responseTime": 100, "message": message,
            "Results": {"series": [{"seriesID": native, "data": data}]},
        }  # fmt: skip
        return as_json(told, series=newest([(native, figures)]))

    def _row(self, figure: Figure, frequency: Frequency) -> dict[str, object]:
        first = figure.span.first
        number = first.month if frequency is Frequency.MONTHLY else (first.month + 2) // 3
        return {
            "year": str(first.year), "period": f"{frequency.value}{number:02}", "periodName": f"{first:%B}",
            "value": f"{figure.value:g}", "footnotes": [{}],
        }  # fmt: skip


class BlsPages(Room):
    name, sources, hosts = "bls-pages", ("bls-calendar",), ("www.bls.gov",)
    rules = Rules(documented="Its pages refuse scripts that state no address (403)", contact=True)

    def answer(self, asked: Asked) -> Reply:
        if not asked.path.endswith(".ics"):
            return Reply(b"<html>Page not found</html>", "text/html", 404)
        day = date.fromtimestamp(asked.now).replace(day=12)
        events = "".join(
            f"BEGIN:VEVENT\nUID:cpi-{month:%Y%m}\nDTSTART;TZID=US-Eastern:{month:%Y%m}12T083000\n"
            f"SUMMARY:Consumer Price Index\nEND:VEVENT\n"
            for month in (day - timedelta(days=31), day, day + timedelta(days=31))
        )
        text = (
            f"BEGIN:VCALENDAR\nPRODID:-//Invented//EN\nVERSION:2.0\nX-WR-TIMEZONE:US-Eastern\n{events}END:VCALENDAR\n"
        )
        return Reply(text.replace("\n", "\r\n").encode(), "text/calendar")


class Fred(Room):
    name, sources, hosts = "fred", ("fred",), ("api.stlouisfed.org",)
    rules = Rules(
        documented="fred.stlouisfed.org/docs/api: 429 beyond 120 requests a minute; at most 100,000 observations and"
        " 1,000 release dates to an answer, and `count` says how many there are",
        limits=((120, 60.0),), publishes=Timetable(13.6, {Frequency.DAILY: 1}),
    )  # fmt: skip
    #: Releases with a date on each day: more than one answer holds.
    daily_releases = 80

    def answer(self, asked: Asked) -> Reply:
        if len(asked.query.get("api_key", "")) != 32:
            told = {
                "error_code": 400,
                "error_message": "Bad Request. The value for variable api_key is not registered.",
            }
            return as_json(told, status=400)
        kind = asked.path.removeprefix("/fred/")
        today = datetime.fromtimestamp(asked.now, UTC).date()
        if kind in {"series", "series/observations", "series/tags"}:
            spec = self.series.get(asked.query.get("series_id", ""))
            if spec is None or not self.figures.known(spec, asked.now):
                told = {"error_code": 400, "error_message": "Bad Request. The series does not exist."}
                return as_json(told, status=400)
            if kind == "series":
                return self._told(spec, today)
            return self._observations(spec, asked, today) if kind == "series/observations" else self._tags(today)
        if kind == "releases":
            names = [(release.id, release.name) for release in RELEASES.values()]
            return Reply(formats.fred_releases(names, today), "application/json")
        if kind == "releases/dates":
            return self._dates(asked)
        return as_json({"error_code": 404, "error_message": "Not Found."}, status=404)

    def _observations(self, spec: SeriesSpec, asked: Asked, today: date) -> Reply:
        start = asked.query.get("observation_start", "")
        figures = self.published(spec, asked, start)
        if "realtime_start" in asked.query:
            rows = []
            for one in figures:
                rows.append((self._dated(one, spec), _day(one.released), f"{one.first:g}"))
                if one.value != one.first and _day(one.changed) != _day(one.released):
                    rows.append((self._dated(one, spec), _day(one.changed), f"{one.value:g}"))
            body = formats.fred_archive(rows)
            # As asked for: the archive to some day is true to that day.
            told = json.loads(body)
            told["realtime_start"] = asked.query["realtime_start"]
            told["observation_start"] = start or "1600-01-01"
            if asked.query["realtime_start"] > formats.FRED_ALWAYS:
                told["observations"] = [
                    {**row, "realtime_start": max(row["realtime_start"], asked.query["realtime_start"])}
                    for row in told["observations"]
                    if row["realtime_end"] >= asked.query["realtime_start"]
                ]
                told["count"] = len(told["observations"])
            body = json.dumps(told).encode()
        else:
            dates = [self._dated(one, spec) for one in figures]
            body = formats.fred_snapshot(dates, [f"{one.value:g}" for one in figures], today, start or "1600-01-01")
        return Reply(body, "application/json", series=newest([(spec.code, figures)]))

    def _dated(self, figure: Figure, spec: SeriesSpec) -> str:
        """By the first day of a period, but a week by its last."""
        day = figure.span.last if spec.frequency is Frequency.WEEKLY else figure.span.first
        return day.isoformat()

    def _told(self, spec: SeriesSpec, today: date) -> Reply:
        units = {
            "percent": "Percent", "percentage_points": "Percent", "thousands": "Thousands of Persons", "persons": "Number",
            "index": f"Index {spec.basis}", "usd": "Dollars per Hour", "usd_per_barrel": "Dollars per Barrel",
            "usd_millions": "Millions of Dollars", "usd_billions": f"Billions of {spec.price_basis} Dollars",
        }[spec.unit]  # fmt: skip
        day = str(today)
        one = {
            "id": spec.native, "realtime_start": day, "realtime_end": day, "title": spec.name, "observation_start": day,
            "observation_end": day, "frequency": spec.frequency.word, "frequency_short": spec.frequency.value.replace("S", "SA"),
            "units": units, "units_short": units, "seasonal_adjustment": "", "seasonal_adjustment_short": "",
            "last_updated": day, "popularity": 1,
        }  # fmt: skip
        return as_json({"realtime_start": day, "realtime_end": day, "seriess": [one]})

    def _tags(self, today: date) -> Reply:
        tag = {
            "name": "public domain: citation requested", "group_id": "cc", "notes": None, "created": "2018-12-17 23:33:13-06",
            "popularity": 99, "series_count": 1,
        }  # fmt: skip
        told = {
            "realtime_start": str(today), "realtime_end": str(today), "order_by": "series_count", "sort_order": "desc",
            "count": 1, "offset": 0, "limit": 1000, "tags": [tag],
        }  # fmt: skip
        return as_json(told)

    def _dates(self, asked: Asked) -> Reply:
        first, last = (date.fromisoformat(asked.query[name]) for name in ("realtime_start", "realtime_end"))
        days = [first + timedelta(days=place) for place in range((last - first).days + 1)]
        every = [(number, day) for day in days if day.day in {12, 26} for number in RELEASES]
        if first.month == datetime.fromtimestamp(asked.now, UTC).month and first.day == 1:
            every += [(9_000 + number, day) for day in days for number in range(self.daily_releases)]
        every.sort(key=lambda one: (one[1], one[0]))
        limit, offset = min(1_000, int(asked.query.get("limit", "1000"))), int(asked.query.get("offset", "0"))
        rows = [
            {"release_id": number, "release_name": f"Invented {number}", "date": day.isoformat()}
            for number, day in every[offset : offset + limit]
        ]
        told = {
            "realtime_start": str(first), "realtime_end": str(last), "order_by": "release_date", "sort_order": "desc",
            "count": len(every), "offset": offset, "limit": limit, "release_dates": rows,
        }  # fmt: skip
        return as_json(told)


class WorldBank(Room):
    name, sources, hosts = "world-bank", ("world-bank",), ("api.worldbank.org",)
    rules = Rules(
        documented="Its help on the indicators API: pages of `per_page`, with their number; a message with 200 for an"
        " unknown code",
        publishes=Timetable(5.0, {Frequency.ANNUAL: 180}), seconds=2.0,
    )  # fmt: skip
    #: Rows to a page at most, small enough to be met here.
    page = 100

    def answer(self, asked: Asked) -> Reply:
        if "/indicator/" not in asked.path:
            page = {"page": 1, "pages": 1, "per_page": "400", "total": 0}
            return as_json([page, []])
        place, _, indicator = asked.path.removeprefix("/v2/country/").partition("/indicator/")
        specs = [
            (native, spec)
            for native, spec in self.series.items()
            if native.endswith(f"/{indicator}")
            and spec.entity in PLACES
            and (place == "all" or native.partition("/")[0] in place.split(";"))
        ]
        if not any(self.figures.known(spec, asked.now) for _, spec in specs):
            told = [{"id": "120", "key": "Invalid value", "value": "The provided parameter value is not valid"}]
            return as_json([{"message": told}])
        first, _, last = asked.query.get("date", "").partition(":")
        found = {native: self.published(spec, asked, first, last) for native, spec in specs}
        rows = [
            self._row(native.partition("/")[0], indicator, one) for native, listed in found.items() for one in listed
        ]
        size = min(self.page, int(asked.query.get("per_page", "50")))
        number = int(asked.query.get("page", "1"))
        page = {
            "page": number, "pages": -(-len(rows) // size), "per_page": size, "total": len(rows), "sourceid": "2",
            "lastupdated": _day(max((one.changed for listed in found.values() for one in listed), default=0.0)),
        }  # fmt: skip
        return as_json([page, rows[(number - 1) * size : number * size]], series=newest(found.items()))

    def _row(self, place: str, indicator: str, figure: Figure) -> dict[str, object]:
        return {
            "indicator": {"id": indicator, "value": indicator}, "country": {"id": place[:2], "value": place},
            "countryiso3code": place, "date": figure.span.text, "value": figure.value, "unit": "", "obs_status": "",
            "decimal": 1,
        }  # fmt: skip


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


ROOMS = [Bls, BlsPages, Fred, WorldBank]
