"""The format of a backup file: a zstd-compressed tar archive with a head, databases, raw files, and a manifest at its end."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, TypeVar

import msgspec
import zstandard

from almanac.config import Settings
from almanac.distribution import version
from almanac.domain.disk_errors import naming
from almanac.domain.progress import Advance, Meter, unmetered
from almanac.pipeline.lacking import Lost, named
from almanac.store.accounts import file as accounts
from almanac.store.engine import offline_file, opening, sqlite
from almanac.store.engine.opening import Place
from almanac.store.engine.schemas import AuxiliarySchema
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import PARTS
from almanac.store.usage import counts as usage

FORMAT = 2
HEAD, MANIFEST, DATA, RAW = "backup.json", "manifest.json", "data.db", "raw"
#: Bytes between progress reports.
PIECE = 1 << 20


_Part = TypeVar("_Part", bound="_Origin")


class BackupError(Exception):
    """A backup that cannot be made or used. The message says why and what to do."""


class KeptDatabase(NamedTuple):
    """
    A database of a home: its place, the schema this version of Almanac knows, and a function that reads a file's
    schema.

    `area` names its tables on a server, whose rows are then copied into a file. If it is None, data on a server stays
    there.
    """

    place: Callable[[Settings], Path | str]
    known: int
    schema: Callable[[Path], int]
    area: AuxiliarySchema | None = None

    def at(self, settings: Settings) -> Place:
        """Return the database's place under these settings."""
        return opening.place(self.place(settings))


#: The databases in a backup, each copied whole while in use. Another one needs one line here.
DATABASES: dict[str, KeptDatabase] = {
    DATA: KeptDatabase(
        lambda settings: settings.data_place, int(sqlite.SCHEMA), lambda path: offline_file.note(path, "schema")
    ),
    "accounts.db": KeptDatabase(
        lambda settings: settings.accounts_place, accounts.SCHEMA.number, offline_file.user_version, accounts.SCHEMA
    ),
    "usage.db": KeptDatabase(
        lambda settings: settings.usage_place, usage.SCHEMA.number, offline_file.user_version, usage.SCHEMA
    ),
}


class _Origin(msgspec.Struct, frozen=True, rename="camel"):
    """What every version of a backup says of itself: its format, and the version that made it."""

    format: int
    almanac: str
    created_at: int


class BackupHead(_Origin, frozen=True, rename="camel"):
    """
    The first member: the backup's origin and size.

    `bytes` counts all members except head and
    manifest, uncompressed. `raw_store` is the name of the raw store. `lacking` lists payloads of the data that the
    operator agreed to leave out.
    """

    bytes: int
    raw_store: str | None = None
    lacking: tuple[Lost, ...] = ()


class Manifest(_Origin, frozen=True, rename="camel", forbid_unknown_fields=True):
    """
    The last member. `members` maps each name to the SHA-256 of its bytes, in archive order.

    `schema` is the data schema of the version that made the backup.
    """

    schema: str
    data_version: int | None
    members: dict[str, str]


def this_version() -> str:
    """Return the version of the installed package."""
    return version()


class Extracted(NamedTuple):
    """An unpacked backup. `found` has the SHA-256 of each member."""

    manifest: Manifest
    found: dict[str, str]
    head: BackupHead


def extract(file: Path, target: Path, meter: Meter = unmetered) -> Extracted:
    """
    Write the members of a backup under a folder. Use `differences` to compare them with the manifest.

    Raises BackupError if it isn't a whole backup, has a later format, or contains a name that leads elsewhere; the
    folder then has a part of it.
    """
    try:
        with file.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as plain:
            return _extract(plain, target, meter)
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise BackupError(f"{file} is not a whole backup ({error})") from None
    except BackupError as error:
        raise BackupError(f"{file}: {error}") from None


def differences(manifest: Manifest, found: dict[str, str]) -> list[str]:
    """Return the names of members that are missing, superfluous, or different from the manifest."""
    return sorted(name for name in found.keys() | manifest.members if found.get(name) != manifest.members.get(name))


