"""Writing everything to one file: accounts and secrets, raw payloads with their index, and the data."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
import zstandard

from almanac.config import Settings
from almanac.domain.progress import Advance, Meter, unmetered
from almanac.pipeline.operate.archive import (
    DATA,
    DATABASES,
    FORMAT,
    HEAD,
    MANIFEST,
    PIECE,
    RAW,
    BackupError,
    BackupHead,
    Manifest,
    beside,
    sync,
    this_version,
)
from almanac.store.engine import detached, sqlite
from almanac.store.raw.blobs import blobs_at

_LEVEL = 3


def backup(settings: Settings, file: Path, *, with_data: bool = True, meter: Meter = unmetered) -> Manifest:
    """
    Write a zstd-compressed tar archive, readable by its owner only; it appears under its name when it is whole.

    May run beside a server and an ingest. The databases are copied before the raw files are listed, and their index
    before their objects, so every payload that anything in the archive refers to is in it. Raises BackupError where
    there is nothing to back up or the file is there already.
    """
    if file.exists():
        raise BackupError(f"{file} is there already; choose another name or remove it")
    if settings.restored_path.exists():
        raise BackupError(f"a restore into {settings.home} was cut off: end it first with `almanac restore`")
    held = {name: path for name, part in DATABASES.items() if (path := part.path(settings)) and path.exists()}
    raw = blobs_at(settings.raw_place)
    if not held and next(raw.names(""), None) is None:
        raise BackupError(f"there is nothing to back up in {settings.home}")
    if not with_data:
        held.pop(DATA, None)
    with beside(file.parent, file.name) as folder:
        copies = {name: _snapshot(path, folder / name, meter) for name, path in held.items()}
        version = detached.data_version(copies[DATA]) if DATA in copies else None
        names = [*raw.names("index"), *raw.names("objects")]
        size = sum(path.stat().st_size for path in copies.values())
        size += raw.size("index") + raw.size("objects")
        head = BackupHead(FORMAT, this_version(), settings.clock(), size)
        members: dict[str, str] = {}
        unfinished = folder / "archive"
        advance = meter("MiB packed", size // PIECE)
        with (
            _opened(unfinished) as out,
            zstandard.ZstdCompressor(level=_LEVEL).stream_writer(out, closefd=False) as packed,
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            _add(archive, {}, HEAD, msgspec.json.encode(head))
            for name, copy in copies.items():
                _add_file(archive, members, name, copy, advance)
                copy.unlink()
            for name in names:
                content = raw.get(name)
                if content is None:
                    raise BackupError(f"{settings.raw_place}/{name} went away while it was read")
                _add(archive, members, f"{RAW}/{name}", content)
                advance(len(content) / PIECE)
            manifest = Manifest(FORMAT, sqlite.SCHEMA, version, head.created_at, members, head.almanac)
            _add(archive, {}, MANIFEST, msgspec.json.encode(manifest))
        sync(unfinished)
        # A link, unlike a rename, fails where someone has taken the name meanwhile.
        os.link(unfinished, file)
    sync(file.parent)
    return manifest


def _snapshot(path: Path, copy: Path, meter: Meter) -> Path:
    """A consistent copy of a database in use, readable by its owner only."""
    copy.touch(mode=0o600)

    def begin(size: int) -> Advance:
        advance = meter(f"MiB of {path.name} copied", size // PIECE)
        return lambda done: advance(done / PIECE)

    detached.copy(path, copy, begin)
    return copy


def _add_file(archive: tarfile.TarFile, members: dict[str, str], name: str, path: Path, advance: Advance) -> None:
    with path.open("rb") as content:
        members[name] = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        archive.addfile(_info(name, path.stat().st_size), _Counted(content, advance))


class _Counted:
    """A file that tells how much of it was read."""

    def __init__(self, file: IO[bytes], advance: Advance) -> None:
        self._file, self._advance = file, advance

    def read(self, size: int = -1, /) -> bytes:
        piece = self._file.read(size)
        self._advance(len(piece) / PIECE)
        return piece


def _add(archive: tarfile.TarFile, members: dict[str, str], name: str, content: bytes) -> None:
    members[name] = hashlib.sha256(content).hexdigest()
    archive.addfile(_info(name, len(content)), io.BytesIO(content))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
