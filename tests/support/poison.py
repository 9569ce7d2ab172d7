"""
Invented responses of every feed, and each of them poisoned: one text or number at a time, by what one engine takes and another
does not.
"""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from almanac.domain.reference import SeriesSpec, Source
from almanac.sources.base import Connector
from almanac.sources.feeds import (
    bls,
    bls_calendar,
    boc,
    boe_glc,
    boe_iadb,
    fred,
    mof_japan,
    rba,
    sec,
    snb,
    us_treasury,
    world_bank,
)
from tests.sources.feeds import (
    test_bls,
    test_bls_calendar,
    test_boc,
    test_boe_glc,
    test_boe_iadb,
    test_boj,
    test_fred,
    test_fred_realtime,
    test_mof_japan,
    test_rba,
    test_sec_reference,
    test_snb,
    test_us_treasury,
    test_world_bank,
)
from tests.support import central_banks, invented_fred, sdmx_invented, sec_invented
from tests.support.workbooks import zipped

#: What is appended to a text: a character that PostgreSQL's texts have not, half of one that takes two, and more than its
#: indexes take, which is not to be shortened by packing.
LONG = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=6_000))
KINDS = {"nul": "\0", "surrogate": "\ud800", "long": LONG}
#: In place of a number: more than 64 bits, and more than a float can be.
HUGE = 10**30

Body = Any
#: Path of a place in a body → the body with something appended there.
Poisoned = Iterator[tuple[str, bytes]]


class Sample(NamedTuple):
    """A response of a feed that is read well, its source and series, and its poisoned copies."""

    name: str
    reader: Connector
    source: Source
    series: Mapping[str, SeriesSpec]
    url: str
    body: bytes
    poisoned: Callable[[], Poisoned]


# -- JSON ---------------------------------------------------------------------------------------------------------------


def _places(value: Body, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all texts and numbers, and of keys (marked by a None behind them)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key, None)
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _places(inner, (*path, place))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path


def _shape(path: tuple[Any, ...]) -> str:
    return ".".join("*" if isinstance(step, int) else "(key)" if step is None else str(step) for step in path)


def _with(body: Body, path: tuple[Any, ...], put: Callable[[Body], Body]) -> bytes:
    body = copy.deepcopy(body)
    holder = body
    *way, last = path[:-1] if path[-1] is None else path
    for step in way:
        holder = holder[step]
    if path[-1] is None:
        inside = dict(holder)
        holder.clear()
        holder.update({(put(key) if key == last else key): value for key, value in inside.items()})
    else:
        holder[last] = put(holder[last])
    return json.dumps(body).encode()


def of_json(body: Body) -> Callable[[], Poisoned]:
    def poisoned() -> Poisoned:
        seen = set()
        for path in _places(body):
            shape = _shape(path)
            if shape in seen:
                continue
            seen.add(shape)
            value = body
            for step in path:
                value = step if step is None else value[step]
            if path[-1] is None or isinstance(value, str):
                for kind, what in KINDS.items():
                    yield f"{shape} {kind}", _with(body, path, lambda text, what=what: text + what)
            else:
                yield f"{shape} huge", _with(body, path, lambda _: HUGE)

    return poisoned


# -- text ---------------------------------------------------------------------------------------------------------------

_PIECE = re.compile(r"[^,;\t\r\n\"<>=:]+")


def of_text(body: str, encoding: str = "utf-8", lines: int = 12) -> Callable[[], Poisoned]:
    """Of a table or a tree, what stands between its marks, in its first lines; of what is alike the first."""

    def poisoned() -> Poisoned:
        head = "".join(body.splitlines(keepends=True)[:lines])
        seen = set()
        for found in _PIECE.finditer(head):
            text = found[0].strip()
            alike = re.sub(r"[0-9]+", "0", text)
            if not text or alike in seen:
                continue
            seen.add(alike)
            for kind, what in KINDS.items():
                told = body[: found.end()].encode(encoding, "surrogatepass")
                raw = what.encode("utf-8", "surrogatepass")
                yield f"{text} {kind}", told + raw + body[found.end() :].encode(encoding)

    return poisoned


# -- tables in archives -----------------------------------------------------------------------------------------------------


def of_dataset() -> Poisoned:
    for names, made in (
        (sec_invented.SUB, lambda field, what: sec_invented.dataset([_appended(sec_invented.submission(), field, what)], [sec_invented.amount()])),
        (sec_invented.NUM, lambda field, what: sec_invented.dataset([sec_invented.submission()], [_appended(sec_invented.amount(), field, what)])),
    ):  # fmt: skip
        for field in names:
            for kind, what in KINDS.items():
                if kind != "surrogate":
                    yield f"{field} {kind}", made(field, what)


def _appended(row: dict[str, str], field: str, what: str) -> dict[str, str]:
    return row | {field: row[field] + what}


def of_workbook() -> Poisoned:
    for place, name in ((0, "title"), (2, "label"), (3, "maturity")):
        for kind, what in (("long", LONG), ("short", "x")):
            head = copy.deepcopy(test_boe_glc.HEAD)
            head[place][0] = str(head[place][0]) + what
            yield f"{name} {kind}", zipped({test_boe_glc.NAME: test_boe_glc.book(head=head)})


# -- every feed -------------------------------------------------------------------------------------------------------------


