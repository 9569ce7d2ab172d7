"""Sector, industry and template of a company, by the industry code (SIC) under which it is registered with the SEC."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.ranges import Ranges
from almanac.catalog.records import CatalogError

TEMPLATES = ("industrial", "bank", "insurer", "reit", "fund")
_CODE = re.compile(r"[0-9]{3,4}")


class Classified(NamedTuple):
    """`industry`: the title of the code on the SEC's list, None where it is not on it. `template`: one of TEMPLATES."""

    sector: str
    industry: str | None
    template: str


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    codes: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unclassified: str
    sector: tuple[_Group, ...]
    template: tuple[_Group, ...]


class Sectors:
    """The tables, checked whole. Raises CatalogError with one line per problem."""

    def __init__(self, sectors: Mapping[str, Any], industries: Mapping[str, str]) -> None:
        try:
            read = msgspec.convert(sectors, _File)
        except msgspec.ValidationError as error:
            raise CatalogError(f"sectors: {error}") from None
        self._unclassified = read.unclassified
        self._industries = dict(industries)
        self._sectors = Ranges({group.name: group.codes for group in read.sector})
        self._templates = Ranges({group.name: group.codes for group in read.template})
        self.names = tuple(group.name for group in read.sector)
        problems = [f"sector {told}" for told in self._sectors.problems]
        problems += [f"template {told}" for told in self._templates.problems]
        problems += [f"template {group.name} is none" for group in read.template if group.name not in TEMPLATES]
        problems += [f"there are two groups named {name}" for name in _twice(read.sector) + _twice(read.template)]
        if read.unclassified not in self.names:
            problems.append(f"unclassified: {read.unclassified} is no sector")
        wrong = [code for code in industries if re.fullmatch("[0-9]{4}", code) is None]
        problems += [f"industry {code!r} is not a code of four digits" for code in wrong]
        if not wrong:
            problems += [f"industry {code} has no sector" for code in self._sectors.missing(industries)]
        if problems:
            raise CatalogError("\n".join(problems))

    def classify(self, sic: str | None) -> Classified:
        """What an industry code means. None, an unknown one and what is no code at all are unclassified."""
        code = (sic or "").strip()
        if _CODE.fullmatch(code) is None:
            return Classified(self._unclassified, None, TEMPLATES[0])
        code = code.zfill(4)
        return Classified(
            self._sectors.get(code) or self._unclassified,
            self._industries.get(code),
            self._templates.get(code) or TEMPLATES[0],
        )


def classify(sic: str | None) -> Classified:
    """Sector, industry and template by the code, with or without its leading zero (`3571`)."""
    return shipped().classify(sic)


@functools.cache
def shipped() -> Sectors:
    """The tables of the package. Raises CatalogError."""
    return Sectors(_read("sectors"), _read("industries")["industry"])


def _read(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath("data", "companies", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _twice(groups: tuple[_Group, ...]) -> list[str]:
    names = [group.name for group in groups]
    return sorted({name for name in names if names.count(name) > 1})
