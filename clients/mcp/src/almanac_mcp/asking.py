"""Requests to the interface through the Python client, with records as plain mappings and errors as refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import msgspec

from almanac_client import (
    AlmanacError,
    ApiError,
    AsyncAlmanac,
    BadRequest,
    ConnectionFailed,
    Forbidden,
    NotFound,
    RateLimited,
    Unauthorized,
)

from .text import words
from .text.refusals import RefusalError

T = TypeVar("T")
Record = dict[str, Any]

#: Concurrent requests of one tool call.
_AT_ONCE = 4


class UnknownError(RefusalError):
    """Nothing has the requested id."""


@dataclass(frozen=True)
class Page:
    """The rows of one page, with the service's remarks on them."""

    rows: list[Record]
    version: int | None = None
    total: int | None = None
    more: bool = False
    warnings: list[str] = field(default_factory=list)
    history_from: str | None = None


@dataclass(frozen=True)
class Item:
    """One record with its data version."""

    record: Record
    version: int | None = None
    history_from: str | None = None


class Api:
    """The interface as one caller sees it. `said` maps the interface's parameter names to the tool's own."""

    def __init__(self, client: AsyncAlmanac, said: Mapping[str, str] | None = None) -> None:
        self._client = client
        self._said = said or {}
        self._slots = asyncio.Semaphore(_AT_ONCE)

    def saying(self, **said: str) -> Api:
        """Return a copy that uses other parameter names in errors."""
        other = Api(self._client, said)
        other._slots = self._slots
        return other

    async def page(self, operation: str, *path: str, **params: object) -> Page:
        """Request one page of a list, such as `observations.list`."""
        answer = await self._ask(operation, path, params)
        return Page(
            rows=[_plain_record(row) for row in answer.data],
            version=answer.data_version,
            total=answer.total,
            more=answer.next_cursor is not None,
            warnings=[words.plain(one) for one in answer.said],
            history_from=answer.headers.get("x-history-from"),
        )

    async def item(self, operation: str, *path: str, **params: object) -> Item:
        """Request one record, such as `rates.get`."""
        answer = await self._ask(operation, path, params)
        return Item(_plain_record(answer.data), answer.data_version, answer.headers.get("x-history-from"))

    async def _ask(self, operation: str, path: tuple[str, ...], params: Mapping[str, object]) -> Any:
        resource, _, method = operation.partition(".")
        call = getattr(getattr(self._client.raw, resource), method)
        given = {name: value for name, value in params.items() if value is not None}
        async with self._slots:
            try:
                return await call(*path, **given)
            except AlmanacError as error:
                raise refusal(error, self._said) from error


def _plain_record(row: Any) -> Record:
    """
    Convert a record of the client to plain values. All texts of the service in a tool's answer come through here or
    through a refusal.
    """
    return cast("Record", words.plain_record(msgspec.to_builtins(row)))


def refusal(error: AlmanacError, said: Mapping[str, str]) -> RefusalError:
    """Convert an error of the client to a tool's refusal."""
    if not isinstance(error, ApiError):
        hint = "the service is not there or slow; try again later" if isinstance(error, ConnectionFailed) else None
        return RefusalError(str(error), suggestion=hint)
    message = _renamed(error.message, said)
    kind = UnknownError if isinstance(error, NotFound) else RefusalError
    allowed = error.details.get("allowed") or error.details.get("supportedScopes")
    return kind(f"{error.code}: {message}", allowed=allowed, suggestion=_suggestion(error))


def _suggestion(error: ApiError) -> str | None:
    if error.suggestion:
        return error.suggestion
    match error:
        case RateLimited():
            return None if error.retry_after is None else f"call again in {error.retry_after:g} seconds"
        case Forbidden():
            return None if error.history_from is None else f"this plan's history begins on {error.history_from}"
        case Unauthorized():
            return "the key has to be replaced by whoever set this server up"
        case BadRequest():
            return None
    return None


def _renamed(message: str, said: Mapping[str, str]) -> str:
    for theirs, ours in said.items():
        message = message.replace(f"'{theirs}'", f"'{ours}'")
    return message


async def together(work: Sequence[Awaitable[T]]) -> list[T]:
    """Await all at the same time. When all have ended, raise the first error, or one refusal that combines all refusals."""
    done = await asyncio.gather(*work, return_exceptions=True)
    broken = [one for one in done if isinstance(one, BaseException)]
    refused = {one.message: one for one in broken if isinstance(one, RefusalError)}
    if len(refused) > 1 and all(isinstance(one, RefusalError) for one in broken):
        first = next(iter(refused.values()))
        raise RefusalError("; and ".join(refused), allowed=first.allowed, suggestion=first.suggestion) from first
    if broken:
        raise broken[0]
    return cast("list[T]", done)
