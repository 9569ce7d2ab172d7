"""Rooms of central banks with formats of their own: Australia, Switzerland, Canada, England, Japan."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

from almanac.domain.periods import Frequency
from almanac.sources.formats import strict
from tests.publishers.figures import Figure, Timetable
from tests.publishers.room import Asked, Reply, Room, Rules, as_json, newest
from tests.support.workbooks import sheet, workbook, xls, zipped

#: Files of the Reserve Bank of Australia: the table's name, and how its series begin.
_TABLES = {"f1-data.csv": ("F1", "FIRMM"), "f2-data.csv": ("F2", "FCMYG"), "f2.1-data.csv": ("F2.1", "FCMYG")}
#: Its workbooks of earlier years: the table's name, and how their last days before the table begins are numbered.
_PAST = {
    "f01dhist.xls": ("F1", range(40_533, 40_544)), "f02dhist.xls": ("F2", range(41_401, 41_412)),
    "f02histhist.xls": ("F2.1", (41_333, 41_364, 41_394)),
}  # fmt: skip
#: Frequencies in the words of the Bank of Japan.
_WORDS = {Frequency.DAILY: "DAILY", Frequency.MONTHLY: "MONTHLY", Frequency.QUARTERLY: "QUARTERLY"}


def _lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def _named(day: date, between: str) -> str:
    return f"{day:%d}{between}{strict.MONTHS[day.month - 1]}{between}{day:%Y}"


def _by_day(found: dict[str, list[Figure]]) -> dict[date, dict[str, float]]:
    rows: dict[date, dict[str, float]] = {}
    for native, figures in found.items():
        for figure in figures:
            rows.setdefault(figure.span.last, {})[native] = figure.value
    return dict(sorted(rows.items()))


def _changed(found: dict[str, list[Figure]]) -> float:
    return max((figure.changed for figures in found.values() for figure in figures), default=0.0)


class Rba(Room):
    name, sources, hosts = "rba", ("rba",), ("www.rba.gov.au",)
    rules = Rules(
        documented="Static files, whole; scripts that do not say who they are have been refused",
        named=True, etag=True, last_modified=True, publishes=Timetable(6.0),
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        file = asked.path.rpartition("/")[2]
        if file in _PAST:
            return self._past(*_PAST[file])
        name, start = _TABLES.get(file, ("", ""))
        if not name:
            return Reply(b"<html>Page not found</html>", "text/html", 404)
        natives = self._natives(name, start)
        found = {native: self.published(self.series[native], asked) for native in natives}
        monthly = "Monthly" if name == "F2.1" else "Daily"
        head = _head(natives, monthly, "01-Nov-2026")
        rows = [
            [_named(day, "-"), *(cells.get(native, "") for native in natives)] for day, cells in _by_day(found).items()
        ]
        body = _lines([[f"{name} INVENTED RATES"], *head, *rows])
        return Reply(body, series=newest(found.items()), changed=_changed(found))

    def _natives(self, name: str, start: str) -> list[str]:
        return [
            native
            for native, spec in self.series.items()
            if native.startswith(start) and (name != "F2.1") == (spec.frequency is Frequency.DAILY)
        ]

    def _past(self, name: str, days: Iterable[int]) -> Reply:
        """A workbook that no longer changes. Only that of F1 is written like the table."""
        start = next(start for table, start in _TABLES.values() if table == name)
        natives = self._natives(name, start)
        head: list[list[object]] = [*_head(natives, "Daily", 42_499)]
        if name != "F1":
            head = [
                ["Per cent per annum"], [], [None, "Australian Government"], [None, *["2 yrs"] * len(natives)], [], [], [],
                ["Last updated:", *[41_415] * len(natives)], ["Source", *["RBA"] * len(natives)], ["Mnemonic", *natives],
            ]  # fmt: skip
        rows = [[day, *(5 + day % 7 / 10 + place / 100 for place, _ in enumerate(natives))] for day in days]
        body = xls({"Data": [[f"{name[:2]} INVENTED RATES"], *head, *rows], "Notes": [["Invented"]]})
        return Reply(body, "application/vnd.ms-excel", changed=datetime(2016, 5, 9, tzinfo=UTC).timestamp())


def _head(natives: list[str], frequency: str, published: object) -> list[list[object]]:
    """The rows above the days of a table."""
    return [
        ["Title", *natives], ["Description", *natives], ["Frequency", *[frequency] * len(natives)],
        ["Type", *["Original"] * len(natives)], ["Units", *["Per cent"] * len(natives)], [], [],
        ["Source", *["RBA"] * len(natives)], ["Publication date", *[published] * len(natives)],
        ["Series ID", *natives],
    ]  # fmt: skip


class Snb(Room):
    name, sources, hosts = "snb", ("snb",), ("data.snb.ch",)
    rules = Rules(documented="data.snb.ch/en/help_api: no limit is stated", etag=True, publishes=Timetable(8.5))
    _cube = re.compile(r"/api/(?:cube|warehouse/cube)/([^/]+)/data/csv/en")

    def answer(self, asked: Asked) -> Reply:
        path = self._cube.fullmatch(asked.path)
        cube = path[1] if path else ""
        natives = {
            native: native.partition("{")[2].rstrip("}").split(",")
            for native in self.series
            if native.partition("{")[0] == cube
        }
        if not natives:
            return Reply(b'{"message":"cube not found"}', "application/json", 404)
        found = {
            native: self.published(self.series[native], asked, asked.query.get("fromDate", "")) for native in natives
        }
        dimensions = [f"D{place}" for place in range(len(next(iter(natives.values()))))]
        if "/warehouse/" in asked.path:
            dimensions = ["LAUFZEIT", "ZEITPUNKT", "frequency", "AGGREGATIONSMETHODE"]
        rows = [
            [figure.span.text, *natives[native], figure.value] for native, listed in found.items() for figure in listed
        ]
        stamp = datetime.fromtimestamp(_changed(found), UTC)
        head = [["CubeId", cube], ["PublishingDate", f"{stamp:%Y-%m-%d %H:%M}"], [], ["Date", *dimensions, "Value"]]
        return Reply(_lines([*head, *sorted(rows)], ";"), series=newest(found.items()))


class BankOfCanada(Room):
    name, sources, hosts = "boc", ("boc-valet",), ("www.bankofcanada.ca",)
    rules = Rules(documented="bankofcanada.ca/valet/docs: 404 for an unknown series", publishes=Timetable(21.5))

    def answer(self, asked: Asked) -> Reply:
        found = re.fullmatch(r"/valet/observations/([^/]+)/json", asked.path)
        spec = self.series.get(found[1]) if found else None
        if spec is None or not self.figures.known(spec, asked.now):
            return as_json({"message": "Series not found.", "docs": "/valet/docs"}, status=404)
        figures = self.published(spec, asked, asked.query.get("start_date", ""), asked.query.get("end_date", ""))
        if recent := asked.query.get("recent"):
            figures = figures[-int(recent) :]
        detail = {"label": spec.code, "description": spec.name, "dimension": {"key": "d", "name": "Date"}}
        rows = [{"d": one.span.text, spec.code: {"v": f"{one.value:g}"}} for one in figures]
        told = {"terms": {"url": "/terms/"}, "seriesDetail": {spec.code: detail}, "observations": rows}
        return as_json(told, series=newest([(spec.code, figures)]))


class BankOfEngland(Room):
    name, sources, hosts = "boe", ("boe-iadb", "boe-glc"), ("www.bankofengland.co.uk",)
    rules = Rules(
        documented="Its help on the database: an unknown code is a page of HTML with 200; bare scripts are refused",
        named=True, seconds=1.0, publishes=Timetable(12.0, {Frequency.DAILY: 1}),
    )  # fmt: skip

    def answer(self, asked: Asked) -> Reply:
        if asked.path.endswith("/_iadb-fromshowcolumns.asp"):
            return self._database(asked)
        if asked.path.endswith("/glcnominalddata.zip"):
            return self._curve(asked, history=True)
        if asked.path.endswith("/latest-yield-curve-data.zip"):
            return self._curve(asked, history=False)
        return Reply(b"<html>Page not found</html>", "text/html", 404)

    def _database(self, asked: Asked) -> Reply:
        codes = asked.query.get("SeriesCodes", "").split(",")
        specs = [self.series.get(code) for code in codes]
        if any(spec is None or not self.figures.known(spec, asked.now) for spec in specs):
            return Reply(b"<html>Error: series code not recognised</html>", "text/html")
        begin = datetime.strptime(asked.query["Datefrom"], "%d/%b/%Y").date().isoformat()
        found = {spec.code: self.published(spec, asked, begin) for spec in specs if spec is not None}
        rows = [[_named(day, " "), *(cells.get(code, "") for code in codes)] for day, cells in _by_day(found).items()]
        return Reply(_lines([["DATE", *codes], *rows]), "application/csv", series=newest(found.items()))

    def _curve(self, asked: Asked, *, history: bool) -> Reply:
        month = date.fromtimestamp(asked.now).replace(day=1)
        natives = sorted((one for one in self.series if one.startswith("spot ")), key=lambda one: float(one[5:-1]))
        first, last = ("", (month - timedelta(days=1)).isoformat()) if history else (month.isoformat(), "")
        found = {native: self.published(self.series[native], asked, first, last) for native in natives}
        rows: list[list[object]] = [["UK nominal spot curve"], [], ["Maturity"]]
        rows += [["years:", *(float(one[5:-1]) for one in natives)], ["#VALUE!"]]
        rows += [
            [(day - date(1899, 12, 30)).days, *(cells.get(native) for native in natives)]
            for day, cells in _by_day(found).items()
        ]
        book = zipped(workbook({"info": sheet([["Invented"]]), "4. spot curve": sheet(rows)}))
        name = "2016 to present" if history else "current month"
        body = zipped({f"GLC Nominal daily data_{name}.xlsx": book})
        return Reply(body, "application/zip", series=newest(found.items()))


class BankOfJapan(Room):
    name, sources, hosts = "boj", ("boj",), ("www.stat-search.boj.or.jp",)
    rules = Rules(
        documented="Its manual of the interface: an answer ends at its most values and names where the next begins",
        publishes=Timetable(0.5, {Frequency.DAILY: 1}),
    )  # fmt: skip
    #: Values to an answer (60,000 in the manual), small enough to be met here.
    page = 300

    def answer(self, asked: Asked) -> Reply:
        database, code = asked.query.get("db", ""), asked.query.get("code", "")
        spec = self.series.get(f"{database}'{code}")
        if spec is None or not self.figures.known(spec, asked.now):
            told = {"STATUS": 400, "MESSAGEID": "M181001E", "MESSAGE": "Invalid series code", "DATE": ""}
            return as_json(told, status=400)
        every = self.published(spec, asked)
        if since := asked.query.get("startDate"):
            every = [one for one in every if str(self._date(one, spec.frequency)) >= since]
        start = int(asked.query.get("startPosition", "1")) - 1
        figures = every[start : start + self.page]
        following = start + self.page + 1 if len(every) > start + self.page else None
        series = {
            "SERIES_CODE": code, "NAME_OF_TIME_SERIES": spec.name, "UNIT": "100 million yen" if spec.scale else {"percent": "%", "per_usd": "Yen per U.S. Dollar"}.get(spec.unit, "% points"),
            "FREQUENCY": _WORDS[spec.frequency], "CATEGORY": "", "LAST_UPDATE": int(f"{datetime.fromtimestamp(asked.now, UTC):%Y%m%d}"),
            "VALUES": {
                "SURVEY_DATES": [self._date(one, spec.frequency) for one in figures],
                "VALUES": [one.value for one in figures],
            },
        }  # fmt: skip
        told = {
            "STATUS": 200, "MESSAGEID": "M181000I", "MESSAGE": "Successfully completed", "DATE": "",
            "PARAMETER": {"FORMAT": "JSON", "LANG": "EN", "DB": database}, "NEXTPOSITION": following,
            "RESULTSET": [series],
        }  # fmt: skip
        return as_json(told, series=newest([(f"{database}'{code}", figures)]))

    def _date(self, figure: Figure, frequency: Frequency) -> int:
        first = figure.span.first
        if frequency is Frequency.DAILY:
            return int(f"{first:%Y%m%d}")
        number = (first.month + 2) // 3 if frequency is Frequency.QUARTERLY else first.month
        return first.year * 100 + number


ROOMS = [Rba, Snb, BankOfCanada, BankOfEngland, BankOfJapan]
