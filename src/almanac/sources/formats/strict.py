"""Strict readers that several feeds share: numbers, days, text, CSV, JSON and XML.

Every function takes `where`, the words a message starts with, and raises SourceChanged naming the culprit. Nothing is
repaired: a number that Python would forgive (`1_0`, ` 1 `, `٣`) was not written by the publisher. Where a program wrote that
there is no number (`NaN`, an infinity), the doubt is of one row and costs that row alone: see `value`.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from datetime import date
from typing import Any, Literal, TypeVar

import msgspec
from lxml import etree

from almanac.sources.base import DOUBT, Parsed, SourceChanged

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: How programs write that a computation gave no number (IEEE 754; `INF` of XML Schema; errors of spreadsheets).
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)|#(?:N/A|DIV/0!|NUM!|VALUE!|REF!|NAME\?|NULL!)", re.IGNORECASE)
#: A day without separators.
COMPACT_DAY = re.compile(r"(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})")
#: English short names, whatever the locale.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = re.compile(r"(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})")
_SHOWN = 60
#: Bytes of a text payload, and separators in it, that are read at once. Both are several times what any feed of ours
#: sends; they bound the memory of a reader, for a separator of one byte makes objects of fifty and more.
BYTES, PARTS = 64 << 20, 2_000_000
_LINE = 1 << 20
#: What msgspec says of a field that a shape has not: its name, and the path of the objects that have it.
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.+?)`(?: - at `\$(?P<path>.*)`)?")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?:\.\.\.|[0-9]+)\]")
_PLACE = re.compile(r"\[(?:\.\.\.|[0-9]+)\]")
#: Unknown fields of one payload that are passed over. One with more is another kind of payload.
_FIELDS = 50


#: How every XML of others is read, whole or in events: nothing outside of it is looked at, no entity is expanded, and libxml2's own
#: limits on depth and size stay on.
XML_BOUNDS: Any = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


class NotFiniteError(SourceChanged):
    """A NaN, an infinity, or a number too large to be one: in doubt by itself, it says nothing against the rest of a payload."""


#: A number of a JSON payload. Serialisers write what JSON has no number for as one of these texts.
JsonNumber = float | Literal["NaN", "Infinity", "-Infinity", "INF", "-INF"]


class StrictRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A record of which every field is known: `json` reports one more."""


def shown(text: str | None) -> str:
    """Quote a piece of a payload for a message: on one line, cut to 60 characters."""
    if text is None:
        return "nothing"
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def is_not_finite(text: str) -> bool:
    """Return whether a program wrote this for the result of a computation that gave no number."""
    return _NOT_FINITE.fullmatch(text) is not None


def number(text: str | None, where: str) -> float:
    """
    Return a finite decimal number written in ASCII, with no blank, comma or underscore in it. Never negative zero.

    Raises SourceChanged, and of its kind NotFiniteError for a NaN, an infinity and what is too large for a number.
    """
    if text is None or _NUMBER.fullmatch(text) is None:
        doubt = NotFiniteError if text is not None and is_not_finite(text) else SourceChanged
        raise doubt(f"{where}: {shown(text)} is not a number")
    value = float(text)
    if not math.isfinite(value):
        raise NotFiniteError(f"{where}: {shown(text)} is too large for a number")
    return value + 0.0  # a negative zero becomes a zero


def value(written: str | float, where: str, parsed: Parsed) -> float | None:
    """
    Return the number of a cell as `number` does; None, and reported in `parsed`, of one that is not finite.

    Such a cell says neither a value nor that there is none: no block that lacks one for it may claim to be complete.
    """
    try:
        return number(written if isinstance(written, str) else repr(written), where)
    except NotFiniteError as doubt:
        parsed.meet([str(doubt)], DOUBT)
        return None


def day(text: str | None, where: str, pattern: re.Pattern[str] = _DAY, example: str = "2026-10-31") -> date:
    """
    Parse a day whose year, month and day are the groups of a pattern. Months may be numbers or English short names.

    Raise SourceChanged for any other text.
    """
    match = None if text is None else pattern.fullmatch(text)
    if match is not None:
        try:
            month = MONTHS.index(match["m"]) + 1 if match["m"] in MONTHS else int(match["m"])
            return date(int(match["y"]), month, int(match["d"]))
        except ValueError:
            pass
    raise SourceChanged(f"{where}: {shown(text)} is not a day like {example}")


