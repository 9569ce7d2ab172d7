"""Bank of England: the statistical database (IADB), as CSV of codes or as gesmes XML. Native codes are its series codes.

CSV: a header `DATE,IUDBEDR,…` and one line per day (`01 Sep 2026`), an empty cell for no value. XML: one `Cube` for
each series, holding cubes that describe it and cubes with `TIME` and `OBS_VALUE`; a series may come in several such
cubes. `LAST_UPDATED` says when the bank last touched a row, not when it first published it, so it dates no value. A
request for an unknown code, or before a series begins, is answered with a page of HTML.
"""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import parse_qs, urlsplit

from almanac.domain.reference import Source
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import strict, tables

_HOST = "www.bankofengland.co.uk"
_QUERY = f"https://{_HOST}/boeapps/database/_iadb-fromshowcolumns.asp"
#: The oldest daily series of this source begins in 1975.
_BEGINNING = date(1975, 1, 2)
_DAY = re.compile(r"(?P<d>[0-9]{2}) (?P<m>[A-Z][a-z]{2}) (?P<y>[0-9]{4})")

_ENVELOPE = "{http://www.gesmes.org/xml/2002-08-01}Envelope"
_CUBE = re.compile(r"\{[^}]*/agg_series\}Cube")
#: First attribute of the cubes that describe a series; they carry no values.
_DESCRIPTIONS = frozenset({"FREQ_NAME", "SERIES_DEF", "CAT_NAME", "FIRST_OBS"})
_OBSERVATION = frozenset({"TIME", "OBS_VALUE", "OBS_CONF", "LAST_UPDATED"})
_UPDATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")

#: Values as written, by code and day; None for none.
_Read = dict[str, dict[date, str | None]]


class BoeIadb(Connector):
    """Series of the database by code."""

    version = 3
    hosts = frozenset({_HOST})
    folder = "/boeapps/"

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """One request for each series, in CSV: a wrong code fails alone, and none is asked for before it begins."""
        planned = []
        for native, spec in sorted(series.items()):
            start = max(spec.from_date or _BEGINNING, since or date.min)
            written = f"{start:%d}/{strict.MONTHS[start.month - 1]}/{start:%Y}"
            asked = f"csv.x=yes&Datefrom={written}&Dateto=now&SeriesCodes={native}&CSVF=TN&UsingCodes=Y&VPD=Y&VFD=N"
            planned.append(Request(f"{_QUERY}?{asked}"))
        return planned

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one answer, one block for each mapped series, complete from the answer's first day to its last.

        Raises SourceChanged naming code and day, also where none of the codes asked for in the URL is there.
        """
        url = urlsplit(payload.url)
        query = parse_qs(url.query)
        asked = [code for code in ",".join(query.get("SeriesCodes", [])).split(",") if code]
        forms = [form for form in ("csv", "xml") if f"{form}.x" in query]
        if "fromshowcolumns" not in url.path.lower() or not asked or len(forms) != 1:
            return Parsed(ignored=f"{url.path}: not series of the database in CSV or XML")
        where = f"iadb {','.join(asked)}"
        parsed = Parsed()
        read = _xml(payload.body, series, where, parsed) if forms == ["xml"] else _csv(payload.body, where)
        parsed.lack(asked, read, where)
        for native, values in sorted(read.items()):
            tables.take(parsed, native, values, series, where)
        return parsed


def _csv(body: bytes, where: str) -> _Read:
    rows = [row for row in strict.rows(body, "utf-8", where) if any(row)]
    header = rows[0] if rows else []
    if header[:1] != ["DATE"]:
        raise SourceChanged(f"{where}: header {strict.shown(','.join(header))}, expected DATE and the codes")
    codes = header[1:]
    if len(set(codes)) < len(codes):
        raise SourceChanged(f"{where}: header {strict.shown(','.join(header))}, expected each code once")
    days = tables.by_day(rows[1:], codes, lambda text: strict.day(text, where, _DAY, "31 Oct 2026"), where)
    return {code: {day: cells[place] or None for day, cells in days.items()} for place, code in enumerate(codes)}


def _xml(body: bytes, series: Specs, where: str, parsed: Parsed) -> _Read:
    read: _Read = {}
    envelope = strict.xml(body, _ENVELOPE, where)
    for element in (*envelope, *envelope.iterfind("*/*")):
        if _CUBE.fullmatch(element.tag) is None:
            raise SourceChanged(f"{where}: element {element.tag}, expected a Cube")
    for cube in envelope:
        code = cube.get("SCODE")
        if not code:
            raise SourceChanged(f"{where}: a Cube has no SCODE")
        values = read.setdefault(code, {})
        for part in cube:
            first = next(iter(part.attrib), "")
            if first == "FREQ_NAME" and code in series:
                stated, expected = part.get("FREQ_CODE"), series[code].frequency.value
                if stated != expected:
                    raise SourceChanged(f"{where}: {code} has FREQ_CODE {strict.shown(stated)}, expected {expected}")
            if first in _DESCRIPTIONS:
                continue
            parsed.meet(sorted(str(name) for name in part.attrib if name not in _OBSERVATION), "attribute")
            if len(part):
                raise SourceChanged(f"{where}: {code}: a Cube with elements inside, which nobody reads")
            day = strict.day(part.get("TIME"), f"{where}: {code}: TIME")
            updated = part.get("LAST_UPDATED")
            if part.get("OBS_CONF") != "N":
                raise SourceChanged(f"{where}: {code} {day}: OBS_CONF {strict.shown(part.get('OBS_CONF'))}, expected N")
            if _UPDATED.fullmatch(updated or "") is None:
                raise SourceChanged(f"{where}: {code} {day}: LAST_UPDATED {strict.shown(updated)} is not a time")
            if "OBS_VALUE" not in part.attrib:
                raise SourceChanged(f"{where}: {code} {day}: no OBS_VALUE")
            text = part.get("OBS_VALUE") or None
            if values.setdefault(day, text) != text:
                both = f"{strict.shown(values[day])} and {strict.shown(text)}"
                raise SourceChanged(f"{where}: {code} {day} is both {both}")
    return read


CONNECTOR = BoeIadb()
