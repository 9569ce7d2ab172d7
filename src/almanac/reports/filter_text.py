"""
The filter text of both screeners, read into clauses.

    revenue_ttm:gt:1e9,sector:in:Technology|"Health Care",industry:eq:"Fire, Marine & Casualty Insurance"

Clauses `field:operator:value` are joined by commas, at most 30; each has at most 100 values, of 200 characters at most.
`field:change_1y:operator:value` asks for the change of a number over one year. `@field` in place of a number compares two
fields: `cash_and_equivalents:gt:@total_debt`. Spaces around a part do not count. A value in double quotes is text as it stands,
`""` for a quote; outside of quotes `,` `|` and `:` separate. Numbers are written `-?digits[.digits][e±digits]` in ASCII digits.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

#: Characters of a filter; its clauses, values of one clause, and characters of a value.
LONGEST = 8_000
MOST_CLAUSES, MOST_VALUES, LONGEST_VALUE = 30, 100, 200
#: What each operator asks of a value.
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
#: Between two fields.
FIELD_OPERATORS = ("gt", "lt", "gte", "lte", "eq")
#: What a field begins with that stands in place of a number.
AT = "@"
SYNTAX = (
    "field:operator:value, joined by commas, at most 30; all must hold. field:change_1y:operator:value asks for the change of a "
    "number over one year: the latest value less that of the same series for the period one year before, both as known at the "
    "moment asked. field:operator:@field, with gt, lt, gte, lte or eq, compares the latest values of two fields of one unit, and in "
    "one currency, like cash_and_equivalents:gt:@total_debt; @field:change_1y is a change; of a company both must be of periods that "
    "end on one day. Values of `in` are separated by |, at most 100 of "
    "200 characters each. "
    "A number is written in digits, like 5, -0.25 or 1.5e9. A text with a comma, a colon or a | goes in double quotes, "
    'a quote inside is doubled: industry:eq:"Fire, Marine & Casualty Insurance". '
    "An entity without a value for a filtered field, or without one a year before, is left out."
)
#: What may stand between a field and its operator: the change of a number over one year.
CHANGES = ("change_1y",)

_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:e([+\- ]?)([0-9]+))?")
_FIELD = re.compile(rf"{AT}\s*\w+\s*:\s*(?:{'|'.join(CHANGES)})", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


class Field(NamedTuple):
    """
    A field that clauses may name. `text`: its values are texts, else numbers. `unchanging`: why no change of it can be asked
    for, where none can.
    """

    name: str
    text: bool
    unchanging: str = ""

    def over(self, change: str) -> Field:
        """The field of its change: `total_debt:change_1y`."""
        return Field(f"{self.name}:{change}", text=False)

    @property
    def operators(self) -> tuple[str, ...]:
        return TEXT_OPERATORS if self.text else NUMBER_OPERATORS


class Clause(NamedTuple):
    """
    One condition. `values`: numbers, or texts folded for comparison (`folded`); more than one for `in` only.

    `head`: field and operator as they were written, and `written` the values, a text without its double quotes. A clause between
    two fields has neither values nor what was written of them, but `against`.
    """

    field: Field
    operator: str
    values: tuple[float, ...] | tuple[str, ...]
    head: str = ""
    written: tuple[str, ...] = ()
    #: The field that is compared with, in place of values.
    against: Field | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that a row must have a value of."""
        return (self.field,) if self.against is None else (self.field, self.against)


class FilterError(Exception):
    """
    A filter that cannot be read. The message continues a sentence that begins with the filter's name.

    `clause` is the culprit as it was written, `code` a short stable word, `allowed` what could stand there. `word` is
    the name nobody knows, where that is the trouble: one of `allowed` may be near it.
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
    The clauses of a filter, in the order written. Raises FilterError for the first that cannot be read.

    `find` gives the field a name means, None where there is none; `names` are the fields there are, for the error.
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
    Clauses as they are written, each with its parts between colons, be they right or wrong; none of an empty text. A field
    and the change of it that is meant are one part.
    """
    clauses = [clause.strip() for clause in _split(text, ",")] if text.strip() else []
    return [(clause, _parts(clause)) for clause in clauses]


