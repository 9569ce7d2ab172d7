"""An endpoint is one declaration: validation, OpenAPI and the contract tests are read from it.

A handler is a plain function `handler(ctx: Context) -> ListAnswer | ItemAnswer | TextAnswer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, TypeVar

import msgspec

from almanac.api.contract import cursor
from almanac.api.contract.cursor import Cursor
from almanac.api.contract.errors import ApiError, redact, refuse
from almanac.api.contract.params import CLOCK_TOLERANCE, Param, nearest
from almanac.api.contract.records import WarningSchema
from almanac.api.formats.columns import NOTHING_OPENED, Kind, Rows
from almanac.api.formats.forms import FORMS, Form
from almanac.config import Plan, Settings
from almanac.domain.times import DAY_SECONDS, midnight
from almanac.store.accounts.records import KeyRecord
from almanac.store.observations.reading.query import ScanStrategy
from almanac.store.observations.reading.reader import View

T = TypeVar("T")

#: The scope that holds all others.
ALL_SCOPES = "data:read"
#: A client's own value is repeated in a warning up to so many characters.
_SHOWN = 100
#: Parameters that bound days; the first that an endpoint has is suggested. Beside `period_start`, `start_date` bounds
#: knowledge times, and a suggestion of it would give rows about other years.
_STARTS, _ENDS = ("period_start", "start_date"), ("period_end", "end_date")
#: What other interfaces call these bounds, in lower case.
_BOUNDS = {
    "start": _STARTS, "from": _STARTS, "since": _STARTS, "startperiod": _STARTS,
    "end": _ENDS, "to": _ENDS, "until": _ENDS, "endperiod": _ENDS,
}  # fmt: skip
#: What a twin of a list takes beside the parameters of the list.
ALL = Param(
    "all", "`true`: the whole list in one answer, from one snapshot, with a mark at its end that it is complete.", "enum", False,
    choices={"true": True, "false": False},
)  # fmt: skip
#: What other interfaces call the parameter that chooses a form, and the forms.
_FORM_PARAMETERS = frozenset({"format", "f", "fmt", "output", "output_format"})
_FORM_NAMES = {"csv": "csv", "ndjson": "ndjson", "jsonl": "ndjson", "arrow": "arrows", "arrows": "arrows"}


class ListAnswer(msgspec.Struct, frozen=True):
    """
    One page. `rows` are columns where the form has them (`Context.columns`), else JSON objects, encoded or structs of what they hold; `next_key` None: no more rows follow.

    `opened`: keys that the row's field without declared keys may have under this question, with the kinds of their values.
    `parts`: all that tells the rows from others, where it is shorter than the rows themselves.
    """

    rows: Rows
    next_key: list[Any] | None = None
    total: int | None = None
    opened: Mapping[str, Kind] = NOTHING_OPENED
    parts: bytes | None = None


class ItemAnswer(msgspec.Struct, frozen=True):
    """One object, already encoded as JSON."""

    data: bytes


class TextAnswer(msgspec.Struct, frozen=True):
    """A whole body outside the envelope, for endpoints of kind `text` or `json`."""

    body: str | bytes


Answer = ListAnswer | ItemAnswer | TextAnswer


class Lines(msgspec.Struct, frozen=True):
    """The lines that an object has in the forms of lists: their record, and the function that makes them of its JSON."""

    record: type[msgspec.Struct]
    of: Callable[[bytes], list[bytes]]


class Context(msgspec.Struct):
    """All a handler may know about the request."""

    endpoint: Endpoint
    #: Typed values by name, defaults filled in; None where absent. Holds `limit` and `order` of a list too.
    params: dict[str, Any]
    path: dict[str, str]
    key: KeyRecord
    plan: Plan
    #: First day the plan reaches (UTC), None for the whole archive.
    window_start: date | None
    #: The data's clock, unix seconds.
    now: int
    #: An open state of the store. Handlers hand it to functions of `store`, and ask nothing of it in SQL.
    view: View
    settings: Settings
    #: What all pages of the walk have in common; of a first page, made for it.
    walk: Cursor
    #: Key of the last row of the page before, None on the first page.
    after: list[Any] | None
    #: Data version the answer is made from: the cursor's, else the view's.
    version: int
    #: Knowledge time of a request without `as_of`: the cursor's, else now. Unix seconds.
    at: int
    #: The answer is written in a form that has columns.
    columns: bool = False
    #: The list is sent whole, this being a part of it: how long, is the handler's choice.
    whole: bool = False
    #: How the list of observations that answers is read, where it is one.
    list_plan: ScanStrategy | None = None
    #: What the answer of a list says in `meta.warnings`, in this order. It may be kept for keys of the same scopes.
    warnings: list[WarningSchema] = msgspec.field(default_factory=list)

    def warn(self, parameter: str, value: str, reason: str, suggestion: str | None = None) -> None:
        """Say in `meta.warnings` that a value was given in vain. Tell nothing that the key may not read."""
        value = redact(value)
        shown = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        self.warnings.append(WarningSchema(parameter=parameter, value=shown, reason=reason, suggestion=suggestion))

    def may_read(self, scope: str) -> bool:
        """Return whether the key has a scope beyond the one that the path needs."""
        return not {scope, ALL_SCOPES}.isdisjoint(self.key.scopes)

    def page(self, by_key: Mapping[Any, T]) -> tuple[list[T], list[Any] | None]:
        """Return one page of records held in memory, in the order of their keys (an id, or a tuple ending in one), and the key to go on after."""
        descending, limit = self.params["order"] == "desc", self.params["limit"]
        keys = sorted(by_key, reverse=descending)
        if self.after is not None:
            place: Any = self.after[0] if len(self.after) == 1 else tuple(self.after)
            keys = [key for key in keys if (key < place if descending else key > place)]
        page = [by_key[key] for key in keys[:limit]]
        if len(keys) <= limit:
            return page, None
        last = keys[limit - 1]
        return page, list(last) if isinstance(last, tuple) else [last]

    @property
    def as_of(self) -> int:
        """Return the requested `as_of`, else the moment this walk is pinned to. Unix seconds."""
        asked = self.params.get("as_of")
        return self.at if asked is None else int(asked)

    @property
    def window_seconds(self) -> int | None:
        """Return the first second that the plan reaches, None for the whole archive."""
        return None if self.window_start is None else midnight(self.window_start.toordinal())

    def require_window(self, parameter: str, last_day: date) -> None:
        """Raise ApiError 403 if a request for nothing later than `last_day` lies wholly before the plan's window."""
        if self.window_start is not None and last_day < self.window_start:
            raise ApiError(
                403,
                f"'{parameter}' asks for data before {self.window_start.isoformat()}, "
                f"the first day the plan '{self.key.plan}' reaches",
                {"parameter": parameter, "plan": self.key.plan, "historyFrom": self.window_start.isoformat()},
            )


