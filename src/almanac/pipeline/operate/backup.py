"""Backup files: their format (a zstd-compressed tar archive with a head, databases, raw files, and a manifest at its end), writing and reading."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
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
from almanac.domain.errors import UserError, naming
from almanac.domain.progress import Advance, Meter, unmetered
from almanac.load_state import try_lock
from almanac.pipeline.missing_payloads import BRING_BACK, Lost, demand, lost, named
from almanac.store.accounts import file as accounts
from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import SCHEMA, meta
from almanac.store.engine.errors import FullError
from almanac.store.engine.opening import Place
from almanac.store.engine.schemas import AuxiliarySchema, copy_tables
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import PARTS, Capture, Corrupt, RawStore, decoded, unpacked
from almanac.store.usage import counts as usage

FORMAT = 2
HEAD, MANIFEST, DATA, RAW = "backup.json", "manifest.json", "data.db", "raw"
#: Bytes between progress reports.
PIECE = 1 << 20
_LEVEL = 3
_CARRIED = "carried"

_Part = TypeVar("_Part", bound="_Origin")


class BackupError(UserError):
    """A backup that cannot be made or used. The message says why and what to do."""


class KeptDatabase(NamedTuple):
    """
    A database of a home: its place, the schema this version of Almanac knows, and a function that reads a file's
    schema.

    `area` names its tables on a server, whose rows are then copied into a file. If it is None, data on a server stays
    there.
    """

    place: Callable[[Settings], Path | str]
    area: AuxiliarySchema | None = None

    def at(self, settings: Settings) -> Place:
        """Return the database's place under these settings."""
        return opening.place(self.place(settings))

    @property
    def known(self) -> int:
        """The newest schema that this version reads."""
        return int(SCHEMA) if self.area is None else self.area.number

    def schema(self, copy: Path) -> int:
        """Return the schema of a copied database. Raises UnavailableError for a file that cannot be read."""
        with sqlite.offline(copy) as db:
            return int(meta(db, "schema") or 0) if self.area is None else db.schema_number()


#: The databases in a backup, each copied whole while in use. Another one needs one line here.
DATABASES: dict[str, KeptDatabase] = {
    DATA: KeptDatabase(lambda settings: settings.data_place),
    "accounts.db": KeptDatabase(lambda settings: settings.accounts_place, accounts.SCHEMA),
    "usage.db": KeptDatabase(lambda settings: settings.usage_place, usage.SCHEMA),
}


class _Origin(msgspec.Struct, frozen=True, rename="camel"):
    """The header that backups of every format have: the format, and the version of the program that wrote it."""

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


class Extracted(NamedTuple):
    """An unpacked backup. `digests` has the SHA-256 of each member."""

    manifest: Manifest
    digests: dict[str, str]
    head: BackupHead


def extract(file: Path, target: Path, meter: Meter = unmetered) -> Extracted:
    """
    Write the members of a backup under a folder. Use `differences` to compare them with the manifest.

    Raises BackupError if it isn't a whole backup, has a later format, or contains a name that leads elsewhere; the
    folder then has a part of it.
    """
    digests: dict[str, str] = {}
    head: BackupHead | None = None
    manifest: Manifest | None = None
    advance = unmetered("MiB unpacked", 0)
    with (
        _naming_backup(file),
        file.open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as archive,
    ):
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
            elif member.name in digests:
                raise BackupError(f"{member.name!r} is there twice")
            else:
                path, metered = target / member.name, _Metered(content, advance)
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with _create(path) as copy:
                    shutil.copyfileobj(metered, copy, PIECE)
                digests[member.name] = metered.digest.hexdigest()
        if manifest is None or head is None:
            raise BackupError("has no manifest: it was cut off, or is not a backup of Almanac")
    return Extracted(manifest, digests, head)


@contextmanager
def _naming_backup(file: Path) -> Iterator[None]:
    """Turn errors of unpacking into a BackupError that names the file."""
    try:
        yield
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise BackupError(f"{file} is not a whole backup ({error})") from None
    except BackupError as error:
        raise BackupError(f"{file}: {error}") from None


