"""Worlds built once for a state of the code: all workers and later runs share them, and none writes to them."""

import contextlib
import fcntl
import functools
import hashlib
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from . import postgres
from .paths import ROOT

#: Worlds of other states of the code are removed after this many seconds without use.
_KEPT = 21_600
_SOURCES = ("src", "clients/python/src", "tests", "requirements/dev.txt")


@functools.cache
def _fingerprint() -> str:
    """Return a hash of what worlds depend on: the code, what tests share, the packages and the interpreter."""
    mark = hashlib.sha256(sys.version.encode())
    for name in _SOURCES:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith("test_"):
                mark.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return mark.hexdigest()[:16]


def _root(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Folder of the worlds. Those whose data are on a server last as long as the run, as their databases do."""
    if postgres.ENGINE == "postgres":
        base = tmp_path_factory.getbasetemp()
        return base if worker_id == "master" else base.parent
    kept = ROOT / ".pytest_cache" / "worlds"
    root = kept / _fingerprint()
    root.mkdir(parents=True, exist_ok=True)
    root.touch()
    for other in kept.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if time.time() - other.stat().st_mtime > _KEPT:
                shutil.rmtree(other, ignore_errors=True)
    return root


def once(
    tmp_path_factory: pytest.TempPathFactory,
    worker_id: str,
    name: str,
    make: Callable[[Path], None],
    *,
    copied: bool = True,
) -> Path:
    """
    Return a folder that the first worker to ask makes; the others wait for it. Copy it before you write to it.

    On a server, `copied` says if copies of its homes have data of their own; else the homes have one database, wherever
    their folders are.
    """
    root = _root(tmp_path_factory, worker_id)
    name = f"{name}-{hashlib.sha256(Path(make.__code__.co_filename).read_bytes()).hexdigest()[:8]}"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root / name
        if not done.exists():
            making = root / f"{name}.making"
            shutil.rmtree(making, ignore_errors=True)
            with postgres.made_once(copied=copied):
                make(making)
            making.rename(done)
    return done
