"""
The raw store: every upstream payload byte for byte, under the hash of its bytes, and an index of captures.

    objects/ab/<SHA-256>.zst        the bytes, zstd-compressed; the hash is of the plain bytes
    index/<source>/<capture>.json   one small file per capture, the only record of when a payload came
    accepted/<source>/<SHA-256>.json   an operator's permission, with its time, for a payload that withdraws much
    identity                        a random name of this store, by which a database recognises its own

All other data can be rebuilt from these files. The object is written before the index file, both are written whole or
not at all, and writing the same again changes nothing: a run killed at any instant is simply run again.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self

import msgspec
import zstandard

from almanac.domain.errors import UserError
from almanac.domain.progress import Meter, counted, unmetered
from almanac.store.raw.blobs import Blobs, blobs_at

#: The listed folders: acceptances and index come before the objects that they name.
PARTS = ("accepted", "index", "objects")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: Name of the file with the store's own name, and the pattern of that name.
IDENTITY = "identity"
_NAME = re.compile(r"[0-9a-f]{32}")


class Corrupt(UserError):  # noqa: N818  (the name says what is the matter)
    """A stored file is missing or differs from what was written: its name inside the store, and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name, self.reason = name, reason


class Capture(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One response with its origin and times (unix seconds). `bytes` is the uncompressed size."""

    id: str
    source: str
    url: str
    sha256: str
    #: Stated time of the fetch: the first key of the folding order.
    fetched_at: int
    #: When it counts as known: never later than the clock when it was first stored.
    ingested_at: int
    media_type: str
    bytes: int
    status: int = 200
    etag: str | None = None
    last_modified: str | None = None

    @property
    def order(self) -> tuple[int, str, str]:
        """The sort key for folding captures: (`fetched_at`, SHA-256), then the id."""
        return (self.fetched_at, self.sha256, self.id)


@dataclass(slots=True)
class _Known:
    """Captures of one source read so far. Index files never change, so each is read only once."""

    #: True if the index was read since the last request to look again.
    listed: bool = False
    names: set[str] = field(default_factory=set)
    by_url: dict[str, Capture] = field(default_factory=dict)

    def add(self, name: str, capture: Capture) -> None:
        """Add a capture that was read or written."""
        held = self.by_url.get(capture.url)
        if held is None or held.order < capture.order:
            self.by_url[capture.url] = capture
        self.names.add(name)


class RawStore:
    """Payloads and their index, stored in any `Blobs`. Safe to share between threads and processes."""

    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}

    @classmethod
    def at(cls, place: str) -> Self:
        """Open the store at a path or at `s3://bucket/prefix`. Raises OSError for a place that cannot be one."""
        return cls(blobs_at(place))

    def keep(
        self,
        source: str,
        url: str,
        body: bytes,
        media_type: str,
        fetched_at: int,
        clock: int,
        *,
        status: int = 200,
        etag: str | None = None,
        last_modified: str | None = None,
    ) -> Capture:
        """
        Store one response and return its capture. If it is stored already, return the capture recorded first.

        `url` must not contain a key (see `sources.base.Request.url`). `fetched_at` is the stated time and `clock` the
        data's now, both in unix seconds. Raises ValueError for a source that isn't a slug, and Corrupt for an
        unreadable index file.
        """
        _check_source(source)
        sha256 = hashlib.sha256(body).hexdigest()
        capture = Capture(
            id=capture_id(source, url, fetched_at, sha256),
            source=source,
            url=url,
            sha256=sha256,
            fetched_at=fetched_at,
            ingested_at=min(fetched_at, clock),
            media_type=media_type,
            bytes=len(body),
            status=status,
            etag=etag,
            last_modified=last_modified,
        )
        # A damaged object is written again, because its bytes are at hand.
        if self.flaw(capture) is not None:
            self.blobs.put(object_name(sha256), zstandard.compress(body))
        name = index_name(source, capture.id)
        if self.blobs.create(name, _written(capture)):
            with self._lock:
                if source in self._known:
                    self._known[source].add(name, capture)
            return capture
        return self._load(name)

    def read(self, capture: Capture) -> bytes:
        """Return the bytes as received. Raises Corrupt if they are missing or don't match their hash."""
        return unpacked(capture, self._get(object_name(capture.sha256)))

    def head(self, sha256: str, count: int) -> bytes:
        """Return the first bytes of a payload, for display. The hash isn't checked. Raises Corrupt if they cannot be read."""
        name = object_name(sha256)
        try:
            return _decompress(self._get(name), count - 1)
        except zstandard.ZstdError as error:
            raise Corrupt(name, f"cannot be decompressed ({error})") from None

    def identity(self) -> str | None:
        """Return the store's own name, or None if it has none yet. Raises Corrupt if the content isn't a name."""
        content = self.blobs.get(IDENTITY)
        if content is None:
            return None
        name = content.decode("ascii", "replace").strip()
        if not _NAME.fullmatch(name):
            raise Corrupt(IDENTITY, "is not 32 hexadecimal digits")
        return name

    def identify(self, name: str | None = None) -> str:
        """
        Give the store a name, by default a random one, unless it has one already. Returns its name, which is the first
        writer's.
        """
        self.blobs.create(IDENTITY, f"{name or secrets.token_hex(16)}\n".encode())
        made = self.identity()
        if made is None:
            raise Corrupt(IDENTITY, "is missing right after it was written")
        return made

    def captures(
        self, source: str | None = None, *, passed_by: Callable[[str], object] | None = None
    ) -> Iterator[Capture]:
        """
        Yield all captures, or those of one source, in folding order.

        Raises Corrupt for an unreadable one. With `passed_by`, unreadable ones are skipped and reported to it.
        """
        if source is not None:
            _check_source(source)
        names = self.blobs.names("index" if source is None else f"index/{source}")
        found = self._loaded(names) if passed_by is None else self._readable(names, passed_by)
        yield from sorted(found, key=lambda capture: capture.order)

    def capture(self, source: str, identifier: str) -> Capture | None:
        """Return one capture, or None if there is none with that id. Raises Corrupt if it cannot be read."""
        if not _SLUG.fullmatch(source) or not _NAME.fullmatch(identifier):
            return None
        name = index_name(source, identifier)
        content = self.blobs.get(name)
        return None if content is None else decoded(name, content)

    def names(self) -> list[str]:
        """Return all names: accepted payloads, the index, then the objects. No content is read."""
        return [name for part in PARTS for name in self.blobs.names(part)]

    def size(self) -> int:
        """Return the total bytes of accepted payloads, index and objects."""
        return sum(map(self.blobs.size, PARTS))

    def accept(self, source: str, sha256: str, clock: int) -> bool:
        """Record for good that a payload may withdraw much of what is served. Returns False if that was recorded before."""
        _check_source(source)
        accepted = {"source": source, "sha256": sha256, "acceptedAt": clock}
        return self.blobs.create(_accepted(source, sha256), _written(accepted))

    def is_accepted(self, source: str, sha256: str) -> bool:
        """Return whether `accept` was recorded for a payload."""
        return self.blobs.get(_accepted(source, sha256)) is not None

    def any_source(self) -> str | None:
        """Return the first source, by name, that has captures, or None for an empty store."""
        name = next(self.blobs.names("index"), None)
        return None if name is None else name.split("/")[1]

    def latest(self, source: str, url: str) -> Capture | None:
        """
        Return the last capture of a URL in folding order, or None if there is none. Raises Corrupt.

        Because the index has a file for every answer ever received, this object goes through it once and reads each
        file once. It knows the captures that it stores itself, and those that others store after `look_again`.
        """
        _check_source(source)
        with self._lock:
            known = self._known.setdefault(source, _Known())
            if not known.listed:
                fresh = [name for name in self.blobs.names(f"index/{source}") if name not in known.names]
                for name, capture in zip(fresh, self._loaded(fresh), strict=True):
                    known.add(name, capture)
                known.listed = True
            return known.by_url.get(url)

    def look_again(self, source: str) -> None:
        """Make `latest` go through the index of a source again, because others may have stored something meanwhile."""
        with self._lock:
            if source in self._known:
                self._known[source].listed = False

    def checked(self, meter: Meter = unmetered) -> Iterator[tuple[Capture | None, Corrupt | None]]:
        """
        Read everything and yield each capture of the index (None: unreadable) with its fault, or its object's, if any.

        A damaged object is reported once, with the first capture that names it. An object without a capture is left by a
        killed run and is not a fault.
        """
        checked: set[tuple[str, int]] = set()
        for name in counted(list(self.blobs.names("index")), meter, "raw payloads"):
            try:
                capture = self._load(name)
            except Corrupt as error:
                yield None, error
                continue
            key = (capture.sha256, capture.bytes)
            yield capture, None if key in checked else self.flaw(capture)
            checked.add(key)

    def flaw(self, capture: Capture) -> Corrupt | None:
        """Read the bytes of a capture and return why they are unusable, or None if they are fine."""
        try:
            self.read(capture)
        except Corrupt as error:
            return error
        return None

    def _loaded(self, names: Iterable[str]) -> Iterator[Capture]:
        """Yield captures in the order of their names, reading as many at a time as suits the storage."""
        if self.blobs.at_once == 1:
            yield from map(self._load, names)
            return
        with ThreadPoolExecutor(self.blobs.at_once) as pool:
            yield from pool.map(self._load, names)

    def _readable(self, names: Iterable[str], passed_by: Callable[[str], object]) -> Iterator[Capture]:
        for name in names:
            try:
                yield self._load(name)
            except Corrupt as error:
                passed_by(f"left out: {error}")

    def _load(self, name: str) -> Capture:
        return decoded(name, self._get(name))

    def _get(self, name: str) -> bytes:
        content = self.blobs.get(name)
        if content is None:
            raise Corrupt(name, "is missing")
        return content


def capture_id(source: str, url: str, fetched_at: int, sha256: str) -> str:
    """Return the first 32 hex digits of the SHA-256 of the JSON list [source, url, fetched_at, sha256]."""
    content = json.dumps([source, url, fetched_at, sha256], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def unpacked(capture: Capture, packed: bytes) -> bytes:
    """Return the bytes of a capture from its stored object. Raises Corrupt if they are not those that were kept."""
    name = object_name(capture.sha256)
    try:
        content = _decompress(packed, capture.bytes)
    except zstandard.ZstdError as error:
        raise Corrupt(name, f"cannot be decompressed ({error})") from None
    if hashlib.sha256(content).hexdigest() != capture.sha256:
        raise Corrupt(name, "does not have the hash it is kept under")
    if len(content) != capture.bytes:
        index = index_name(capture.source, capture.id)
        raise Corrupt(name, f"has {len(content)} bytes, {capture.bytes} by {index}")
    return content


def decoded(name: str, content: bytes) -> Capture:
    """Decode an index file. Raises Corrupt if it cannot be read or belongs to another name."""
    try:
        capture = msgspec.json.decode(content, type=Capture)
    except msgspec.DecodeError as error:
        raise Corrupt(name, str(error)) from None
    own = capture_id(capture.source, capture.url, capture.fetched_at, capture.sha256)
    if own != capture.id or name != index_name(capture.source, capture.id):
        raise Corrupt(name, f"its content belongs to {index_name(capture.source, own)}")
    return capture


def _decompress(packed: bytes, size: int) -> bytes:
    """Decompress at most one byte more than expected, because a damaged header could otherwise demand all memory."""
    with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
        return reader.read(size + 1)


def _check_source(source: str) -> None:
    if not _SLUG.fullmatch(source):
        raise ValueError(f"source {source!r} is not lower-case letters and digits joined by hyphens")


def object_name(sha256: str) -> str:
    """Return the name of the object with a hash."""
    return f"objects/{sha256[:2]}/{sha256}.zst"


def _written(content: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def _accepted(source: str, sha256: str) -> str:
    return f"accepted/{source}/{sha256}.json"


def index_name(source: str, capture: str) -> str:
    """Return the name of a capture's index file."""
    return f"index/{source}/{capture}.json"
