"""
Parser of the filter text of both screeners.

    revenue_ttm:gt:1e9,sector:in:Technology|"Health Care",industry:eq:"Fire, Marine & Casualty Insurance"

Clauses `field:operator:value` are joined by commas, at most 30; each has at most 100 values, of 200 characters at most.
Spaces around a part do not count. A value in double quotes is text as it stands, `""` for a quote; outside of quotes `,` `|`
and `:` separate. Numbers are written `-?digits[.digits][e±digits]` in ASCII digits.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

#: Limits: characters of a filter, its clauses, the values of one clause, and the characters of a value.
LONGEST = 8_000
MOST_CLAUSES, MOST_VALUES, LONGEST_VALUE = 30, 100, 200
#: What each operator requires of a value.
MEANINGS = {
    "gt": "greater than the value",
    "lt": "less than the value",
    "gte": "greater than or equal to the value",
    "lte": "less than or equal to the value",
    "eq": "equal to the value; for text whatever its case",
    "in": "equal to one of the values, which are separated by |",
}
NUMBER_OPERATORS = tuple(MEANINGS)
TEXT_OPERATORS = ("eq", "in")
SYNTAX = (
    "field:operator:value, joined by commas, at most 30; all must hold. Values of `in` are separated by |, at most 100 of "
    "200 characters each. "
    "A number is written in digits, like 5, -0.25 or 1.5e9. A text with a comma, a colon or a | goes in double quotes, "
    'a quote inside is doubled: industry:eq:"Fire, Marine & Casualty Insurance". '
    "An entity without a value for a filtered field is left out."
)

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:e([+\- ]?)([0-9]+))?")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


class Field(NamedTuple):
    """A field that clauses may name. Its values are texts if `text` is true, or else numbers."""

    name: str
    text: bool

    @property
    def operators(self) -> tuple[str, ...]:
        return TEXT_OPERATORS if self.text else NUMBER_OPERATORS


class Clause(NamedTuple):
    """
    One condition. `values` are numbers or texts folded for comparison (`folded`); only `in` has more than one.

    `head` is the field and operator as written, `written` the values as written, without double quotes around a text.
    """

    field: Field
    operator: str
    values: tuple[float, ...] | tuple[str, ...]
    head: str = ""
    written: tuple[str, ...] = ()


class FilterError(Exception):
    """
    A filter that cannot be read. The message continues a sentence that begins with the filter's name.

    `clause` is the faulty clause as written, `code` a short stable word, `allowed` what could stand there. `word` is
    the unknown name, if that is the fault, so that a near match in `allowed` can be suggested.
    """

    def __init__(
        self, clause: str, trouble: str, *, code: str, allowed: Sequence[str] | None = None, word: str | None = None
    ) -> None:
        super().__init__(trouble)
        self.clause = clause
        self.code = code
        self.allowed = allowed
        self.word = word


def parse(text: str, find: Callable[[str], Field | None], names: Sequence[str]) -> tuple[Clause, ...]:
    """
    Parse a filter into its clauses, in the order written. Raises FilterError for the first unreadable one.

    `find` returns the field of a name, or None if there is none. `names` lists all fields, for the error.
    """
    clauses: list[Clause] = []
    for number, written in enumerate(_split(text, ","), 1):
        clause = written.strip()
        if number > MOST_CLAUSES:
            raise FilterError(clause, f"is one too many: at most {MOST_CLAUSES} are allowed", code="range")
        clauses.append(_clause(clause, find, names))
    return tuple(clauses)


def written(text: str) -> list[tuple[str, list[str]]]:
    """
    Split a filter into its clauses, each with its parts between colons, without checking them. An empty text has no
    clauses.
    """
    clauses = [clause.strip() for clause in _split(text, ",")] if text.strip() else []
    return [(clause, _parts(clause)) for clause in clauses]


def _parts(clause: str) -> list[str]:
    return [part.strip() for part in _split(clause, ":")]


def value_written(value: str, *, several: bool) -> str:
    """
    Return a value as it must stand in a clause, in double quotes if it contains a separator.

    With `several`, the value holds values of `in`, separated by `|`; otherwise a `|` is part of it. A value with
    balanced double quotes is left as it is. One with an unclosed quote is quoted whole, because it would swallow the
    clauses after it.
    """
    if value.count('"') % 2:
        # An open quote would swallow the clauses after it.
        doubled = value.replace('"', '""')
        return f'"{doubled}"'
    if '"' in value:
        return value
    parts = value.split("|") if several else [value]
    marks = ",:" if several else ",:|"
    return "|".join(f'"{part.strip()}"' if any(mark in part for mark in marks) else part.strip() for part in parts)


def _clause(clause: str, find: Callable[[str], Field | None], names: Sequence[str]) -> Clause:
    if clause.count('"') % 2:
        raise FilterError(clause, "has a double quote that is not closed", code="quote")
    parts = _parts(clause)
    if len(parts) != 3 or not all(parts):
        hint = "; a value with a colon goes in double quotes" if len(parts) > 3 else ""
        raise FilterError(clause, f"is not of the form field:operator:value{hint}", code="syntax")
    name, word, written = parts
    field = find(name)
    if field is None:
        raise FilterError(clause, f"names no field there is ({_cut(name)})", code="field", allowed=names, word=name)
    operator = word.lower()
    if operator not in field.operators:
        kind = "text" if field.text else "number"
        raise FilterError(
            clause,
            f"has the operator {_cut(word)}; for the {kind} {field.name} it must be one of {', '.join(field.operators)}",
            code="operator",
            allowed=field.operators,
            word=word,
        )
    values = [value.strip() for value in _split(written, "|")]
    if len(values) > 1 and operator != "in":
        raise FilterError(
            clause,
            f"has {len(values)} values, and only in takes several; a text with a | goes in double quotes",
            code="values",
            allowed=["in"],
        )
    if len(values) > MOST_VALUES:
        raise FilterError(clause, f"has {len(values):,} values; at most {MOST_VALUES} are allowed", code="values")
    if any(len(value) > LONGEST_VALUE for value in values):
        raise FilterError(clause, f"has a value of more than {LONGEST_VALUE} characters", code="value")
    head = f"{name}:{word}"
    if field.text:
        texts = tuple(_text(clause, value) for value in values)
        return Clause(field, operator, tuple(folded(text) for text in texts), head, texts)
    return Clause(field, operator, tuple(_number(clause, field, value) for value in values), head, tuple(values))


def _split(text: str, separator: str) -> Iterator[str]:
    """
    Yield the parts between separators outside double quotes. A doubled quote inside a quoted part closes and reopens
    it.
    """
    start, inside = 0, False
    for place, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif letter == separator and not inside:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _text(clause: str, written: str) -> str:
    if not written:
        raise FilterError(clause, 'has an empty value; no text is written ""', code="value")
    if '"' not in written:
        return written
    match = _QUOTED.fullmatch(written)
    if match is None:
        raise FilterError(
            clause,
            "has a double quote inside a value; quotes enclose all of it, and one inside is doubled",
            code="quote",
        )
    return match[1].replace('""', '"')


def _number(clause: str, field: Field, written: str) -> float:
    match = _NUMBER.fullmatch(written)
    value = math.inf
    if match is not None:
        digits, sign, exponent = match.groups()
        # An unescaped `+` in a query string arrives as a space, which can mean nothing else here.
        value = float(digits if exponent is None else f"{digits}e{'-' if sign == '-' else ''}{exponent}")
    if not math.isfinite(value):
        raise FilterError(
            clause,
            f"needs a number such as 5, -0.25 or 1.5e9 for {field.name}, not {_cut(written)}",
            code="number",
            allowed=["-?digits[.digits][e±digits]"],
        )
    return value + 0.0


@functools.lru_cache(maxsize=4_096)
def folded(text: str) -> str:
    """Normalise a text for comparison, ignoring case and the composition of accents."""
    return unicodedata.normalize("NFC", text).casefold()


def _cut(text: str) -> str:
    """Quote a client's word for a message: at most 40 characters, all printable."""
    shown = text if len(text) <= 40 else text[:39] + "…"
    return "'" + "".join(letter if letter.isprintable() else "\ufffd" for letter in shown) + "'"
