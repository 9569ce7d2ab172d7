"""Shapes around records: lists, single objects and errors, for the machine-readable description."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from almanac.api.contract.errors import CODES
from almanac.api.contract.records import WarningSchema
from almanac.domain.fields import Day, says

_RequestId = Annotated[str, says("Identifies the request in the logs of the service.")]
_SameId = Annotated[str, says("The same id, in camel case.")]
_Warnings = Annotated[
    list[WarningSchema],
    Meta(min_length=1, description="What was asked in vain; absent where there is nothing to say."),
]


class AnswerMeta(msgspec.Struct):
    """What is said of an answer."""

    request_id: _RequestId
    request_id_: _SameId = msgspec.field(name="requestId")
    api_version: Annotated[Literal["v1"], says("Version of the interface.")]


class Pagination(msgspec.Struct):
    """Where in a list a page stands."""

    limit: Annotated[int, says("The page size applied.")]
    cursor: Annotated[str | None, says("The cursor that was sent. Null: none, the first page.")]
    next_cursor: Annotated[
        str | None, says("Opaque: send it back as `cursor` for the next page. Null: this is the last.")
    ]
    has_more: Annotated[bool, says("Whether more rows follow.")]


class CountedPagination(Pagination):
    """Where in a list a page stands, and how long the list is."""

    total: Annotated[int, Meta(ge=0, description="How many rows match in all, on every page.")]


class ListMeta(AnswerMeta, kw_only=True):
    """What is said of a page of a list."""

    pagination: Annotated[Pagination, says("Where in the list it stands.")]
    warnings: _Warnings | UnsetType = UNSET


class CountedListMeta(AnswerMeta, kw_only=True):
    """What is said of a page of a screen."""

    pagination: Annotated[CountedPagination, says("Where in the list it stands.")]
    warnings: _Warnings | UnsetType = UNSET


class ErrorDetails(msgspec.Struct, rename="camel"):
    """What a program may want to know of an error. Keys that do not apply are absent; others may come."""

    parameter: Annotated[str | UnsetType, says("The parameter at fault.", "limit")] = UNSET
    reason: Annotated[str | UnsetType, says("A short stable word for what is wrong with it.", "range", "unknown")] = (
        UNSET
    )
    allowed: Annotated[Any | UnsetType, says("What it may be: bounds, words or names.")] = UNSET
    suggestion: Annotated[str | UnsetType | None, says("What may have been meant.", "country")] = UNSET
    scope: Annotated[str | UnsetType, says("The scope that the key lacks.", "macro:read")] = UNSET
    granted: Annotated[list[str] | UnsetType, says("The scopes that it has.")] = UNSET
    plan: Annotated[str | UnsetType, says("The account's plan.", "free")] = UNSET
    history_from: Annotated[Day | UnsetType, says("First day the plan reaches.")] = UNSET
    supported_scopes: Annotated[list[str] | UnsetType, says("The scopes that /rates has.")] = UNSET
    limit: Annotated[int | UnsetType, says("Requests that the plan allows in a window.")] = UNSET
    window_seconds: Annotated[int | UnsetType, says("Length of that window, seconds.")] = UNSET
    retry_after_seconds: Annotated[int | UnsetType, says("Seconds to wait, as in Retry-After.")] = UNSET


class ErrorBody(msgspec.Struct):
    """What went wrong."""

    code: Annotated[str, says("Stable word for programs, one for each status.", enum=tuple(CODES.values()))]
    message: Annotated[str, says("For people; it names the culprit, and may change.")]
    request_id: _RequestId
    request_id_: _SameId = msgspec.field(name="requestId")
    details: Annotated[ErrorDetails | UnsetType, says("For programs; absent where there is nothing to add.")] = UNSET


class Error(msgspec.Struct):
    """The envelope of every error."""

    error: Annotated[ErrorBody, says("What went wrong.")]
    request_id: _RequestId = msgspec.field(name="requestId")


@functools.cache
def envelope(record: type[msgspec.Struct], *, listed: bool, counted: bool = False) -> type[msgspec.Struct]:
    """Return the named shape of an answer: `CountryList` with a page of records, or `CountryItem` with one."""
    inside: Any = list[record] if listed else record  # type: ignore[valid-type]  # made at run time
    about: Any = (CountedListMeta if counted else ListMeta) if listed else AnswerMeta
    return msgspec.defstruct(
        record.__name__ + ("List" if listed else "Item"),
        [
            ("data", Annotated[inside, says("A page of the list." if listed else "The object.")]),
            ("meta", Annotated[about, says("What is said of it.")]),
            ("requestId", _RequestId),
        ],
        namespace={"__doc__": f"{'A list' if listed else 'One'} of {record.__name__}."},
    )
