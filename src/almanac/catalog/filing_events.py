"""The filings that are events: category, type and title by form, and by item for a current report."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from almanac.catalog import checks
from almanac.catalog.tables import read
from almanac.domain.companies import base_form

Category = Literal["issuer_filing", "issuer_disclosure", "corporate_action", "regulator_notice"]
CATEGORIES: tuple[str, ...] = get_args(Category)


class EventKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event that a filing is. `item` tells apart the events of one current report; None: the filing itself."""

    category: Category
    type: str
    title: str
    item: str | None = None

    def named(self, company: str, form: str) -> str:
        """Return the title of a filing of this company, of the form as filed (`8-K/A`)."""
        title = self.title.format(company=company, form=form)
        return title if base_form(form) == form or "{form}" in self.title else f"{title} (amendment)"


class _Form(EventKind, frozen=True, kw_only=True):
    forms: tuple[str, ...]


class _Item(EventKind, frozen=True, kw_only=True):
    item: str
    #: The number that meant the same before August 2004.
    before_2004: str | None = None


class _Current(_Form, frozen=True, kw_only=True):
    attachments: tuple[str, ...]


class _Nobody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    forms: tuple[str, ...]


class FilingEventsFile(msgspec.Struct, frozen=True):
    """The file as it is written."""

    form: tuple[_Form, ...]
    item: tuple[_Item, ...]
    current_report: _Current
    nobody: _Nobody


class FilingEvents:
    """The table, checked whole. Raises CatalogError with one line per problem."""

    def __init__(self) -> None:
        file = read("companies/events.toml", FilingEventsFile, checks.filing_events)
        self._forms: dict[str, EventKind] = {form: kind for kind in file.form for form in kind.forms}
        self._nobody, self._current = file.nobody.forms, file.current_report
        self._items = {number: kind for kind in file.item for number in (kind.item, kind.before_2004) if number}

    def of(self, form: str, items: Sequence[str] = ()) -> tuple[EventKind, ...]:
        """
        Return the events that a filing is, in the order of its items; none for a form that is nobody's event or unknown.

        A current report without an item that says something is one event itself.
        """
        base = base_form(form)
        if base in self._current.forms:
            return tuple(dict.fromkeys(self._items[item] for item in items if item in self._items)) or (self._current,)
        return (self._forms[base],) if base in self._forms else ()

    def knows(self, form: str) -> bool:
        """Tell whether the table says of a form what it is, if only that it is nobody's event."""
        base = base_form(form)
        return base in self._forms or base in self._current.forms or base in self._nobody


@functools.cache
def shipped() -> FilingEvents:
    """Return the table of the package. Raise CatalogError."""
    return FilingEvents()