def differences(manifest: Manifest, digests: dict[str, str]) -> list[str]:
    """Return the names of members that are missing, superfluous, or different from the manifest."""
    return sorted(name for name in digests.keys() | manifest.members if digests.get(name) != manifest.members.get(name))


def payloads_of(copy: Path) -> list[PayloadRow]:
    """Return the payloads named by a data database that nobody else uses, such as one from a backup."""
    with contextlib.closing(sqlite.connect(copy, read_only=True)) as db:
        return named(db)


def too_new(manifest: Manifest, folder: Path) -> Iterator[str]:
    """Yield a sentence for each database of an extracted backup that only a later version of Almanac can read."""
    for name, part in DATABASES.items():
        if name in manifest.members and (schema := part.schema(folder / name)) > part.known:
            yield (
                f"{name} has schema {schema}, this version of Almanac ({version()}) reads up to {part.known}:"
                f" install Almanac {manifest.almanac} or a later one, then restore"
            )


def _decoded(content: bytes, kind: type[_Part]) -> _Part:
    """Decode the head or the manifest. A later version may have added fields: its number is read first."""
    try:
        origin = msgspec.json.decode(content, type=_Origin)
        if origin.format > FORMAT:
            raise BackupError(
                f"has format {origin.format}, this version of Almanac ({version()}) reads up to {FORMAT}: install"
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


class _Metered:
    """A file that is hashed, and whose progress is reported, while it is read."""

    def __init__(self, file: IO[bytes], advance: Advance) -> None:
        self._file, self._advance, self.digest = file, advance, hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        self._advance(len(piece) / PIECE)
        return piece


@contextmanager
def _create(path: Path) -> Iterator[IO[bytes]]:
    """Create a file that its owner alone may read."""
    with naming(path), os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file


@contextmanager
def scratch_folder(folder: Path, name: str) -> Iterator[Path]:
    """Create a temporary folder inside a folder, and remove it at the end. Remains of killed runs are removed first."""
    prefix = f".{name}.unfinished-"
    # A run locks its folder while it lives, so a folder that can be locked is a leftover.
    for leftover in folder.glob(f"{glob.escape(prefix)}*"):
        with _lock_folder(leftover) as free:
            if free:
                shutil.rmtree(leftover, ignore_errors=True)
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
        yield try_lock(handle)
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make the content of a file, or the names in a folder, durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
    places = {name: part.at(settings) for name, part in DATABASES.items()}
    # Files that are there; of a server the tables that are copied from it.
    sources = {
        name: at
        for name, at in places.items()
        if (at.exists() if isinstance(at, Path) else DATABASES[name].area is not None)
    }
    raw = None if accounts_only else RawStore.at(settings.raw_place)
    if not sources and (raw is None or raw.any_source() is None):
        raise BackupError(f"there is nothing to back up in {settings.home}")
    left_out = sources.pop(DATA, None) if accounts_only or not with_data else None
    with scratch_folder(file.parent, file.name) as folder:
        copies = {name: _snapshot(at, DATABASES[name], folder / name, meter) for name, at in sources.items()}
        for name, copy in copies.items() if verify else ():
            _check_whole(sources[name], copy)
        data_version = None
        if DATA in copies:
            with sqlite.offline(copies[DATA]) as db:
                data_version = int(meta(db, "version") or 0)
        size = sum(path.stat().st_size for path in copies.values())
        advice = f"{BRING_BACK}, or write accounts and counts of use alone: --accounts-only"
        words = "a backup", f"the raw store {settings.raw_place}", advice
        names: list[str] = []
        rows: list[PayloadRow] = []
        missing: list[Lost] = []
        if raw is not None:
            data = copies.get(DATA) or left_out or opening.place(settings.data_place)
            if not isinstance(data, Path) or data.exists():
                with opening.faults(), contextlib.closing(opening.connect(data, read_only=True)) as db:
                    rows = named(db)
            names = raw.names()
            missing = lost(rows, raw, names=names, read=without is not None)
            demand(missing, len(rows), without, *words)
            size += raw.size()
        identity = None if raw is None else raw.identity()
        head = BackupHead(FORMAT, version(), settings.clock(), size, identity, tuple(missing))
        members: dict[str, str] = {}
        unfinished = folder / "archive"
        advance = meter("MiB packed", size // PIECE)
        with (
            _create(unfinished) as out,
            zstandard.ZstdCompressor(level=_LEVEL).stream_writer(out, closefd=False) as packed,
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            _add_bytes(archive, HEAD, msgspec.json.encode(head))
            for name, copy in copies.items():
                with copy.open("rb") as database:
                    members[name] = _add(archive, name, database, copy.stat().st_size, advance)
                copy.unlink()
            captures: dict[str, list[Capture]] = {}
            damaged: list[Lost] = []
            for name in names:
                content = None if raw is None else raw.blobs.get(name)
                if content is None:
                    raise BackupError(f"{settings.raw_place}/{name} went away while it was read")
                damaged += _flaws(name, content, captures)
                members[f"{RAW}/{name}"] = _add_bytes(archive, f"{RAW}/{name}", content, advance)
            if not missing:  # only payloads that the data came from; `backup --verify` reports the others
                needed = {row.capture for row in rows}
                demand([loss for loss in damaged if loss.capture in needed], len(needed), None, *words)
            manifest = Manifest(FORMAT, head.almanac, head.created_at, SCHEMA, data_version, members)
            _add_bytes(archive, MANIFEST, msgspec.json.encode(manifest))
        sync(unfinished)
        # Unlike a rename, a link fails if the name has been taken meanwhile.
        os.link(unfinished, file)
    sync(file.parent)
    return manifest


def _flaws(name: str, content: bytes, captures: dict[str, list[Capture]]) -> Iterator[Lost]:
    """
    Yield the payloads that a damaged raw file makes unusable. Index files come first; they fill `captures`, by the hash
    of their bytes.
    """
    if name.startswith("index/"):
        try:
            capture = decoded(name, content)
        except Corrupt as error:
            yield Lost(Path(name).stem, Path(name).parent.name, "", str(error))
        else:
            captures.setdefault(capture.sha256, []).append(capture)
        return
    for capture in captures.pop(Path(name).stem, ()):
        try:
            unpacked(capture, content)
        except Corrupt as flaw:
            yield Lost(capture.id, capture.source, capture.url, str(flaw))


def _snapshot(at: Place, part: KeptDatabase, copy: Path, meter: Meter) -> Path:
    """Copy a database in use to a consistent file, readable by its owner only, from either engine."""
    if isinstance(at, Path):
        copy.touch(mode=0o600)

        def begin(size: int) -> Advance:
            advance = meter(f"MiB of {at.name} copied", size // PIECE)
            return lambda done: advance(done / PIECE)

        try:
            with opening.faults():
                sqlite.copy_file(at, copy, begin)
        except FullError as error:
            raise BackupError(opening.advice(error, copy)) from None
    elif part.area is not None:
        copy = copy.parent / _CARRIED / copy.name  # a folder of its own: who makes a database in one locks it
        with (
            contextlib.closing(opening.open_auxiliary(at, schema=part.area)) as source,
            contextlib.closing(opening.open_copy(copy, part.area)) as target,
        ):
            copy_tables(source, target, part.area)
    return copy


def _check_whole(at: Place, copy: Path) -> None:
    """Raise BackupError if a copied database is damaged: whoever needs the backup would find out too late."""
    damages = sqlite.file_damages(copy)
    if damages:
        more = f" and {len(damages) - 1} more" if len(damages) > 1 else ""
        ways = "or leave data out with --without-data, which `almanac rebuild` makes anew" if copy.name == DATA else ""
        raise BackupError(
            f"{at} is damaged ({damages[0].splitlines()[0]}{more}): keep the backups made before."
            f" Mend it, {ways}{', ' if ways else ''}or copy it as it is with --no-verify"
        )


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int, advance: Advance) -> str:
    """Add a member and return its SHA-256."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    metered = _Metered(content, advance)
    archive.addfile(info, metered)
    return metered.digest.hexdigest()


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes, advance: Advance = lambda _: None) -> str:
    return _add(archive, name, io.BytesIO(content), len(content), advance)
