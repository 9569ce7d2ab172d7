"""Which filings are events: category, type and title by form, and of a current report by item."""

from __future__ import annotations

import functools
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from almanac.catalog.records import CatalogError
from almanac.domain.companies import base_form

CATEGORIES = ("issuer_filing", "issuer_disclosure", "corporate_action", "regulator_notice")


class EventKind(NamedTuple):
    """One event that a filing is. `item` tells apart the events of one current report; None: the filing itself."""

    category: str
    type: str
    title: str
    item: str | None = None

    def named(self, company: str, form: str) -> str:
        """The title of a filing of this company, of the form as filed (`8-K/A`)."""
        told = self.title.format(company=company, form=form)
        return told if base_form(form) == form or "{form}" in self.title else f"{told} (amendment)"


class _Kind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    category: str
    type: str
    title: str


class _Form(_Kind, frozen=True, kw_only=True, forbid_unknown_fields=True):
    forms: tuple[str, ...]


class _Item(_Kind, frozen=True, kw_only=True, forbid_unknown_fields=True):
    item: str
    #: The number that meant the same before August 2004.
    before_2004: str | None = None


class _Current(_Form, frozen=True, kw_only=True, forbid_unknown_fields=True):
    attachments: tuple[str, ...]


class _Nobody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    forms: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    form: tuple[_Form, ...]
    item: tuple[_Item, ...]
    current_report: _Current
    nobody: _Nobody


class FilingEvents:
    """The table, checked whole. Raises CatalogError with one line per problem."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        try:
            read = msgspec.convert(table, _File)
        except msgspec.ValidationError as error:
            raise CatalogError(f"events: {error}") from None
        if problems := list(_problems(read)):
            raise CatalogError("\n".join(problems))
        self._forms = {
            form: EventKind(kind.category, kind.type, kind.title) for kind in read.form for form in kind.forms
        }
        self._nobody = frozenset(read.nobody.forms)
        current = read.current_report
        self._current = frozenset(current.forms)
        self._plain = EventKind(current.category, current.type, current.title)
        self._attachments = frozenset(current.attachments)
        self._items: dict[str, EventKind] = {}
        for line in read.item:
            kind = EventKind(line.category, line.type, line.title, line.item)
            for number in filter(None, (line.item, line.before_2004)):
                self._items[number] = kind

    def of(self, form: str, items: Sequence[str] = ()) -> tuple[EventKind, ...]:
        """
        The events that a filing is, in the order of its items; none for a form that is nobody's event or unknown.

        A current report without an item that says something is one event itself.
        """
        base = base_form(form)
        if base in self._current:
            told = dict.fromkeys(self._items[item] for item in items if item in self._items)
            return tuple(told) or (self._plain,)
        kind = self._forms.get(base)
        return () if kind is None else (kind,)

    def knows(self, form: str) -> bool:
        """Whether the table says of a form what it is, if only that it is nobody's event."""
        base = base_form(form)
        return base in self._forms or base in self._current or base in self._nobody


@functools.cache
def shipped() -> FilingEvents:
    """The table of the package. Raises CatalogError."""
    text = files(__package__).joinpath("data", "companies", "events.toml").read_text("utf-8")
    return FilingEvents(tomllib.loads(text))


def _problems(read: _File) -> Iterator[str]:
    every: list[_Kind] = [*read.form, *read.item, read.current_report]
    for kind in every:
        if kind.category not in CATEGORIES:
            yield f"event {kind.type}: unknown category {kind.category}, allowed are {', '.join(CATEGORIES)}"
        fields = {name for _, name, _, _ in string.Formatter().parse(kind.title) if name is not None}
        if "company" not in fields or fields - {"company", "form"}:
            yield f"event {kind.type}: the title must hold {{company}}, may hold {{form}}, and has {sorted(fields)}"
    types = [kind.type for kind in every]
    yield from (f"event type {name} is there twice" for name in sorted({t for t in types if types.count(t) > 1}))
    forms = [form for group in (*read.form, read.current_report) for form in group.forms] + [*read.nobody.forms]
    yield from (f"form {name} is there twice" for name in sorted({f for f in forms if forms.count(f) > 1}))
    yield from (f"form {name} is an amendment: name the form itself" for name in forms if name.endswith("/A"))
    numbers = [n for line in read.item for n in (line.item, line.before_2004) if n is not None]
    numbers += read.current_report.attachments
    yield from (f"item {name} is there twice" for name in sorted({n for n in numbers if numbers.count(n) > 1}))
