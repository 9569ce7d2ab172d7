"""The outcome of asking a publisher: an answer, or the reason for none; and the validators for the next request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class Validators:
    """The state that an earlier answer named, sent along to ask whether it has changed."""

    etag: str | None = None
    last_modified: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        stated = {"if-none-match": self.etag, "if-modified-since": self.last_modified}
        return {name: value for name, value in stated.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A 200, or (`not_modified`, without a body) a 304. `url` is the one asked for, without its secret."""

    url: str
    status: int
    body: bytes
    media_type: str
    etag: str | None
    last_modified: str | None
    not_modified: bool
    #: Where the body is, from its beginning, of a request that wants it in a file: one without a name, gone once it is closed.
    file: BinaryIO | None = None


class FetchFailed(Exception):  # noqa: N818  (the name says what happened)
    """No usable answer. The message names the URL without its secret, the reason and the attempt.

    `status` is that of the last answer, None if there was none.
    """

    def __init__(self, url: str, reason: str, *, status: int | None = None, passing: bool = False) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason
        self.status = status
        #: Whether it may be over in a while.
        self.passing = passing
        #: Whether nothing went wrong: the publisher prepares the data, or its limit or its word keeps us waiting.
        self.later = False
        #: Seconds the publisher asked us to wait, if it did.
        self.retry_after: float | None = None
        #: Where in the chain of attempts it ended.
        self.ending = ""
        #: The host or publisher that is to be left alone for longer than this request may take.
        self.left_alone: str | None = None
        #: The host that could not be reached so often that it is not asked again in this run; None for another failure.
        self.given_up: str | None = None

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}{self.ending}"
