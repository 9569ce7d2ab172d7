"""US Treasury: the daily par yield curve, Atom with OData properties, one file per year.

Native codes are element names (`BC_2YEAR`). Numbers are percent, bond-equivalent yields as published. A day's values
are published on that day (the catalogue declares it, with the link), so they are known at its end; the declaration
holds for a cell's first vintage only.
"""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import parse_qs, urlsplit

from lxml import etree

from almanac.domain.observations import DAY, ReportedValue
from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.reference import Source
from almanac.domain.times import end_of_day
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs, is_closed
from almanac.sources.formats import strict, tables

_FEED = "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
_CURVE = "daily_treasury_yield_curve"
_FIRST_YEAR = 1990

_ATOM = "{http://www.w3.org/2005/Atom}"
_DATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices}"
_META = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"

_TENOR = re.compile(r"BC_[0-9]+(?:_[0-9]+)?(?:MONTH|YEAR)")
#: Shown on the publisher's page in place of BC_30YEAR while that was not published. 0.00 in the older years also where
#: BC_30YEAR has a value, so it is no yield: never mapped.
_DISPLAY = "BC_30YEARDISPLAY"


class UsTreasury(Connector):
    """The par yield curve by year. Other feeds of the two hosts are owned and set aside by name."""

    version = 2
    hosts = frozenset({"home.treasury.gov", "api.fiscaldata.treasury.gov"})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """One request for each year from 1990, or from the year of `since`, to the year of `today`."""
        first = _FIRST_YEAR if since is None else max(since.year, _FIRST_YEAR)
        planned = []
        for year in range(first, today.year + 1):
            last = date(year, 12, 31)
            address = f"{_FEED}?data={_CURVE}&field_tdr_date_value={year}"
            planned.append(Request(address, closed=is_closed(last, today)))
        return planned

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one year, one block for each mapped element that is somewhere in the file. Raises SourceChanged.

        A block claims to be complete from the year's first day to the file's last: days still to come are not
        withdrawn. An element absent from the whole file claims nothing, for the curve has gained and lost tenors.
        """
        url = urlsplit(payload.url)
        query = parse_qs(url.query)
        feed = query.get("data", [""])[0]
        if url.hostname != "home.treasury.gov" or feed != _CURVE:
            return Parsed(ignored=f"{url.hostname}{url.path} {feed}: not the daily par yield curve".replace(" :", ":"))
        asked = query.get("field_tdr_date_value", [""])[0]
        year = int(asked) if re.fullmatch(r"[0-9]{4}", asked) else None
        where = f"{_CURVE} {asked}".strip()
        days = _days(strict.xml(payload.body, f"{_ATOM}feed", where), where)
        wrong = next((day for day in days if year is not None and day.year != year), None)
        if wrong is not None:
            raise SourceChanged(f"{where}: has {wrong}, a day of another year than asked for")
        parsed = Parsed()
        if not days:  # the first days of January
            return parsed
        first = min(days) if year is None else date(year, 1, 1)
        complete = (_key(first), _key(max(days)))
        for native in sorted({element for values in days.values() for element in values}):
            values = {day: cells[native] for day, cells in days.items() if native in cells}
            statement = _declared if source.declared_release == "same_day" else tables.as_read
            tables.take(parsed, native, values, series, where, statement, complete=complete)
        return parsed


def _key(day: date) -> int:
    return Period.starting(day, Frequency.DAILY).key


def _declared(cell: tables.Cell, value: float) -> ReportedValue:
    published = end_of_day(end_of(cell.period))
    return ReportedValue(cell.period, value, published, published, DAY, first_only=True)


def _days(root: etree._Element, where: str) -> dict[date, dict[str, str | None]]:
    """Return values as written by day and element; None where the element is there and says null."""
    # Elements of Atom carry no data of their own but for `content`.
    for element in (*root, *root.iterfind(f"{_ATOM}entry/*")):
        if not element.tag.startswith(_ATOM):
            raise SourceChanged(f"{where}: element {element.tag} is not one of Atom")
    days: dict[date, dict[str, str | None]] = {}
    for entry in root.iterfind(f"{_ATOM}entry"):
        properties = entry.findall(f"{_ATOM}content/{_META}properties")
        if len(properties) != 1:
            raise SourceChanged(f"{where}: entry {len(days) + 1} has {len(properties)} m:properties, expected 1")
        cells: dict[str, etree._Element] = {}
        for element in properties[0]:
            name = element.tag.removeprefix(_DATA)
            if name in cells:
                raise SourceChanged(f"{where}: element {name} is twice in one entry")
            if len(element):
                raise SourceChanged(f"{where}: element {name} has elements inside")
            cells[name] = element
        stamp = cells.pop("NEW_DATE", None)
        if stamp is None:
            raise SourceChanged(f"{where}: an entry has no NEW_DATE")
        written, _, midnight = (stamp.text or "").partition("T")
        if midnight != "00:00:00":
            raise SourceChanged(f"{where}: NEW_DATE {strict.shown(stamp.text)} is not a day at 00:00:00")
        day = strict.day(written, f"{where}: NEW_DATE")
        cells.pop("Id", None)  # a number of the publisher's database; late rows may have none
        cells.pop(_DISPLAY, None)
        values: dict[str, str | None] = {}
        for name, element in cells.items():
            if _TENOR.fullmatch(name) is None:
                # An unknown measure: perhaps one of ours under another name, whose values would then seem withdrawn.
                raise SourceChanged(f"{where}: {day} has element {name}, which nobody reads")
            values[name] = None if element.get(f"{_META}null") == "true" else element.text or ""
        if days.setdefault(day, values) is not values:
            raise SourceChanged(f"{where}: {day} is there twice")
    return days


CONNECTOR = UsTreasury()
