"""Putting a backup back, and trying out whether it could be."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from almanac.config import Settings
from almanac.domain.progress import Meter, unmetered
from almanac.pipeline.operate.archive import (
    DATABASES,
    MANIFEST,
    RAW,
    BackupError,
    KeptDatabase,
    Manifest,
    beside,
    differences,
    extract,
    sync,
    too_new,
)
from almanac.store.engine import detached, opening, sqlite
from almanac.store.engine.carrying import carry, holdings
from almanac.store.engine.opening import Server
from almanac.store.engine.sqlite import alone
from almanac.store.raw.captures import RawStore
from almanac.store.raw.folder import Folder

#: What temporary folders of a restore are called after.
_NAME = "restore"
#: What a database leaves beside itself; beside another database of that name it would be taken for that one's.
_TRACES = ("", "-wal", "-shm", "-journal")


def restore(settings: Settings, file: Path, meter: Meter = unmetered) -> Manifest:
    """
    Put a backup into a home that holds nothing it would overwrite; none of it is there until all of it is, checked.
    Where the data are on a server, accounts and counts of requests are brought there, and data are left out.

    Killed at any instant, the next run begins anew, or ends what was left to do. Raises BackupError for a home with
    data of its own, storage outside it, and an archive that is damaged, incomplete, of a later version or holds a name
    that leads elsewhere.
    """
    home = settings.home
    if home.exists() and not home.is_dir():
        raise BackupError(f"{home} is not a folder")
    if settings.restored_path.exists():
        with alone(home):
            return _settle(settings)
    _check_free(settings)
    files = {name: at for name, part in DATABASES.items() if isinstance(at := part.at(settings), Path)}
    if any(at != home / name for name, at in files.items()) or settings.raw_path != home / RAW:
        raise BackupError(
            "a backup is restored under ALMANAC_HOME: unset ALMANAC_DATABASE_URL and ALMANAC_RAW_URL, restore, then move"
        )
    with _made(home), beside(home, _NAME) as folder:
        target = folder / "home"
        target.mkdir(mode=0o700)
        manifest, found = extract(file, target, meter)
        if wrong := differences(manifest, found):
            raise BackupError(f"{file}: {wrong[0]!r} is not what the manifest says ({len(wrong)} such members)")
        for told in too_new(manifest, target):
            raise BackupError(f"{file}: {told}")
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
    Try out whether a backup can be restored, in a temporary folder beside it: hashes, databases, raw payloads.

    Returns its manifest and every problem found; without a manifest, where the file cannot be read to its end. Takes as
    much room as a restore, for as long as it runs.
    """
    try:
        with beside(_roomy(file.absolute().parent), file.name) as folder:
            manifest, found = extract(file, folder, meter)
            problems = [f"{name}: is not what the manifest says" for name in differences(manifest, found)]
            held = [name for name in DATABASES if name in found]
            problems += [f"{name}: {told}" for name in held for told in detached.damages(folder / name)]
            if not problems:
                problems += too_new(manifest, folder)
                problems += [f"{RAW}/{one.name}: {one.reason}" for one in RawStore(Folder(folder / RAW)).verify()]
            return manifest, problems
    except BackupError as error:
        return None, [str(error).removeprefix(f"{file}: ")]


def _roomy(folder: Path) -> Path:
    """The folder itself where it can be written to, as it is meant to hold such files; else that for temporary ones."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.gettempdir())


def _check_free(settings: Settings) -> None:
    home = settings.home
    for part in DATABASES.values():
        at = part.at(settings)
        if isinstance(at, Server) and part.area is not None:
            with contextlib.closing(opening.open_area(at, area=part.area)) as db:
                if found := holdings(db, part.area):
                    raise BackupError(
                        f"{at} holds rows in {', '.join(found)}, which a restore would overwrite:"
                        " choose another database, or another schema"
                    )
    names = [RAW, *(f"{name}{trace}" for name in DATABASES for trace in _TRACES)]
    held = [name for name in names if (home / name).exists()]
    if held:
        raise BackupError(
            f"{home} holds {', '.join(held)}, which a restore would overwrite: move that away, or choose another ALMANAC_HOME"
        )


@contextlib.contextmanager
def _made(home: Path) -> Iterator[None]:
    """The home, made if it is not there; then it goes again where the block fails."""
    fresh = not home.exists()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        yield
    except BaseException:  # whatever ended it, a signal too
        if fresh:
            with contextlib.suppress(OSError):
                home.rmdir()
        raise


def _put(file: Path, at: Server, part: KeptDatabase) -> None:
    """
    Bring what a file holds to a server; then the file goes. A server that has it already, from a run that was killed here,
    has the same afterwards. The data are made anew there: the file is only let go of.
    """
    if part.area is not None:
        with (
            contextlib.closing(sqlite.open_area(file, part.area)) as source,
            contextlib.closing(opening.open_area(at, area=part.area)) as target,
        ):
            carry(source, target, part.area)
    for trace in _TRACES:
        file.with_name(f"{file.name}{trace}").unlink(missing_ok=True)


def _settle(settings: Settings) -> Manifest:
    """Move what is ready into place, whatever an earlier run has moved already."""
    home, ready = settings.home, settings.restored_path
    manifest = msgspec.json.decode((ready / MANIFEST).read_bytes(), type=Manifest)
    for name, part in DATABASES.items():
        at, file = part.at(settings), ready / name
        if isinstance(at, Server) and file.exists():
            _put(file, at, part)
    for path in sorted(ready.iterdir()):
        if path.name != MANIFEST:
            path.rename(home / path.name)
    sync(home)
    # Out of the way in one step, under a name that the next run clears up; what is left in it is the manifest.
    done = Path(tempfile.mkdtemp(prefix=f".{_NAME}.unfinished-", dir=home))
    ready.rename(done)
    sync(home)
    shutil.rmtree(done, ignore_errors=True)
    return manifest