Handler = Callable[[Context], Answer]
#: Where a request is answered, by what it may cost at most: a page in the event loop, while others wait; some tenths of a second
#: in a thread; as much as is allowed at all in a thread too, of which an account has few at a time.
Where = Literal["loop", "thread", "heavy"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation. A list gets `limit`, `cursor` and (unless `default_order` is None) `order` by itself."""

    path: str
    operation_id: str
    summary: str
    handler: Handler
    description: str = ""
    #: Scope a key needs; None: any live key.
    scope: str | None = None
    params: tuple[Param, ...] = ()
    #: What stands in braces in the path: name, description, example.
    braces: tuple[Param, ...] = ()
    kind: Literal["list", "item", "text", "json"] = "item"
    #: Shape of one row or of the object, for the description; None: a free-form object.
    record: type[msgspec.Struct] | None = None
    #: The answer has rows with a `periodEnd`: x-history-from is sent where the plan has a window.
    dated: bool = False
    #: meta.pagination states the full number of matches.
    total: bool = False
    default_limit: int = 100
    max_limit: int = 500
    default_order: Literal["asc", "desc"] | None = "asc"
    #: Rows that are read at a time where the whole list is sent.
    batch: int = 500
    #: Where its requests are answered, where that depends on the typed parameters as a function of them.
    cost: Where | Callable[[Mapping[str, Any]], Where] = "loop"
    #: The answer depends on nothing but the query, the data, the account's window and the day: it may be kept.
    cached: bool = False
    #: Makes what the first request would wait for, from an open view, at a moment of the data's clock (unix seconds).
    #: Called once when the service starts, in a thread.
    warm: Callable[[View, int], None] | None = None
    tag: str = ""
    #: Of an object that has the forms of lists too.
    lines: Lines | None = None
    #: Parameters that this endpoint has not, by name → path of the one below it that has.
    elsewhere: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Every parameter by name, the common ones included.
    by_name: dict[str, Param] = field(init=False, repr=False, compare=False)
    #: The forms that it has beside JSON.
    forms: tuple[Form, ...] = field(init=False, repr=False, compare=False)
    _defaults: dict[str, Any] = field(init=False, repr=False, compare=False)
    #: Its parameters that may not lie in the future.
    timed: tuple[Param, ...] = field(init=False, repr=False, compare=False)
    #: Its parameters that are looked at when all are read.
    _checked: tuple[Param, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        every = self.params + (self._common() if self.kind == "list" else ())
        by_name = {param.name: param for param in every}
        if len(by_name) != len(every):
            raise ValueError(f"{self.path} declares a parameter twice")
        named = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        if named != [part.name for part in self.braces]:
            raise ValueError(f"{self.path} does not declare what stands in its braces")
        for param in every:
            if param.until is not None and param.until not in by_name:
                raise ValueError(f"{self.path}: {param.name} ends with {param.until}, which is not declared")
        object.__setattr__(self, "by_name", by_name)
        object.__setattr__(self, "forms", FORMS if self.kind == "list" or self.lines is not None else ())
        object.__setattr__(self, "_defaults", {param.name: param.default for param in every})
        object.__setattr__(self, "timed", tuple(param for param in every if param.not_future))
        checked = tuple(param for param in every if param.required or param.not_future or param.until is not None)
        object.__setattr__(self, "_checked", checked)

    def _common(self) -> tuple[Param, ...]:
        limit = Param(
            "limit", "Rows per page.", "integer", default=self.default_limit, minimum=1, maximum=self.max_limit
        )
        told = "The next_cursor of the page before. Opaque, and bound to this query."
        following = Param("cursor", told, longest=cursor.LONGEST)
        order = Param("order", "Direction of the whole sort key.", "enum", self.default_order, choices=("asc", "desc"))
        return (limit, following, order) if self.default_order is not None else (limit, following)

    def twin(self) -> Endpoint:
        """Return what is declared of its twins, the paths that end with the name of a form."""
        return replace(self, params=(*self.params, ALL)) if self.kind == "list" else self

    def _unknown(self, name: str, value: str) -> ApiError:
        names, other = sorted(self.by_name), self.elsewhere.get(name)
        if name == ALL.name and self.kind == "list":
            other = f"{self.path}.{FORMS[0].name}"
        told = f"allowed are {', '.join(names)}" if names else "none is allowed"
        where = self.path if other is None else f"{self.path}, but {other} takes it"
        likely = (*_BOUNDS.get(name.lower(), ()), f"{name.lower()}_id")
        known = next((likely_name for likely_name in likely if likely_name in self.by_name), None)
        meant = known or nearest(name, names) if other is None else None
        if self.forms and name.lower() in _FORM_PARAMETERS and value.lower() in _FORM_NAMES:
            meant = f"{self.path}.{_FORM_NAMES[value.lower()]}"
        return refuse(name[:100], f"is not a parameter of {where}; {told}", names, meant, code="unknown")

    def check_path(self, values: Mapping[str, str]) -> None:
        """Raise ApiError 400 naming a part of the path that is longer than it may be."""
        for part in self.braces:
            part.check_length(values[part.name])

    def read(self, pairs: Sequence[tuple[str, str]], now: int) -> dict[str, Any]:
        """Return the typed values of a decoded query string. `now` in unix seconds. Raises ApiError 400."""
        values = self._defaults.copy()
        seen = set()
        for name, text in pairs:
            param = self.by_name.get(name)
            if param is None:
                raise self._unknown(name, text)
            if name in seen:
                several = (
                    "several values go into one, separated by commas" if param.kind == "list" else "it takes one value"
                )
                raise refuse(name, f"is given more than once; {several}", code="repeated")
            seen.add(name)
            if not text:
                raise refuse(name, "must not be empty", param.names or None, code="empty")
            values[name] = param.read(text)
        for param in self._checked:
            if (value := values[param.name]) is None:
                if param.required:
                    raise refuse(param.name, "is required", param.names or None, code="required")
                continue
            # The last second of today stands for now.
            if (
                param.not_future
                and value > now + CLOCK_TOLERANCE
                and value != now - now % DAY_SECONDS + DAY_SECONDS - 1
            ):
                raise refuse(param.name, "lies in the future", code="future")
            if param.until is not None and (end := values[param.until]) is not None and value > end:
                raise refuse(param.name, f"is after '{param.until}'", code="start_after_end")
        return values

    def check_window(self, ctx: Context) -> None:
        """Raise ApiError 403 where a declared parameter asks for nothing inside the plan's window."""
        for param in self.by_name.values():
            if param.window and (value := ctx.params[param.name]) is not None:
                ctx.require_window(param.name, param.last_day(value))
