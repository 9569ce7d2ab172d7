"""Writing of a backup file: accounts and secrets, raw payloads with their index, and the data."""

from __future__ import annotations

import contextlib
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
from almanac.domain.disk_errors import naming
from almanac.domain.progress import Advance, Meter, unmetered
from almanac.pipeline.lacking import Demand, Lost, lost, named
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
    KeptDatabase,
    Manifest,
    payloads_of,
    scratch_folder,
    sync,
    this_version,
)
from almanac.store.engine import offline_file, opening, sqlite
from almanac.store.engine.errors import FullError
from almanac.store.engine.opening import Place
from almanac.store.engine.schemas import copy_tables
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Capture, Corrupt, Problem, RawStore, decoded, unpacked

_LEVEL = 3
_CARRIED = "carried"


def backup(
    settings: Settings,
    file: Path,
    *,
    with_data: bool = True,
    accounts_only: bool = False,
    without: int | None = None,
    verify: bool = True,
    meter: Meter = unmetered,
) -> Manifest:
    """
    Write a zstd-compressed tar archive, readable by its owner only. It gets its name only once it is complete.

    From a server it contains accounts and counts of requests, as files that can be restored to either engine, and no
    data. With `accounts_only` it contains these alone, from files too. With `verify` each database is checked first.

    It may run beside a server and an ingest. The databases are copied before the raw files are listed, and the index
    before the objects, so every payload that the archive refers to is in it. Raises BackupError if there is nothing to
    back up, the file exists or a database is damaged. Raises LossError if the served data could not be rebuilt from it, because payloads are
    missing or damaged, unless `without` states their number.
    """
    if file.exists():
        raise BackupError(f"{file} is there already; choose another name or remove it")
    if settings.restored_path.exists():
        raise BackupError(f"a restore into {settings.home} was cut off: end it first with `almanac restore`")
    held = {name: at for name, part in DATABASES.items() if _is_there(at := part.at(settings), part)}
    raw = None if accounts_only else RawStore.at(settings.raw_place)
    if not held and (raw is None or raw.any_source() is None):
        raise BackupError(f"there is nothing to back up in {settings.home}")
    left_out = held.pop(DATA, None) if accounts_only or not with_data else None
    with scratch_folder(file.parent, file.name) as folder:
        copies = {name: _snapshot(at, DATABASES[name], folder / name, meter) for name, at in held.items()}
        for name, copy in copies.items() if verify else ():
            _check_whole(held[name], copy)
        version = offline_file.note(copies[DATA], "version") if DATA in copies else None
        rows: list[PayloadRow] = []
        if raw is not None:
            rows = payloads_of(copies[DATA]) if DATA in copies else _rows(settings, left_out)
        packing = _Packing(settings, raw, rows, without)
        size = sum(path.stat().st_size for path in copies.values()) + packing.size
        head = BackupHead(FORMAT, this_version(), settings.clock(), size, packing.raw_store, packing.lacking)
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
            for name, content in packing.files():
                _add(archive, members, f"{RAW}/{name}", content)
                advance(len(content) / PIECE)
            manifest = Manifest(FORMAT, head.almanac, head.created_at, sqlite.SCHEMA, version, members)
            _add(archive, {}, MANIFEST, msgspec.json.encode(manifest))
        sync(unfinished)
        # Unlike a rename, a link fails if the name has been taken meanwhile.
        os.link(unfinished, file)
    sync(file.parent)
    return manifest


def _rows(settings: Settings, left_out: Place | None) -> list[PayloadRow]:
    """Return the payloads named by data that isn't copied, because it is on a server or left out."""
    at = left_out or opening.place(settings.data_place)
    if isinstance(at, Path) and not at.exists():
        return []
    with opening.faults(), contextlib.closing(opening.connect(at, read_only=True)) as db:
        return named(db)


