"""The storage that the raw store needs, and its choice by address."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from almanac import distribution
from almanac.domain.errors import naming

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


_UNFINISHED = ".unfinished-"
#: Attempts of a write whose temporary file somebody tidied away.
_TRIES = 3


class Folder:
    """
    `Blobs` in a local folder: files that are either whole or absent, at whatever instant the process dies.

    It needs hard links, which any file system fit for a live database has.
    """

    at_once = 1

    def __init__(self, root: Path) -> None:
        self._root = root

    def __repr__(self) -> str:
        return f"Folder({str(self._root)!r})"

    def get(self, name: str) -> bytes | None:
        try:
            with (self._root / name).open("rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def put(self, name: str, content: bytes) -> None:
        self._write(name, content, os.replace)

    def create(self, name: str, content: bytes) -> bool:
        if (self._root / name).exists():
            return False
        # Unlike a rename, a link fails if the name is taken, so the first writer stays the first.
        try:
            self._write(name, content, os.link)
        except FileExistsError:
            return False
        return True

    def check(self) -> None:
        """Do nothing: a failed write reports its own error."""

    def names(self, prefix: str) -> Iterator[str]:
        root = str(self._root)
        for folder, below, files in os.walk(self._root / prefix):
            # Sort folders as their content sorts: `a-b/` comes before `a/`.
            below.sort(key=lambda name: f"{name}/")
            # Computed once per folder, because an index has a file for every answer ever received.
            above = Path(folder).relative_to(root).as_posix()
            for file in sorted(files):
                if not file.startswith(_UNFINISHED):
                    yield file if above == "." else f"{above}/{file}"

    def size(self, prefix: str) -> int:
        return sum((self._root / name).stat().st_size for name in self.names(prefix))

    def tidy(self) -> int:
        """Remove temporary files. A writer that loses its file this way writes it again."""
        found = list(self._root.rglob(f"{_UNFINISHED}*"))
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    def _write(self, name: str, content: bytes, settle: Callable[[Path, Path], None]) -> None:
        target = self._root / name
        self._make(target.parent)
        for left in reversed(range(_TRIES)):
            temporary = target.parent / f"{_UNFINISHED}{secrets.token_hex(8)}"
            try:
                with naming(target):
                    _write_through(temporary, content)
                    settle(temporary, target)
            except FileNotFoundError:
                if not left:
                    raise
            else:
                _sync_folder(target.parent)
                return
            finally:
                # Also after a link, which leaves both names. After a kill `tidy` does it.
                with contextlib.suppress(FileNotFoundError):
                    temporary.unlink()

    def _make(self, folder: Path) -> None:
        """Create a folder so that its name survives a power cut too."""
        if folder.is_dir():
            return
        self._make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(folder.parent)


def _write_through(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
