"""A mirror folder: upstream responses as files, listed in `mirror.csv`, read as if they had just been fetched."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from almanac.domain.errors import UserError
from almanac.domain.times import DAY_SECONDS, instant

COLUMNS = ("url", "file", "fetched_at", "media_type", "status")


class MirrorError(UserError):
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

    def read(self, max_bytes: int) -> bytes:
        """Read the response body; decompress a file ending in `.gz`.

        Raises MirrorError naming the file if it is larger than `max_bytes` (plain size) or broken.
        """
        try:
            with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as file:
                body = file.read(max_bytes + 1)
        # A cut gzip file is an EOFError, a damaged one a BadGzipFile (an OSError) or a zlib.error.
        except (OSError, EOFError, zlib.error) as error:
            raise MirrorError(f"{self.path}: cannot be read ({error})") from None
        if len(body) > max_bytes:
            raise MirrorError(f"{self.path}: is larger than the {max_bytes} bytes allowed")
        return body


def rows(folder: Path) -> list[MirrorRow]:
    """Return all rows of a mirror folder by `fetched_at`, those without one last, otherwise as listed.

    Raises MirrorError at the first bad row: half a mirror would look like a publisher that withdrew data.
    """
    listing = folder / "mirror.csv"
    try:
        text = listing.read_bytes().decode("utf-8-sig")
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
    return MirrorRow(url, path, seconds, fields["media_type"], int(status))