def bounded(body: bytes, separator: bytes, where: str) -> None:
    """Refuse a payload that would fill the memory: too large, or of too many cells, values or elements."""
    if len(body) > BYTES:
        raise SourceChanged(f"{where} has {len(body)} bytes, more than the {BYTES} that are read")
    parts = body.count(separator)
    if parts > PARTS:
        raise SourceChanged(f"{where} has {parts} times {separator.decode()!r}, more than the {PARTS} that are read")


def text(body: bytes, encoding: str, where: str) -> str:
    """
    Decode a payload without the byte-order mark that it may begin with; one is that of UTF-8, whatever was expected.

    A byte that the encoding does not have is an error, never a replacement character.
    """
    marked = body.removeprefix(codecs.BOM_UTF8)
    if len(marked) < len(body):
        body, encoding = marked, "utf-8"
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceChanged(f"{where} is not {encoding}: byte {error.start} cannot be read") from None


def rows(body: bytes, encoding: str, where: str, delimiter: str = ",") -> list[list[str]]:
    """Return all lines of a CSV file as lists of cells, blank lines as empty lists. Quotes must close."""
    bounded(body, delimiter.encode(), where)
    longest = max(map(len, body.splitlines()), default=0)
    if longest > _LINE:
        raise SourceChanged(f"{where} has a line of {longest} bytes, more than the {_LINE} that are read")
    try:
        # `newline=""` leaves line ends inside quotes to the csv module, as its documentation asks.
        return list(csv.reader(io.StringIO(text(body, encoding, where), newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise SourceChanged(f"{where} is not CSV: {error}") from None


def json(body: bytes, shape: type[T], where: str, parsed: Parsed) -> T:
    """Decode a JSON payload of that shape. Report fields that a Struct with `forbid_unknown_fields` has not in `parsed`."""
    bounded(body, b",", where)
    try:
        return _decoded(text(body, "utf-8", where), shape, parsed)
    except msgspec.ValidationError as error:
        raise SourceChanged(f"{where}: {error}") from None
    except msgspec.DecodeError as error:
        raise SourceChanged(f"{where} is not JSON: {error}") from None
    except RecursionError:
        raise SourceChanged(f"{where} is not JSON of a feed: it is nested too deeply") from None


def _decoded(written: str, shape: type[T], parsed: Parsed) -> T:
    """Decode a JSON payload of that shape. Only one with an unknown field is decoded more than once. Raises as msgspec does."""
    unread: Any = None
    first = ""
    for _ in range(_FIELDS):
        try:
            return msgspec.json.decode(written, type=shape)
        except msgspec.ValidationError as error:
            told = _UNKNOWN.fullmatch(str(error))
            if told is None:
                raise msgspec.ValidationError(f"{first}{error}") from None
            first = first or f"{error}; "
            unread = msgspec.json.decode(written) if unread is None else unread
            name, path = told["name"], told["path"] or ""
            holders = [one for one in _at([unread], path) if isinstance(one, dict) and name in one]
            if not holders or any(len(holder) == 1 for holder in holders):
                # Nothing known is beside it: a measure by another name, or an answer of another kind.
                raise msgspec.ValidationError(f"{first}{error}") from None
            for holder in holders:
                del holder[name]
            parsed.meet([f"{_PLACE.sub('', path)}.{name}".lstrip(".")] * len(holders), "field")
            written = msgspec.json.encode(unread).decode()
    return msgspec.json.decode(written, type=shape)


def _at(values: list[Any], path: str) -> list[Any]:
    """Return the parts of values at a path of msgspec's: `.name` of an object, for `[3]` or `[...]` all of a list or an object."""
    for step in _STEP.finditer(path):
        if step["name"] is not None:
            values = [one[step["name"]] for one in values if isinstance(one, dict) and step["name"] in one]
        else:
            values = [
                inner
                for one in values
                if isinstance(one, dict | list)
                for inner in (one.values() if isinstance(one, dict) else one)
            ]
    return values


def xml(body: bytes, root: str, where: str) -> etree._Element:
    """Return the root element of an XML payload; `root` is its expected name in Clark notation (`{namespace}feed`).

    Nothing outside the payload is read, no entity is expanded, libxml2's own limits on depth and size stay on, and a
    document type declaration is refused whatever it declares: no feed of ours has one, an HTML error page does.
    """
    bounded(body, b"<", where)
    parser = etree.XMLParser(**XML_BOUNDS)
    try:
        element = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise SourceChanged(f"{where} is not well-formed XML: {error.msg}") from None
    if element.getroottree().docinfo.internalDTD:
        raise SourceChanged(f"{where} has a document type declaration (DOCTYPE)")
    if element.tag != root:
        raise SourceChanged(f"{where} starts with element {element.tag}, expected {root}")
    return element
