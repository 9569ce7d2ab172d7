"""Statements as a table: lines in the order of accounts, the newest period left, each cell with how it came to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from almanac.dashboard.explorer.companies.statement_lines import FINDINGS, LINES, METHODS, SCALES, StatementLine
from almanac.dashboard.words.numbers import MINUS, full, in_scale, places, scale
from almanac.dashboard.words.units import unit
from almanac.dashboard.words.values import Look, look, look_field

Row = dict[str, Any]

#: Decimals of what is per share, at least and at most, and of amounts that are not whole in their scale.
_PER_SHARE_DIGITS, _PER_SHARE_MOST, _AMOUNT_DIGITS = 2, 4, 1
#: A number whose unit stands at the head of the table, or beside its line.
_NUMBER = unit("index")
_NOTHING = look({})


class Was(msgspec.Struct, frozen=True):
    """What a cell was before the filing that changed it, and both filings (statements of the interface)."""

    value: float
    before: Row
    after: Row
    #: The split of shares that made the difference, in words.
    split: str = ""


class StatementCell(msgspec.Struct, frozen=True):
    """One number of one period. `derived` names its place below; `was`: before it was restated."""

    look: Look
    derived: str = ""
    was: Was | None = None
    was_look: Look | None = None


class TableLine(msgspec.Struct, frozen=True):
    """One line over all periods. `note`: its unit, where it is not the table's."""

    key: str
    title: str
    level: int
    note: str
    cells: list[StatementCell]


class How(msgspec.Struct, frozen=True):
    """How cells of a line were computed: method, series, and the statements it holds for."""

    id: str
    title: str
    method: str
    inputs: tuple[str, ...]
    of: list[Row]


class StatementTable(msgspec.Struct, frozen=True):
    """A kind of statement. `missing` are titles of lines that none of the periods has."""

    statements: list[Row]
    lines: list[TableLine]
    how: list[How]
    missing: list[str]
    #: Why the values may not be shown; None: they may.
    withheld: str | None = None


#: What a cell was, by the place of its statement and the line's key.
Restated = Mapping[tuple[int, str], Was]


def table(kind: str, statements: Sequence[Row], restated: Restated, scale_name: str) -> StatementTable:
    """The table of statements, the newest first. Amounts are in the scale; full numbers are in each look."""
    withheld = next((reason for one in statements if (reason := withheld_for(one)) is not None), None)
    if withheld is not None:
        return StatementTable(list(statements), [], [], [], withheld)
    known = LINES[kind]
    there = {key for one in statements for key in one["items"]}
    extra = sorted(there - {line.key for line in known})
    lines = [*known, *(StatementLine(key, _plain(key)) for key in extra)]
    how = _how(lines, statements)
    place = {(id(one), found.title): found.id for found in how for one in found.of}
    power = SCALES[scale_name]
    shown = [_line(line, statements, restated, place, power) for line in lines if line.key in there]
    return StatementTable(list(statements), shown, how, [line.title for line in lines if line.key not in there])


def withheld_for(statement: Row) -> str | None:
    """Why a statement's values may not be shown; None: they may."""
    quality = statement["quality"]
    if quality["status"] != "withheld":
        return None
    return next((check["detail"] for check in quality["checks"] if check["detail"]), "The licence forbids it.")


def failed_checks(statements: Iterable[Row]) -> list[tuple[str, list[tuple[str, list[Row]]]]]:
    """What the checks of the statements found wrong: a sentence for each check, with its findings and the statements of each."""
    found: dict[str, dict[str, list[Row]]] = {}
    for one in statements:
        for check in one["quality"]["checks"]:
            if check["status"] == "failed":
                found.setdefault(check["name"], {}).setdefault(in_words(check["detail"] or ""), []).append(one)
    return [(FINDINGS.get(name, f"{_plain(name)} failed"), list(details.items())) for name, details in found.items()]


