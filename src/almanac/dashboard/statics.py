"""Style, script and fonts: under an address with a hash of them all, so that a browser may keep them for good."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
from pathlib import Path

import zstandard
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import Scope

from almanac.api.server.envelope import choose_coding

_FOLDER = Path(__file__).parent / "static"
#: Python's own table has neither of the first and the last on every machine.
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}
#: What is compressed already gains nothing.
_PACKED = {".woff2", ".png", ".gz"}


class Statics(StaticFiles):
    """
    All files of the folder `static`. The hash is a folder of the address (`base`), not part of each name: modules of script and
    style name each other by plain relative names.
    """

    def __init__(self, folder: Path = _FOLDER) -> None:
        super().__init__(directory=folder)
        self._folder = folder
        digest = hashlib.sha256()
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                body = file.read_bytes()
                digest.update(f"{file.relative_to(folder).as_posix()}\0{len(body)}\0".encode() + body)
        self.base = f"/static/{digest.hexdigest()[:16]}"

    def address(self, name: str) -> str:
        """Return where a file is served. Raises KeyError for one that is not there."""
        if not (self._folder / name).is_file():
            raise KeyError(f"there is no static file '{name}'")
        return f"{self.base}/{name}"

    def file_response(
        self, full_path: PathLike, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file, compressed as the browser likes it."""
        file = Path(full_path)
        coding = choose_coding(Headers(scope=scope).get("accept-encoding", "").encode("latin-1"))
        body, coding = _coded(file, stat_result.st_mtime_ns, coding)
        headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
        if coding is not None:
            headers["content-encoding"] = coding.decode()
        media_type = _TYPES.get(file.suffix, "application/octet-stream")
        return Response(body, status_code, headers, media_type)


@functools.lru_cache(256)
def _coded(file: Path, modified: int, coding: bytes | None) -> tuple[bytes, bytes | None]:
    """Return a file's bytes in a coding, and the coding; as they are, and None, if it makes them no shorter."""
    del modified  # a key of the cache only
    body = file.read_bytes()
    if coding is None or file.suffix in _PACKED:
        return body, None
    packed = zstandard.compress(body, 12) if coding == b"zstd" else gzip.compress(body, 9, mtime=0)
    return (packed, coding) if len(packed) < len(body) else (body, None)
