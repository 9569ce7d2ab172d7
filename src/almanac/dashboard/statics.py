"""Style, script and fonts: under an address with a hash of them all, so that a browser may keep them for good."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

import zstandard

#: What is compressed already gains nothing.
_PACKED = {".woff2", ".png", ".gz"}
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".woff2": "font/woff2"}
_PREFIX = "/static/"


class Static(NamedTuple):
    """One file, and its shorter forms by the name that `Accept-Encoding` has for them."""

    media_type: str
    body: bytes
    coded: dict[str, bytes]


class Statics:
    """All files of the folder `static`, read and compressed once.

    The hash is a folder of the address, not part of each name: modules of script and style name each other by plain
    relative names.
    """

    def __init__(self, folder: Traversable | None = None) -> None:
        root = folder or files("almanac.dashboard").joinpath("static")
        found = dict(sorted(_walk(root, "")))
        mark = hashlib.sha256()
        for name, body in found.items():
            mark.update(f"{name}\0{len(body)}\0".encode() + body)
        self._base = f"{_PREFIX}{mark.hexdigest()[:16]}/"
        self._files = {self._base + name: _static(name, body) for name, body in found.items()}

    def address(self, name: str) -> str:
        """Where a file is served. Raises KeyError for one that is not there."""
        address = self._base + name
        if address not in self._files:
            raise KeyError(f"there is no static file '{name}'")
        return address

    def find(self, path: str) -> Static | None:
        return self._files.get(path)


def _walk(folder: Traversable, before: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _walk(one, f"{before}{one.name}/")
        else:
            found.append((before + one.name, one.read_bytes()))
    return found


def _static(name: str, body: bytes) -> Static:
    ending = name[name.rfind(".") :] if "." in name else ""
    kind = _TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    if ending in _PACKED:
        return Static(kind, body, {})
    coded = {
        "zstd": zstandard.ZstdCompressor(level=12).compress(body),
        "gzip": gzip.compress(body, compresslevel=9, mtime=0),
    }
    return Static(kind, body, {name: short for name, short in coded.items() if len(short) < len(body)})
