"""
Packing short texts with a dictionary of what all texts of their kind say alike.

A dictionary is a file of the program, trained on simulated ones and never changed, as what was packed with it could not
be read any more: a better one is one more file. `python -m bench.dictionary` makes them.
"""

from __future__ import annotations

import threading

import zstandard

#: Where four fifths of the gain are had at a twentieth of the time of the highest.
LEVEL = 9


class _Halves(threading.local):
    """What packs and unpacks, one for each thread: neither half may be used by two at once."""

    def __init__(self, dictionary: zstandard.ZstdCompressionDict) -> None:
        # Neither what a frame begins with nor the dictionary's own number: of short texts both were a tenth.
        bare = zstandard.ZstdCompressionParameters.from_level(
            LEVEL, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_dict_id=False
        )
        self.compressor = zstandard.ZstdCompressor(dict_data=dictionary, compression_params=bare)
        self.decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, format=zstandard.FORMAT_ZSTD1_MAGICLESS)


class Packing:
    """Packs with the newest of some dictionaries, and unpacks with any: a text says by its first byte with which, from 1 on."""

    def __init__(self, *dictionaries: bytes) -> None:
        self._halves = [_Halves(zstandard.ZstdCompressionDict(one)) for one in dictionaries]
        self._newest = bytes([len(dictionaries)])

    def pack(self, text: bytes) -> bytes:
        """A text as it is stored."""
        return self._newest + self._halves[-1].compressor.compress(text)

    def unpack(self, stored: bytes) -> bytes:
        """A text as it was. Raises zstandard.ZstdError for a damaged one."""
        if not stored or not 0 < stored[0] <= len(self._halves):
            raise zstandard.ZstdError(f"no dictionary {stored[:1].hex() or 'is named'}")
        return self._halves[stored[0] - 1].decompressor.decompress(stored[1:])
