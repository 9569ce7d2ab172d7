"""
Bodies of statements as they are stored: packed with a dictionary of what all of them say alike.

A statement is two kilobytes of JSON, most of it the names of its fields. With the dictionary, which is part of the
program, a tenth of it is left. A dictionary is never changed, as what was packed with it could not be read any more: a
better one is one more file, and a frame says by number which one it needs. `python -m bench.dictionary` makes them.
"""

from __future__ import annotations

import threading
from importlib.resources import files

import zstandard

#: Where four fifths of the gain are had at a twentieth of the time of the highest.
_LEVEL = 9
_DICTIONARY = "statement-1.zdict"


class _Packer(threading.local):
    """What packs and unpacks, one for each thread: neither half may be used by two at once."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(dict_data=_dictionary)
        self.decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary)


def pack(body: bytes) -> bytes:
    """A body as it is stored. An empty one, which says that there is no statement any more, stays so."""
    return _packer.compressor.compress(body) if body else body


def unpack(stored: bytes) -> bytes:
    """A body as it was. One that was never packed is given back as it is. Raises zstandard.ZstdError for a damaged one."""
    return _packer.decompressor.decompress(stored) if stored.startswith(zstandard.FRAME_HEADER) else stored


_dictionary = zstandard.ZstdCompressionDict((files(__package__) / _DICTIONARY).read_bytes())
_dictionary.precompute_compress(level=_LEVEL)
_packer = _Packer()