def absent_lines(statements: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Which lines are left out although something of them is filed, in words, and of which statements, each once."""
    found: dict[str, list[Row]] = {}
    for one in statements:
        for check in one["quality"]["checks"]:
            if check["name"] == "absent_with_reason" and check["detail"]:
                found.setdefault(in_words(check["detail"]), []).append(one)
    return list(found.items())


def _line(
    line: StatementLine, statements: Sequence[Row], restated: Restated, place: Mapping[Any, str], power: int
) -> TableLine:
    shares, per_share = "shares" in line.key and "repurchase" not in line.key, "per_share" in line.key
    power = 0 if per_share else power
    # What we computed has more digits than anybody stated: the column is as precise as what was filed.
    filed = [
        float(one["items"][line.key])
        for one in statements
        if line.key in one["items"] and not (per_share and line.key in one["derivedItems"])
    ]
    most = max((places(in_scale(value, scale(power))) for value in filed), default=0)
    digits = min(max(most, _PER_SHARE_DIGITS), _PER_SHARE_MOST) if per_share else min(most, _AMOUNT_DIGITS)
    cells = [
        _cell(line, one, restated.get((number, line.key)), place.get((id(one), line.title), ""), power, digits)
        for number, one in enumerate(statements)
    ]
    note = "per share" if per_share else "shares" + (f", {scale(power).plural}" if power else "") if shares else ""
    return TableLine(line.key, line.title, line.level, note, cells)


def _cell(line: StatementLine, statement: Row, was: Was | None, derived: str, power: int, digits: int) -> StatementCell:
    if line.key not in statement["items"]:
        return StatementCell(_NOTHING)
    value = float(statement["items"][line.key])
    if was is None:
        return StatementCell(_look(value, power, digits), derived)
    found = _look(value, power, digits, was.value)
    if was.split:
        # More shares for the same money are no revision, neither up nor down.
        found = found._replace(
            change=None, direction=None, note=was.split, spoken=f"{found.text}, restated for a {was.split}"
        )
    return StatementCell(found, derived, was, _look(was.value, power, digits))


def _look(value: float, power: int, digits: int, was: float | None = None) -> Look:
    """A number in a scale, whose whole one stays beside it."""
    told = scale(power)
    if was is None:
        found = look_field(in_scale(value, told), _NUMBER, digits=digits)
    else:
        row = {"valueNumeric": in_scale(value, told), "unit": "index", "revisionStatus": "revised"}
        found = look(row, was=in_scale(was, told), digits=digits, history=True)
    return found._replace(full=full(value))


def _how(lines: Iterable[StatementLine], statements: Sequence[Row]) -> list[How]:
    found: list[How] = []
    for line in lines:
        groups: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        for one in statements:
            if line.key in one["items"] and (item := one["derivedItems"].get(line.key)) is not None:
                groups.setdefault((item["method"], tuple(item["derivedFrom"])), []).append(one)
        for number, ((method, inputs), of) in enumerate(groups.items(), 1):
            told = METHODS.get(method, _plain(method))
            found.append(How(f"how-{line.key}-{number}", line.title, told, inputs, of))
    return found


#: Keys of lines as they stand in running text: `net income`, `EBITDA`.
_IN_TEXT = {
    line.key: line.title if line.title.isupper() else line.title[0].lower() + line.title[1:]
    for lines in LINES.values()
    for line in lines
}


def in_words(detail: str) -> str:
    """A finding of a check with its lines called as the table calls them."""
    told = []
    for word in detail.split(" "):
        key = word.rstrip(",;:")
        said = _IN_TEXT.get(key, key)
        # A check writes numbers as programs do; people read a minus.
        told.append((MINUS + said[1:] if said[:1] == "-" and said[1:2].isdigit() else said) + word[len(key) :])
    return " ".join(told)


def _plain(key: str) -> str:
    return key.replace("_", " ").capitalize()


def money_head(currency: str | None, scale_name: str) -> str:
    """What the amounts of a table are in: `USD millions`."""
    return unit("local_currency", currency=currency, power=0).head + (f" {scale_name}" if SCALES[scale_name] else "")