def _parts(clause: str) -> list[str]:
    """Parts of a clause between colons, `total_debt:change_1y` and `@total_debt:change_1y` as one."""
    parts = [part.strip() for part in _split(clause, ":")]
    if len(parts) > 3 and parts[1].lower() in CHANGES:
        parts[:2] = [f"{parts[0]}:{parts[1].lower()}"]
    if len(parts) > 3 and parts[-1].lower() in CHANGES and parts[-2].startswith(AT):
        parts[-2:] = [f"{parts[-2]}:{parts[-1].lower()}"]
    return parts


def value_written(value: str, *, several: bool) -> str:
    """
    A value as it stands in a clause: in double quotes where a comma or a colon would end it.

    `several`: it holds values of `in`, which a | separates; else a | is part of it. What has quotes is left as it is, but for one that is not closed.
    """
    if value.count('"') % 2:
        # One that is open would swallow the clauses behind it.
        doubled = value.replace('"', '""')
        return f'"{doubled}"'
    if '"' in value or _FIELD.fullmatch(value):
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
        form = f"field:operator:value or field:{CHANGES[0]}:operator:value"
        raise FilterError(clause, f"is not of the form {form}{hint}", code="syntax")
    name, word, written = parts
    field = _field(clause, name, find, names)
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
    if written.startswith(AT) and not field.text:
        against = _field(clause, written[len(AT) :].strip(), find, names)
        _check_pair(clause, field, word, against)
        return Clause(field, operator, (), f"{name}:{word}", (), against)
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
        if any(value.startswith(AT) and find(value[len(AT) :].strip()) for value in values):
            said = f"compares the text {field.name} with a field, and only numbers are compared; a text with an {AT} goes in double quotes"
            raise FilterError(clause, said, code="compare")
        texts = tuple(_text(clause, value) for value in values)
        return Clause(field, operator, tuple(folded(text) for text in texts), head, texts)
    if any(not _NUMBER.fullmatch(value) and find(value) for value in values):
        said = f"needs a number for {field.name}; a field in place of a number begins with {AT}, like {AT}{field.name}"
        raise FilterError(clause, said, code="number")
    return Clause(field, operator, tuple(_number(clause, field, value) for value in values), head, tuple(values))


def _field(clause: str, name: str, find: Callable[[str], Field | None], names: Sequence[str]) -> Field:
    """The field that a name means, or that of its change. Raises FilterError where there is none."""
    plain, _, change = name.rpartition(":")
    if change not in CHANGES:
        plain, change = name, ""
    field = find(plain)
    if field is None:
        raise FilterError(clause, f"names no field there is ({_cut(plain)})", code="field", allowed=names, word=plain)
    return changed(clause, field, change) if change else field


def _check_pair(clause: str, field: Field, word: str, against: Field) -> None:
    """Raise FilterError where two fields cannot be compared whatever their units."""
    if word.lower() not in FIELD_OPERATORS:
        raise FilterError(
            clause,
            f"has the operator {_cut(word)}; between two fields it must be one of {', '.join(FIELD_OPERATORS)}",
            code="operator",
            allowed=FIELD_OPERATORS,
            word=word,
        )
    if against.text:
        raise FilterError(
            clause, f"compares the number {field.name} with {against.name}, which is a text", code="compare"
        )
    if against.name == field.name:
        raise FilterError(clause, f"compares {field.name} with itself", code="compare")


def changed(clause: str, field: Field, change: str) -> Field:
    """The field of a change. Raises FilterError where a field has none."""
    why = f"{field.name} is a text" if field.text else field.unchanging
    if why:
        raise FilterError(clause, f"asks for a change over one year, and {why}", code="change")
    return field.over(change)


def _split(text: str, separator: str) -> Iterator[str]:
    """Parts between separators that stand outside of double quotes. A doubled quote inside leaves and enters again."""
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
        # An unescaped `+` of a query string reaches us as a space: it can mean nothing else here.
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
    """A text as texts are compared: whatever its case, and however its accents are composed."""
    return unicodedata.normalize("NFC", text).casefold()


def _cut(text: str) -> str:
    """A client's own word, fit to stand in a message."""
    shown = text if len(text) <= 40 else text[:39] + "…"
    return "'" + "".join(letter if letter.isprintable() else "\ufffd" for letter in shown) + "'"
