"""Sector, industry and template of a company, by the industry code (SIC) under which it is registered with the SEC."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from almanac.catalog.checks import twice
from almanac.catalog.tables import Problems, decode, packaged

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


class Sectors:
    """The tables, checked whole. Raises CatalogError with one line per problem."""

    def __init__(self, sectors: Mapping[str, Any], industries: Mapping[str, str]) -> None:
        problems = Problems("companies/sectors.toml")
        read = decode(sectors, _File, problems)
        self.names = tuple(group.name for group in read.sector)
        self._unclassified = read.unclassified
        self._industries = dict(industries)
        self._sectors = _by_code("sector", read.sector, problems)
        self._templates = _by_code("template", read.template, problems)
        if read.unclassified not in self.names:
            problems.add("unclassified", f"{read.unclassified} is no sector")
        for code in industries:
            if re.fullmatch("[0-9]{4}", code) is None:
                problems.add(f"industry {code!r}", "is not a code of four digits")
            elif code not in self._sectors:
                problems.add(f"industry {code}", "has no sector")
        problems.check([])

    def classify(self, sic: str | None) -> Classified:
        """Return what an industry code means. None, an unknown one and what is no code at all are unclassified."""
        code = (sic or "").strip()
        if _CODE.fullmatch(code) is None:
            return Classified(self._unclassified, None, TEMPLATES[0])
        code = code.zfill(4)
        sector, template = self._sectors.get(code, self._unclassified), self._templates.get(code, TEMPLATES[0])
        return Classified(sector, self._industries.get(code), template)


def _by_code(table: str, groups: Collection[_Group], problems: Problems) -> dict[str, str]:
    """Return the group of every code in a range (`8731`, `2833-2836`); the narrowest range that holds a code decides."""
    found: dict[str, tuple[int, str]] = {}
    for name in twice(group.name for group in groups):
        problems.add(f"{table} {name}", "is there twice")
    for group in groups:
        for text in group.codes:
            match = _RANGE.fullmatch(text)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
            if first > last:
                problems.add(
                    f"{table} {group.name}", f"{text!r} is not a code or a range of codes, like 8731 or 2833-2836"
                )
            for code in (f"{number:04}" for number in range(first, last + 1)):
                width, other = found.get(code, (10_000, ""))
                if width == last - first:
                    problems.add(
                        f"{table} {group.name}", f"{code} is in two ranges of one width, the other is of {other}"
                    )
                elif last - first < width:
                    found[code] = last - first, group.name
    return {code: name for code, (_, name) in found.items()}


def classify(sic: str | None) -> Classified:
    """Return sector, industry and template by the code, with or without its leading zero (`3571`)."""
    return shipped().classify(sic)


@functools.cache
def shipped() -> Sectors:
    """Return the tables of the package. Raise CatalogError."""
    return Sectors(packaged("companies/sectors.toml"), packaged("companies/industries.toml")["industry"])
