"""The storage that the raw store needs, and its choice by address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from almanac import distribution
from almanac.store.raw.folder import Folder

#: Prefix of a bucket's address.
S3 = "s3://"


class Blobs(Protocol):
    """
    Named pieces of bytes. Names are relative, with parts joined by `/`. If the storage fails it raises OSError, whose
    message names it.

    An object store fits: `create` is a conditional put (`If-None-Match: *`), `put` a plain one.
    """

    @property
    def at_once(self) -> int:
        """The best number of pieces to request at a time."""

    def check(self) -> None:
        """Check that pieces can be stored here before any is. The OSError says what to change if they can't."""

    def get(self, name: str) -> bytes | None:
        """Return the content, or None if there is no such name."""

    def put(self, name: str, content: bytes) -> None:
        """Write or replace a piece durably, in one step."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a piece durably unless the name is taken. Of several writers just one gets True."""

    def names(self, prefix: str) -> Iterator[str]:
        """Return all names under a prefix that ends at a part, in byte order."""

    def size(self, prefix: str) -> int:
        """Return the total bytes under a prefix that ends at a part."""

    def tidy(self) -> int:
        """Remove the remains of interrupted writes and return how many there were."""


def blobs_at(place: str) -> Blobs:
    """
    Return the storage at a path or at `s3://bucket/prefix`. Raises OSError for a bucket if the library for it isn't
    installed.
    """
    if not place.startswith(S3):
        return Folder(Path(place))
    try:
        from almanac.store.raw.s3 import Bucket  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise OSError(f"ALMANAC_RAW_URL with s3:// needs a library: {distribution.how_to_install('s3')}") from None
    return Bucket(place)
