"""Pages of records that are held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from almanac.api.contract.endpoint import Context

T = TypeVar("T")


def keyset(ctx: Context, by_key: Mapping[Any, T]) -> tuple[list[T], list[Any] | None]:
    """One page of records in the order of their keys (an id, or a tuple ending in one), and the key to go on after."""
    descending, limit = ctx.params["order"] == "desc", ctx.params["limit"]
    keys = sorted(by_key, reverse=descending)
    if ctx.after is not None:
        place: Any = ctx.after[0] if len(ctx.after) == 1 else tuple(ctx.after)
        keys = [key for key in keys if (key < place if descending else key > place)]
    page = keys[:limit]
    if len(keys) <= limit:
        return [by_key[key] for key in page], None
    last = page[-1]
    return [by_key[key] for key in page], list(last) if isinstance(last, tuple) else [last]