def payloads_of(copy: Path) -> list[PayloadRow]:
    """Return the payloads named by a data database that nobody else uses, such as one from a backup."""
    with contextlib.closing(sqlite.connect(copy, read_only=True)) as db:
        return named(db)


def too_new(manifest: Manifest, folder: Path) -> Iterator[str]:
    """Yield a sentence for each database of an extracted backup that only a later version of Almanac can read."""
    for name, part in DATABASES.items():
        if name in manifest.members and (found := part.schema(folder / name)) > part.known:
            yield (
                f"{name} has schema {found}, this version of Almanac ({this_version()}) reads up to {part.known}:"
                f" install Almanac {manifest.almanac} or a later one, then restore"
            )


def _extract(plain: IO[bytes], target: Path, meter: Meter) -> Extracted:
    found: dict[str, str] = {}
    head: BackupHead | None = None
    manifest: Manifest | None = None
    advance = unmetered("MiB unpacked", 0)
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for member in archive:
            if manifest is not None:
                raise BackupError(f"{member.name!r} comes after the manifest")
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                raise BackupError(f"{member.name!r} is not a plain file")
            if head is None:
                if member.name != HEAD:
                    raise BackupError(f"begins with {member.name!r}, not with {HEAD}")
                head = _decoded(content.read(), BackupHead)
                advance = meter("MiB unpacked", head.bytes // PIECE)
            elif member.name == MANIFEST:
                manifest = _decoded(content.read(), Manifest)
            elif not _allowed(member.name):
                raise BackupError(f"{member.name!r} is not a name that belongs in a backup")
            elif member.name in found:
                raise BackupError(f"{member.name!r} is there twice")
            else:
                found[member.name] = _copy(content, target / member.name, advance)
    if manifest is None or head is None:
        raise BackupError("has no manifest: it was cut off, or is not a backup of Almanac")
    return Extracted(manifest, found, head)


def _decoded(content: bytes, kind: type[_Part]) -> _Part:
    """Decode the head or the manifest. A later version may have added fields: its number is read first."""
    try:
        origin = msgspec.json.decode(content, type=_Origin)
        if origin.format > FORMAT:
            raise BackupError(
                f"has format {origin.format}, this version of Almanac ({this_version()}) reads up to {FORMAT}: install"
                f" Almanac {origin.almanac} or a later one, then restore"
            )
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise BackupError(f"its {'head' if kind is BackupHead else 'manifest'} cannot be read ({error})") from None


def _allowed(name: str) -> bool:
    """Return whether a member name is a database or raw store file that stays inside the home."""
    parts = PurePosixPath(name).parts
    plain = "/".join(parts) == name and "\\" not in name and "\0" not in name
    return plain and (
        name in DATABASES or (len(parts) == 4 and parts[0] == RAW and parts[1] in PARTS and ".." not in parts)
    )


def _copy(content: IO[bytes], path: Path, advance: Advance) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with naming(path), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while piece := content.read(PIECE):
            digest.update(piece)
            file.write(piece)
            advance(len(piece) / PIECE)
    return digest.hexdigest()


@contextmanager
def scratch_folder(folder: Path, name: str) -> Iterator[Path]:
    """Create a temporary folder inside a folder, and remove it at the end. Remains of killed runs are removed first."""
    prefix = f".{name}.unfinished-"
    # A run locks its folder while it lives, so a folder that can be locked is a leftover.
    for left in folder.glob(f"{glob.escape(prefix)}*"):
        with _lock_folder(left) as free:
            if free:
                shutil.rmtree(left, ignore_errors=True)
    try:
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    except FileNotFoundError:
        raise BackupError(f"there is no folder {folder}") from None
    try:
        with _lock_folder(made):
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[bool]:
    """Lock a folder for the block, and yield whether that succeeded. A folder that was removed meanwhile can't be locked."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make the content of a file, or the names in a folder, durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
