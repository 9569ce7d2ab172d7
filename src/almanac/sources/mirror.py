"""A mirror folder: upstream responses as files, listed in `mirror.csv`, read as if they had just been fetched."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from almanac.domain.times import DAY_SECONDS, instant

COLUMNS = ("url", "file", "fetched_at", "media_type", "status")
_PIECE = 1 << 20


class MirrorError(Exception):
    """A mirror folder that cannot be used. The message names file, line and column, and what is allowed."""


@dataclass(frozen=True, slots=True)
class MirrorRow:
    """One upstream response of a mirror.

    `fetched_at` is in unix seconds, the end of the day where only a day is stated, None for now. A status other than
    200 is not data: the caller reports it.
    """

    url: str
    path: Path
    fetched_at: int | None
    media_type: str
    status: int
    #: The folder that the file is in. As they were found when the listing was read, no part of either is a link.
    folder: Path

    def read(self, max_bytes: int) -> bytes:
        """Read the response body; decompress a file ending in `.gz`.

        Raises MirrorError naming the file if it is larger than `max_bytes` (plain size) or broken, and where a link has
        taken the place of it or of a folder on the way: it might lead out of the mirror.
        """
        try:
            with _opened(self.folder, self.path.relative_to(self.folder)) as plain:
                file = gzip.GzipFile(fileobj=plain, mode="rb") if self.path.suffix == ".gz" else plain
                body = _whole(file, max_bytes)
        # A cut gzip file is an EOFError, a damaged one a BadGzipFile (an OSError) or a zlib.error.
        except (OSError, EOFError, zlib.error) as error:
            raise MirrorError(f"{self.path}: cannot be read ({error})") from None
        if body is None:
            raise MirrorError(f"{self.path}: is larger than the {max_bytes} bytes allowed")
        return body


def _opened(folder: Path, name: Path) -> BinaryIO:
    """
    Open a plain file below a folder without following a link on the way. Raise OSError.

    Whoever may write in a mirror could else swap a file for a link after the listing was checked.
    """
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in name.parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        # A pipe is not waited for.
        file = os.open(name.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)
    opened = os.fdopen(file, "rb")
    if not stat.S_ISREG(os.fstat(file).st_mode):
        opened.close()
        raise OSError("it is no plain file")
    return opened


def _whole(file: BinaryIO | gzip.GzipFile, max_bytes: int) -> bytes | None:
    """Read a file; return None if it has more than allowed. Its bytes are held once: the buffer itself becomes the result."""
    held = io.BytesIO()
    while piece := file.read(_PIECE):
        if held.tell() + len(piece) > max_bytes:
            return None
        held.write(piece)
    return held.getvalue()


def rows(folder: Path) -> list[MirrorRow]:
    """Return all rows of a mirror folder by `fetched_at`, those without one last, otherwise as listed.

    Raises MirrorError at the first bad row: half a mirror would look like a publisher that withdrew data.
    """
    listing = folder / "mirror.csv"
    try:
        with _opened(folder, Path(listing.name)) as file:
            text = file.read().decode("utf-8-sig")
    except FileNotFoundError:
        needed = f"a mirror folder needs one with the columns {','.join(COLUMNS)}"
        raise MirrorError(f"{listing}: there is no such file; {needed}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MirrorError(f"{listing}: cannot be read ({error})") from None
    found = list(_rows(listing, text))
    return sorted(found, key=lambda row: (row.fetched_at is None, row.fetched_at or 0))


def _rows(listing: Path, text: str) -> Iterator[MirrorRow]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    seen: dict[tuple[str, int | None], int] = {}
    try:
        header = next(reader, [])
        if sorted(header) != sorted(COLUMNS):
            raise MirrorError(f"{listing}: line 1: columns are {','.join(header)!r}, expected {','.join(COLUMNS)}")
        for fields in reader:
            line = reader.line_num
            if len(fields) != len(header):
                raise MirrorError(f"{listing}: line {line}: has {len(fields)} fields, expected {len(header)}")
            row = _row(listing, line, dict(zip(header, fields, strict=True)))
            first = seen.setdefault((row.url, row.fetched_at), line)
            if first != line:
                twice = f"{row.url} with this fetched_at is on line {first} already"
                raise MirrorError(f"{listing}: line {line}, column 'url': {twice}")
            yield row
    except csv.Error as error:
        raise MirrorError(f"{listing}: line {reader.line_num}: {error}") from None


def _row(listing: Path, line: int, fields: dict[str, str]) -> MirrorRow:
    """Check the fields of a line, by column. Raises MirrorError naming line and column."""

    def error(column: str, reason: str) -> MirrorError:
        return MirrorError(f"{listing}: line {line}, column {column!r}: {reason}")

    url, name, stated, status = fields["url"], fields["file"], fields["fetched_at"], fields["status"]
    if not fields["media_type"]:
        raise error("media_type", "is empty, expected something like application/json")
    try:
        parts = urlsplit(url)
    except ValueError as reason:
        raise error("url", f"{url!r} is not a URL ({reason})") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.isprintable():
        raise error("url", f"{url!r} is not a whole http or https URL")
    root = listing.parent.resolve()
    # Resolved first, so that neither `..` nor a link inside the folder leads out of it.
    path = (root / name).resolve() if name and "\0" not in name else root
    if path == root or not path.is_relative_to(root):
        raise error("file", f"{name!r} is not a file inside the mirror folder")
    if not path.is_file():
        raise error("file", f"there is no file {name!r}")
    try:
        seconds = instant(datetime.fromisoformat(stated)) if stated else None
    except ValueError:
        said = f"{stated!r} is not a time with a zone (2026-09-14T08:30:00Z), nor empty for now"
        raise error("fetched_at", said) from None
    if seconds is not None and seconds % DAY_SECONDS == 0:
        # Exactly midnight means that only the day is known: all of it had passed when the file was surely there.
        seconds += DAY_SECONDS - 1
    if not re.fullmatch("[1-5][0-9]{2}", status):
        raise error("status", f"{status!r} is not an HTTP status (100 to 599)")
    return MirrorRow(url, path, seconds, fields["media_type"], int(status), root)
