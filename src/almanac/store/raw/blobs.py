"""What the raw store needs of its storage, and the storage at a place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from almanac import distribution
from almanac.store.raw.folder import Folder

#: What the address of a bucket begins with.
S3 = "s3://"


class Blobs(Protocol):
    """
    Named pieces of bytes. Names are relative, parts joined by `/`. Storage that fails raises OSError, whose message names it.

    An object store fits: `create` is a conditional put (`If-None-Match: *`), `put` a plain one.
    """

    @property
    def at_once(self) -> int:
        """How many pieces are best asked for at a time."""
        ...

    def check(self) -> None:
        """Find out that pieces can be kept here, before any is; where they cannot, the OSError says what to change."""
        ...

    def get(self, name: str) -> bytes | None:
        """Content, or None if there is no such name."""
        ...

    def put(self, name: str, content: bytes) -> None:
        """Write or replace, durably, in one step."""
        ...

    def create(self, name: str, content: bytes) -> bool:
        """Write, durably, unless the name is taken. Of several writers exactly one gets True."""
        ...

    def names(self, prefix: str) -> Iterator[str]:
        """All names under a prefix that ends at a part, in byte order."""
        ...

    def size(self, prefix: str) -> int:
        """Bytes of all that is under a prefix that ends at a part."""
        ...

    def tidy(self) -> int:
        """Remove what interrupted writes left behind; the number of pieces removed."""
        ...


def blobs_at(place: str) -> Blobs:
    """Storage at a path, or at `s3://bucket/prefix`. Raises OSError for a bucket where its library is not installed."""
    if not place.startswith(S3):
        return Folder(Path(place))
    try:
        from almanac.store.raw.s3 import Bucket  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise OSError(f"ALMANAC_RAW_URL with s3:// needs a library: {distribution.how_to_install('s3')}") from None
    return Bucket(place)