class _Packing:
    """
    The raw files of a backup, and the check that the data can be rebuilt from them. Without a raw store there are no
    files.
    """

    def __init__(self, settings: Settings, raw: RawStore | None, rows: list[PayloadRow], without: int | None) -> None:
        self._raw = raw
        self._place = settings.raw_place
        self._named = {row.capture for row in rows}
        self._demand = Demand.of(
            "a backup", settings.raw_place, ", or write accounts and counts of use alone: --accounts-only"
        )
        self.size = 0
        self.raw_store: str | None = None
        #: Payloads that the operator agreed to leave out.
        self.lacking: tuple[Lost, ...] = ()
        self._names: list[str] = []
        if raw is None:
            return
        self._names = raw.names()
        gone = lost(rows, raw, names=self._names, read=without is not None)
        self._demand.meet(gone, len(rows), without)
        self.lacking = tuple(gone)
        self.raw_store = raw.identity()
        self.size = raw.size()

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield each file's name and content. Raises LossError at the end if some are damaged and no number was agreed to."""
        if self._raw is None:
            return
        captures: dict[str, list[Capture]] = {}
        damaged: list[Lost] = []  # what no data came from is no loss: whoever tries the backup out is told of it
        for name in self._names:
            content = self._raw.blobs.get(name)
            if content is None:
                raise BackupError(f"{self._place}/{name} went away while it was read")
            if not self.lacking:
                damaged += [one for one in _flaws(name, content, captures) if one.capture in self._named]
            yield name, content
        self._demand.meet(damaged, len(self._named), None)


def _flaws(name: str, content: bytes, captures: dict[str, list[Capture]]) -> Iterator[Lost]:
    """
    Yield the payloads that a damaged raw file makes unusable. Index files come first; they fill `captures`, by the hash
    of their bytes.
    """
    if name.startswith("index/"):
        try:
            found = decoded(name, content)
        except Corrupt as error:
            yield Lost(Path(name).stem, Path(name).parent.name, "", str(error))
        else:
            captures.setdefault(found.sha256, []).append(found)
        return
    for capture in captures.pop(Path(name).stem, ()):
        flaw = unpacked(capture, content)
        if isinstance(flaw, Problem):
            yield Lost(capture.id, capture.source, capture.url, f"{flaw.name}: {flaw.reason}")


def _is_there(at: Place, part: KeptDatabase) -> bool:
    """Return whether there is something to copy: a file, or tables that are copied from a server."""
    return at.exists() if isinstance(at, Path) else part.area is not None


def _snapshot(at: Place, part: KeptDatabase, copy: Path, meter: Meter) -> Path:
    """Copy a database in use to a consistent file, readable by its owner only, from either engine."""
    if isinstance(at, Path):
        copy.touch(mode=0o600)

        def begin(size: int) -> Advance:
            advance = meter(f"MiB of {at.name} copied", size // PIECE)
            return lambda done: advance(done / PIECE)

        try:
            with opening.faults():
                offline_file.copy(at, copy, begin)
        except FullError as error:
            raise BackupError(opening.advice(error, copy)) from None
    elif part.area is not None:
        copy = copy.parent / _CARRIED / copy.name  # a folder of its own: who makes a database in one locks it
        with (
            contextlib.closing(opening.open_auxiliary(at, schema=part.area)) as source,
            contextlib.closing(sqlite.open_auxiliary(copy, part.area)) as target,
        ):
            copy_tables(source, target, part.area)
    return copy


def _check_whole(at: Place, copy: Path) -> None:
    """Raise BackupError if a copied database is damaged: whoever needs the backup would find out too late."""
    damages = offline_file.damages(copy)
    if damages:
        more = f" and {len(damages) - 1} more" if len(damages) > 1 else ""
        ways = "or leave data out with --without-data, which `almanac rebuild` makes anew" if copy.name == DATA else ""
        raise BackupError(
            f"{at} is damaged ({damages[0].splitlines()[0]}{more}): keep the backups made before."
            f" Mend it, {ways}{', ' if ways else ''}or copy it as it is with --no-verify"
        )


def _add_file(archive: tarfile.TarFile, members: dict[str, str], name: str, path: Path, advance: Advance) -> None:
    with path.open("rb") as content:
        members[name] = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        archive.addfile(_info(name, path.stat().st_size), _Counted(content, advance))


class _Counted:
    """A file that reports how much of it was read."""

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
    with naming(path), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
