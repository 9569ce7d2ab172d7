"""Restoring of a backup, and a trial of whether it could be restored."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from almanac.config import Settings
from almanac.domain.progress import Meter, unmetered
from almanac.pipeline.missing_payloads import demand, lost, named
from almanac.pipeline.operate.backup import (
    DATA,
    DATABASES,
    MANIFEST,
    RAW,
    BackupError,
    Manifest,
    differences,
    extract,
    payloads_of,
    scratch_folder,
    sync,
    too_new,
)
from almanac.pipeline.operate.verify import payload_problems, raw_problems
from almanac.store.engine import opening, sqlite
from almanac.store.engine.opening import Server
from almanac.store.engine.schemas import copy_tables, tables_with_rows
from almanac.store.engine.sqlite import alone
from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import IDENTITY, PARTS, Capture, RawStore, index_name

#: Name of a restore's temporary folders.
_NAME = "restore"
#: Suffixes of a database's companion files, which another database of that name would take for its own.
_TRACES = ("", "-wal", "-shm", "-journal")


def restore(settings: Settings, file: Path, meter: Meter = unmetered, *, without: int | None = None) -> Manifest:
    """
    Restore a backup into a home where it overwrites nothing. Nothing appears there until everything is unpacked and
    checked.

    If the data is on a server, accounts and counts of requests are restored there, and data is left out. Raw payloads
    go to the place of `ALMANAC_RAW_URL`.

    If it is killed at any instant, the next run starts again or completes the rest. Raises BackupError for a home that
    has data, a database file outside of it, and an archive that is damaged, incomplete, of a later version or with a
    name that leads elsewhere. Raises LossError if payloads of its data, or of the data on the server, are missing from
    it, unless `without` states their number.
    """
    home = settings.home
    if home.exists() and not home.is_dir():
        raise BackupError(f"{home} is not a folder")
    if settings.restored_path.exists():
        with alone(home):
            return _settle(settings)
    _check_free(settings)
    files = {name: at for name, part in DATABASES.items() if isinstance(at := part.at(settings), Path)}
    if any(at != home / name for name, at in files.items()):
        raise BackupError(
            "a backup is restored under ALMANAC_HOME or to PostgreSQL: unset ALMANAC_DATABASE_URL, restore, then move the file"
        )
    with _made(home), scratch_folder(home, _NAME) as folder:
        target = folder / "home"
        target.mkdir(mode=0o700)
        extracted = extract(file, target, meter)
        manifest, digests = extracted.manifest, extracted.digests
        if wrong := differences(manifest, digests):
            raise BackupError(f"{file}: {wrong[0]!r} is not what the manifest says ({len(wrong)} such members)")
        for sentence in too_new(manifest, target):
            raise BackupError(f"{file}: {sentence}")
        # Payloads that the data in the backup, or on the server it is restored to, came from.
        rows = payloads_of(target / DATA) if DATA in digests else []
        at = opening.place(settings.data_place)
        if isinstance(at, Server) and (target / RAW).is_dir():
            with opening.faults(), contextlib.closing(opening.connect(at, read_only=True)) as db:
                rows += named(db)
        needed = {row.capture: row for row in rows}
        there = lost(needed.values(), RawStore(Folder(target / RAW)))
        missing = {payload.capture: payload for payload in (*there, *extracted.head.lacking)}
        words = "a restore", f"the backup {file}", "Restore another backup, or another database beside it"
        demand(list(missing.values()), len(needed.keys() | missing.keys()), without, *words)
        if extracted.head.raw_store is not None and (target / RAW).is_dir():
            RawStore(Folder(target / RAW)).identify(extracted.head.raw_store)
        (target / MANIFEST).write_bytes(msgspec.json.encode(manifest))
        for path in (*target.rglob("*"), target):
            sync(path)
        with alone(home):  # whoever makes a database here waits, or has made one
            _check_free(settings)
            target.rename(settings.restored_path)
            _settle(settings)
    sync(home.parent)
    return manifest


def check(file: Path, meter: Meter = unmetered) -> tuple[Manifest | None, list[str]]:
    """
    Check whether a backup can be restored, in a temporary folder beside it: hashes, databases and raw payloads.

    Returns its manifest and all problems found; the manifest is None if the file cannot be read to its end. While it
    runs it needs as much space as a restore.
    """
    beside = file.absolute().parent
    place = Path(tempfile.gettempdir())
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=beside):
        place = beside  # it is meant for such files, if it is writable
    try:
        with scratch_folder(place, file.name) as folder:
            extracted = extract(file, folder, meter)
            manifest, digests = extracted.manifest, extracted.digests
            problems = [f"{name}: is not what the manifest says" for name in differences(manifest, digests)]
            databases = [name for name in DATABASES if name in digests]
            problems += [f"{name}: {damage}" for name in databases for damage in sqlite.file_damages(folder / name)]
            if not problems:
                problems += too_new(manifest, folder)
                raw = RawStore(Folder(folder / RAW))
                captures: dict[str, Capture] = {}
                problems += raw_problems(raw, captures)
                if DATA in digests:
                    problems += payload_problems(payloads_of(folder / DATA), raw, captures)
                else:
                    names = set(raw.names())  # what is wrong with those that are there was said
                    problems += [
                        f"made without {payload}"
                        for payload in extracted.head.lacking
                        if index_name(payload.source, payload.capture) not in names
                    ]
            return manifest, problems
    except BackupError as error:
        return None, [str(error).removeprefix(f"{file}: ")]


def _check_free(settings: Settings) -> None:
    home = settings.home
    for part in DATABASES.values():
        at = part.at(settings)
        if isinstance(at, Server) and part.area is not None:
            with contextlib.closing(opening.open_auxiliary(at, schema=part.area)) as db:
                if filled := tables_with_rows(db, part.area):
                    raise BackupError(
                        f"{at} holds rows in {', '.join(filled)}, which a restore would overwrite:"
                        " choose another database, or another schema"
                    )
    if settings.raw_path != home / RAW:
        raw = RawStore.at(settings.raw_place)
        raw.blobs.check()
        if raw.any_source() is not None:
            raise BackupError(
                f"the raw store {settings.raw_place} holds payloads: name an empty one in ALMANAC_RAW_URL"
            )
    names = [RAW, *(f"{name}{trace}" for name in DATABASES for trace in _TRACES)]
    taken = [name for name in names if (home / name).exists()]
    if taken:
        raise BackupError(
            f"{home} holds {', '.join(taken)}, which a restore would overwrite: move that away, or choose another ALMANAC_HOME"
        )


@contextlib.contextmanager
def _made(home: Path) -> Iterator[None]:
    """Create the home if needed, and remove it again if it was created here and the block fails."""
    fresh = not home.exists()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        yield
    except BaseException:  # whatever ended it, a signal too
        if fresh:
            with contextlib.suppress(OSError):
                home.rmdir()
        raise


def _settle(settings: Settings) -> Manifest:
    """Move the unpacked files into place, continuing where an earlier run stopped."""
    home, ready = settings.home, settings.restored_path
    manifest = msgspec.json.decode((ready / MANIFEST).read_bytes(), type=Manifest)
    for name, part in DATABASES.items():
        at, file = part.at(settings), ready / name
        if isinstance(at, Server) and file.exists():
            # If a killed run already copied it, the result is the same. Data is rebuilt on the server.
            if part.area is not None:
                with (
                    contextlib.closing(opening.open_copy(file, part.area)) as source,
                    contextlib.closing(opening.open_auxiliary(at, schema=part.area)) as target,
                ):
                    copy_tables(source, target, part.area)
            for trace in _TRACES:
                file.with_name(f"{file.name}{trace}").unlink(missing_ok=True)
    if settings.raw_path != home / RAW and (ready / RAW).is_dir():
        unpacked, raw = Folder(ready / RAW), RawStore.at(settings.raw_place).blobs
        # Objects go first, so that no index file names a missing one.
        for key in [*(key for part in reversed(PARTS) for key in unpacked.names(part)), IDENTITY]:
            content = unpacked.get(key)
            if content is None:  # a backup of a raw store without a name
                continue
            raw.put(key, content)
            if raw.get(key) != content:
                raise BackupError(f"{settings.raw_place}: {key} is not what was written: run `almanac restore` again")
        shutil.rmtree(ready / RAW)
    for path in sorted(ready.iterdir()):
        if path.name != MANIFEST:
            path.rename(home / path.name)
    sync(home)
    # Move it away in one step, under a name that the next run removes. It contains just the manifest.
    done = Path(tempfile.mkdtemp(prefix=f".{_NAME}.unfinished-", dir=home))
    ready.rename(done)
    sync(home)
    shutil.rmtree(done, ignore_errors=True)
    return manifest
