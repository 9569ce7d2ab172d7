"""Reading a response body: unpacked and counted piece by piece, so that no server can fill the memory."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from almanac.domain.errors import naming

_CHUNK = 1 << 16


class BrokenBody(Exception):  # noqa: N818  (the name says what happened)
    """The body did not arrive whole. Another attempt may bring it."""


class RefusedBody(Exception):  # noqa: N818  (the name says what happened)
    """The body is too large, or packed in a way nobody asked for."""


def read_body(pieces: Iterable[bytes], encoding: str | None, max_bytes: int) -> bytes:
    """Return the whole body without its content encoding.

    `pieces` are as sent. Raises BrokenBody, and RefusedBody for more than `max_bytes`, packed or plain.
    """
    held = io.BytesIO()  # whose buffer itself becomes the result: pieces to be joined would be held twice
    write_body(pieces, encoding, max_bytes, held)
    return held.getvalue()


def write_body(pieces: Iterable[bytes], encoding: str | None, max_bytes: int, file: BinaryIO) -> None:
    """Read a body into a file, of which no more than a piece is held at a time. OSError of the file is the caller's."""
    # The standard library's reader, not httpx2's: that one takes a gzip stream that ends too early for a whole one.
    file.writelines(_counted(_plain(_counted(pieces, max_bytes), encoding), max_bytes))


def body_in_file(pieces: Iterable[bytes], encoding: str | None, max_bytes: int, folder: Path | None) -> BinaryIO:
    """
    Read a body into a file without a name, which is gone once it is closed, however that comes about; it stands at its beginning.

    Raises as `write_body` does, and OSError where the folder cannot hold it.
    """
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with naming(folder or tempfile.gettempdir()), contextlib.ExitStack() as stack:
        file: BinaryIO = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        write_body(pieces, encoding, max_bytes, file)
        file.seek(0)
        stack.pop_all()  # it is the caller's now
    return file


def first_bytes(pieces: Iterable[bytes], encoding: str | None, size: int) -> tuple[bytes, bool]:
    """At most `size` first bytes of a body, and whether they are all of it. A broken body gives what there is."""
    found = b""
    try:
        for piece in _plain(_until(pieces, size), encoding):
            found += piece
            if len(found) >= size:
                return found[:size], False
    except (BrokenBody, RefusedBody):
        return found, False
    return found, True


def _until(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Pieces up to the one with byte number `size`."""
    for piece in pieces:
        yield piece
        size -= len(piece)
        if size <= 0:
            return


def _counted(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise RefusedBody(f"the body is larger than the {max_bytes} bytes allowed")
        yield piece


def _plain(pieces: Iterable[bytes], encoding: str | None) -> Iterator[bytes]:
    name = (encoding or "identity").strip().lower()
    if name in {"identity", ""}:
        yield from pieces
    elif name in {"gzip", "x-gzip"}:
        yield from _unpacked(pieces)
    else:
        raise RefusedBody(f"the body is packed with {name!r}, which was not asked for; allowed are gzip and none")


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip members one after the other. Raises BrokenBody for a damaged one, and where the last is cut short."""
    member, begun = zlib.decompressobj(wbits=31), False
    try:
        for piece in pieces:
            rest = piece
            while rest or begun:
                if member.eof:
                    rest = rest.lstrip(b"\0")  # padding, which the format allows behind a member
                    if not rest:
                        break
                    member = zlib.decompressobj(wbits=31)
                plain = member.decompress(rest, _CHUNK)
                begun = True
                rest = member.unused_data if member.eof else member.unconsumed_tail
                if plain:
                    yield plain
                elif not rest:
                    break
    except zlib.error as error:
        raise BrokenBody(f"the gzip body is broken ({error})") from None
    if begun and not member.eof:
        raise BrokenBody("the gzip body is broken (it ends before its end)")
