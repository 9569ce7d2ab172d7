"""The description of an interface operation."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

T = TypeVar("T")


class Operation(Generic[T]):
    """The request to one path, and the record type of its answer."""

    __slots__ = ("as_of", "id", "kind", "most", "path", "record")

    def __init__(
        self,
        *,
        id: str,  # noqa: A002 - the interface's own word
        path: str,
        record: type[T],
        kind: Literal["list", "item", "text", "json"],
        most: int,
        as_of: bool,
    ) -> None:
        self.id = id
        self.path = path
        self.record = record
        self.kind = kind
        #: Most rows of a page, 0 where there are no pages.
        self.most = most
        #: Whether it takes `as_of`.
        self.as_of = as_of

    def __repr__(self) -> str:
        return f"<{self.id}: GET {self.path}>"
