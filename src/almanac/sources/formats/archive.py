"""Zip archives that came over the network: opened without trust, read as streams, never beyond a budget.

A small archive can unpack to any size, so what is read is counted byte by byte, over all archives inside one payload;
the sizes that an archive states of itself are not believed.
"""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from almanac.sources.base import SourceChanged

#: What the zip module raises for a member that is damaged, encrypted or packed in a way it does not know.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    struct.error,
)


class Budget:
    """Bytes that may still be unpacked from one payload, and the most that one member may have."""

    def __init__(self, total: int = 512 << 20, member: int = 64 << 20) -> None:
        self.left = total
        self.member = member

    def spend(self, amount: int, where: str) -> None:
        """Count bytes unpacked. Raises SourceChanged beyond the budget."""
        self.left -= amount
        if self.left < 0:
            raise SourceChanged(f"{where} unpacks to more than is allowed")


class Stream:
    """One member, unpacked while it is read."""

    def __init__(self, file: IO[bytes], budget: Budget, where: str) -> None:
        self._file = file
        self._budget = budget
        self._where = where
        self._left = budget.member

    def read(self, size: int = 65_536) -> bytes:
        """At most so many bytes, none at the end. Raises SourceChanged for damage and for a member or payload too large."""
        try:
            chunk = self._file.read(size)
        except _BROKEN as error:
            raise SourceChanged(f"{self._where} is damaged: {error}") from None
        self._budget.spend(len(chunk), self._where)
        self._left -= len(chunk)
        if self._left < 0:
            raise SourceChanged(f"{self._where} unpacks to more than {self._budget.member} bytes")
        return chunk

    def lines(self, longest: int = 1 << 20) -> Iterator[bytes]:
        """Lines without their ends (a line feed), while the member is read. Raises SourceChanged for one longer than `longest`."""
        rest = b""
        while chunk := self.read():
            first, *others = chunk.split(b"\n")
            rest += first
            if others:
                *whole, last = others
                yield rest
                yield from whole
                rest = last
            if len(rest) > longest:
                raise SourceChanged(f"{self._where} has a line of more than the {longest} bytes that are read")
        if rest:
            yield rest


class Archive:
    """A zip archive, held in memory or in a file that stays open. Raises SourceChanged where it is none."""

    def __init__(self, body: bytes | BinaryIO, budget: Budget, where: str) -> None:
        self.where = where
        self.budget = budget
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body) if isinstance(body, bytes) else body)
        except _BROKEN as error:
            raise SourceChanged(f"{where} is not a zip archive: {error}") from None

    @property
    def names(self) -> list[str]:
        """Names of all members, as listed."""
        return self._zip.namelist()

    @contextmanager
    def open(self, name: str) -> Iterator[Stream]:
        """Open a member as a stream. Raise SourceChanged if there is none of that name."""
        where = f"{self.where}/{name}"
        try:
            file = self._zip.open(name)
        except KeyError:
            raise SourceChanged(f"{self.where} has no member {name}") from None
        except _BROKEN as error:
            raise SourceChanged(f"{where} is damaged: {error}") from None
        with file:
            yield Stream(file, self.budget, where)

    def read(self, name: str) -> bytes:
        """Return a member whole. Raise SourceChanged if there is none of that name."""
        with self.open(name) as stream:
            return stream.read(self.budget.member + 1)