def _sec(name: str, path: str, body: Body, poisoned: Callable[[], Poisoned] | None = None) -> Sample:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    made = poisoned or of_json(body)
    host = "www.sec.gov" if path.startswith("/files") else "data.sec.gov"
    return Sample(name, sec.CONNECTOR, central_banks.source("sec"), {}, f"https://{host}{path}", raw, made)


def _fred(name: str, path: str, body: Body) -> Sample:
    source, raw = invented_fred.source(), json.dumps(body).encode()
    return Sample(name, fred.CONNECTOR, source, invented_fred.SERIES, invented_fred.BASE + path, raw, of_json(body))


def _text(name: str, reader: Connector, of: Any, url: str, body: str, encoding: str = "utf-8", **more: Any) -> Sample:
    return Sample(
        name,
        reader,
        of.SOURCE,
        of.SERIES,
        url,
        body.encode(encoding),
        of_text(body, encoding.removesuffix("-sig"), **more),
    )


def samples() -> list[Sample]:
    """One or more of each feed."""
    rates = {
        native: msgspec.structs.replace(one, indicator=f"rate_{place}")
        for place, (native, one) in enumerate(sdmx_invented.SERIES.items())
    }
    calendar = test_bls_calendar.calendar(
        test_bls_calendar.event(more="SEQUENCE:2\nLAST-MODIFIED:20260601T120000Z\nURL:https://www.bls.gov/cpi/\n"),
        zones=test_bls_calendar.rules("US-Eastern"),
    ).decode()
    cik = sec_invented.CIK
    facts, told = sec_invented.facts_body(), sec_invented.submissions_body()
    glc = zipped({test_boe_glc.NAME: test_boe_glc.book()})
    return [
        Sample("bls", bls.CONNECTOR, test_bls.SOURCE, test_bls.SERIES, test_bls.URL, test_bls.TEXT.encode(), of_json(json.loads(test_bls.TEXT))),
        Sample("bls-calendar", bls_calendar.CONNECTOR, central_banks.source("bls-calendar"), {}, test_bls_calendar.URL, calendar.encode(), of_text(calendar, lines=60)),
        Sample("boc", boc.CONNECTOR, test_boc.SOURCE, test_boc.SERIES, f"{test_boc.BASE}{test_boc.NAMES}/json?start_date=2099-01-05", test_boc.TEXT.encode(), of_json(json.loads(test_boc.TEXT))),
        Sample("boe-glc", boe_glc.CONNECTOR, test_boe_glc.SOURCE, test_boe_glc.SERIES, test_boe_glc.LATEST, glc, of_workbook),
        _text("boe-iadb", boe_iadb.CONNECTOR, test_boe_iadb, test_boe_iadb.CSV, test_boe_iadb.TEXT),
        _text("boe-xml", boe_iadb.CONNECTOR, test_boe_iadb, test_boe_iadb.XML, test_boe_iadb.TWO_CUBES),
        Sample("boj", test_boj.READER, test_boj.SOURCE, test_boj.SERIES, test_boj.URL, test_boj.TEXT.encode(), of_json(json.loads(test_boj.TEXT))),
        _text("mof-japan", mof_japan.CONNECTOR, test_mof_japan, test_mof_japan.CURRENT, test_mof_japan.TEXT, "cp932"),
        _text("rba", rba.CONNECTOR, test_rba, test_rba.F1, test_rba.TEXT, "utf-8-sig"),
        _text("snb", snb.CONNECTOR, test_snb, f"{test_snb.PORTAL}rendoblid/data/csv/en", test_snb.TEXT, "utf-8-sig"),
        Sample("treasury", us_treasury.CONNECTOR, central_banks.source("us-treasury-par", declared_release="same_day"), test_us_treasury.SERIES, f"{test_us_treasury.URL}2099", test_us_treasury.TWO_DAYS.encode(), of_text(test_us_treasury.TWO_DAYS)),
        Sample("world-bank", world_bank.CONNECTOR, test_world_bank.SOURCE, test_world_bank.SERIES, test_world_bank.URL, test_world_bank.TEXT.encode(), of_json(json.loads(test_world_bank.TEXT))),
        Sample("sdmx-csv", sdmx_invented.reader(), sdmx_invented.SOURCE, rates, sdmx_invented.URL, sdmx_invented.CSV.encode(), of_text(sdmx_invented.CSV)),
        Sample("sdmx-json", sdmx_invented.reader(), sdmx_invented.SOURCE, rates, sdmx_invented.URL, sdmx_invented.json_2().encode(), of_json(json.loads(sdmx_invented.json_2()))),
        _fred("fred", "series/observations?series_id=QRT", test_fred_realtime.GOOD),
        _fred("fred-tags", "series/tags?series_id=MON", test_fred.tags(("public domain: citation requested", "cc"))),
        _sec("sec-facts", f"/api/xbrl/companyfacts/CIK{cik:010d}.json", facts),
        _sec("sec-submissions", f"/submissions/CIK{cik:010d}.json", told),
        _sec("sec-tickers", "/files/company_tickers.json", test_sec_reference.TICKERS),
        _sec("sec-exchanges", "/files/company_tickers_exchange.json", test_sec_reference.LISTINGS),
        _sec("sec-dataset", "/files/dera/financial-statement-data-sets/2009q3.zip", sec_invented.dataset([sec_invented.submission()], [sec_invented.amount()]), of_dataset),
    ]  # fmt: skip
