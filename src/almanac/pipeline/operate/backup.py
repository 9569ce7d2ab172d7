"""One file that holds everything: accounts and secrets, raw payloads with their index, and the data."""

from __future__ import annotations

import fcntl
import glob
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec
import zstandard

from almanac.config import Settings
from almanac.store.engine import sqlite
from almanac.store.raw.folder import Folder

FORMAT = 1
_MANIFEST = "manifest.json"
_DATA, _ACCOUNTS, _RAW = "data.db", "accounts.db", "raw"
_LEVEL = 3


class BackupError(Exception):
    """A backup that cannot be made or used. The message says why and what to do."""


class Manifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The last member of a backup. `members`: name → SHA-256 of its bytes, in the order of the archive."""

    format: int
    schema: str
    data_version: int | None
    created_at: int
    members: dict[str, str]


def backup(settings: Settings, file: Path, *, with_data: bool = True) -> Manifest:
    """
    Write a zstd-compressed tar archive, readable by its owner only; it appears under its name when it is whole.

    May run beside a server and an ingest. The data snapshot is taken before the raw files are listed, and their index
    before their objects, so every payload that anything in the archive refers to is in it. Raises BackupError where
    there is nothing to back up or the file is there already.
    """
    if file.exists():
        raise BackupError(f"{file} is there already; choose another name or remove it")
    if not settings.accounts_path.exists() and not settings.data_path.exists() and not settings.raw_path.exists():
        raise BackupError(f"there is nothing to back up in {settings.home}")
    members: dict[str, str] = {}
    version = None
    with _beside(file) as folder:
        unfinished = folder / "archive"
        with (
            _opened(unfinished) as out,
            zstandard.ZstdCompressor(level=_LEVEL).stream_writer(out, closefd=False) as packed,
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            if with_data and settings.data_path.exists():
                copy = _snapshot(settings.data_path, folder / _DATA)
                version = sqlite.data_version(copy)
                _add_file(archive, members, _DATA, copy)
                copy.unlink()
            if settings.accounts_path.exists():
                _add_file(archive, members, _ACCOUNTS, _snapshot(settings.accounts_path, folder / _ACCOUNTS))
            raw = Folder(settings.raw_path)
            for name in [*raw.names("index"), *raw.names("objects")]:
                content = raw.get(name)
                if content is None:
                    raise BackupError(f"{settings.raw_path / name} went away while it was read")
                _add(archive, members, f"{_RAW}/{name}", content)
            manifest = Manifest(FORMAT, sqlite.SCHEMA, version, settings.clock(), members)
            _add(archive, {}, _MANIFEST, msgspec.json.encode(manifest))
        _sync(unfinished)
        # A link, unlike a rename, fails where someone has taken the name meanwhile.
        os.link(unfinished, file)
    _sync(file.parent)
    return manifest


def restore(settings: Settings, file: Path) -> Manifest:
    """
    Put a backup into an empty home; nothing is there until all of it is, checked.

    Raises BackupError for a home that is not empty, storage outside it, and an archive that is damaged, incomplete,
    of another format or holds a name that leads elsewhere.
    """
    home = settings.home
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise BackupError(f"{home} is not empty; restore only into an empty ALMANAC_HOME")
    if (settings.data_path, settings.raw_path) != (home / _DATA, home / _RAW):
        raise BackupError(
            "a backup is restored under ALMANAC_HOME: unset ALMANAC_DATABASE_URL and ALMANAC_RAW_URL, restore, then move"
        )
    home.parent.mkdir(parents=True, exist_ok=True)
    with _beside(home) as folder:
        target = folder / "home"
        target.mkdir(mode=0o700)
        try:
            with file.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as plain:
                manifest = _extract(plain, target)
        except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
            raise BackupError(f"{file} is not a whole backup ({error})") from None
        except BackupError as error:
            raise BackupError(f"{file}: {error}") from None
        for path in target.rglob("*"):
            _sync(path)
        _sync(target)
        target.rename(home)
    _sync(home.parent)
    return manifest


def _extract(plain: IO[bytes], target: Path) -> Manifest:
    found: dict[str, str] = {}
    manifest: Manifest | None = None
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for member in archive:
            if manifest is not None:
                raise BackupError(f"{member.name!r} comes after the manifest")
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                raise BackupError(f"{member.name!r} is not a plain file")
            if member.name == _MANIFEST:
                manifest = _manifest(content.read())
                continue
            if not _allowed(member.name):
                raise BackupError(f"{member.name!r} is not a name that belongs in a backup")
            if member.name in found:
                raise BackupError(f"{member.name!r} is there twice")
            found[member.name] = _copy(content, target / member.name)
    if manifest is None:
        raise BackupError("has no manifest: it was cut off, or is not a backup of Almanac")
    if found != manifest.members:
        wrong = sorted(
            name for name in found.keys() | manifest.members if found.get(name) != manifest.members.get(name)
        )
        raise BackupError(f"{wrong[0]!r} is not what the manifest says ({len(wrong)} such members)")
    return manifest


def _manifest(content: bytes) -> Manifest:
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupError(f"its manifest cannot be read ({error})") from None
    if found.format != FORMAT:
        raise BackupError(f"has format {found.format}, this version of Almanac reads {FORMAT}")
    return found


def _allowed(name: str) -> bool:
    """Only the two databases and files of the raw store, named plainly: nothing that leads out of the home."""
    parts = PurePosixPath(name).parts
    plain = "/".join(parts) == name and "\\" not in name and "\0" not in name
    return plain and (
        name in {_DATA, _ACCOUNTS}
        or (len(parts) == 4 and parts[0] == _RAW and parts[1] in {"index", "objects"} and ".." not in parts)
    )


def _snapshot(path: Path, copy: Path) -> Path:
    """A consistent copy of a database in use, readable by its owner only."""
    copy.touch(mode=0o600)
    sqlite.copy(path, copy)
    return copy


def _add_file(archive: tarfile.TarFile, members: dict[str, str], name: str, path: Path) -> None:
    with path.open("rb") as content:
        members[name] = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        archive.addfile(_info(name, path.stat().st_size), content)


def _add(archive: tarfile.TarFile, members: dict[str, str], name: str, content: bytes) -> None:
    members[name] = hashlib.sha256(content).hexdigest()
    archive.addfile(_info(name, len(content)), io.BytesIO(content))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


def _copy(content: IO[bytes], path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while piece := content.read(1 << 20):
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder on the same file system, gone at the end. One that a killed run left behind goes first."""
    prefix = f".{path.name}.unfinished-"
    # The folder is locked while its run lives; whoever gets the lock knows that it does not.
    for left in path.parent.glob(f"{glob.escape(prefix)}*"):
        with _held(left) as free:
            if free:
                shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    except FileNotFoundError:
        raise BackupError(f"there is no folder {path.parent}") from None
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Whether a folder could be locked; it is for as long as the block lasts. One that went away meanwhile could not."""
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


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
