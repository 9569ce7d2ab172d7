"""Sector, industry and template of a company, by the industry code (SIC) under which it is registered with the SEC."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple, get_args

import msgspec

from almanac.catalog import tables
from almanac.catalog.checks import twice
from almanac.catalog.tables import Problems

Template = Literal["industrial", "bank", "broker", "manager", "insurer", "reit", "fund"]
TEMPLATES: tuple[str, ...] = get_args(Template)
_CODE = re.compile(r"[0-9]{3,4}")
_RANGE = re.compile(r"([0-9]{4})(?:-([0-9]{4}))?")


class Classified(NamedTuple):
    """`industry`: the title of the code on the SEC's list, None where it is not on it. `template`: one of TEMPLATES."""

    sector: str
    industry: str | None
    template: str


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    codes: tuple[str, ...]


class _Template(_Group, frozen=True, forbid_unknown_fields=True):
    name: Template


class _File(msgspec.Struct, frozen=True):
    unclassified: str
    sector: tuple[_Group, ...]
    template: tuple[_Template, ...]


class _Industries(msgspec.Struct, frozen=True):
    industry: dict[str, str]


def classify(sic: str | None) -> Classified:
    """
    Return sector, industry and template by the code, with or without its leading zero (`3571`). None, an unknown one and what
    is no code at all are unclassified.
    """
    code = (sic or "").strip()
    return shipped()[code.zfill(4) if _CODE.fullmatch(code) else ""]


@functools.cache
def shipped() -> Mapping[str, Classified]:
    """Return what every code of four digits means; the empty one is unclassified. Raise CatalogError with one line per problem."""
    industries = tables.read("companies/industries.toml", _Industries).industry
    problems = Problems("companies/sectors.toml")
    file = tables.decode(tables.packaged(problems.file), _File, problems)
    sectors = _by_code("sector", file.sector, problems)
    templates = _by_code("template", file.template, problems)
    if file.unclassified not in {group.name for group in file.sector}:
        problems.add("unclassified", f"{file.unclassified} is no sector")
    for code in industries:
        if re.fullmatch("[0-9]{4}", code) is None:
            problems.add(f"industry {code!r}", "is not a code of four digits")
        elif code not in sectors:
            problems.add(f"industry {code}", "has no sector")
    problems.check([])
    return {
        code: Classified(sectors.get(code, file.unclassified), industries.get(code), templates.get(code, TEMPLATES[0]))
        for code in ("", *(f"{number:04}" for number in range(10_000)))
    }


def _by_code(table: str, groups: Collection[_Group], problems: Problems) -> dict[str, str]:
    """Return the group of every code in a range (`8731`, `2833-2836`); the narrowest range that holds a code decides."""
    narrowest: dict[str, tuple[int, str]] = {}
    for name in twice(group.name for group in groups):
        problems.add(f"{table} {name}", "is there twice")
    for group in groups:
        where = f"{table} {group.name}"
        for text in group.codes:
            match = _RANGE.fullmatch(text)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
            if first > last:
                problems.add(where, f"{text!r} is not a code or a range of codes, like 8731 or 2833-2836")
            for code in (f"{number:04}" for number in range(first, last + 1)):
                width, other = narrowest.get(code, (10_000, ""))
                if width == last - first:
                    problems.add(where, f"{code} is in two ranges of one width, the other is of {other}")
                elif last - first < width:
                    narrowest[code] = last - first, group.name
    return {code: name for code, (_, name) in narrowest.items()}
