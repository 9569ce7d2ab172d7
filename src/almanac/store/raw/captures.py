"""The raw store: every upstream payload byte for byte, under the hash of its bytes, and an index of captures.

    objects/ab/<SHA-256>.zst        the bytes, zstd-compressed; the hash is of the plain bytes
    index/<source>/<capture>.json   one small file per capture; nothing else remembers when a payload came
    accepted/<source>/<SHA-256>.json   that an operator let a payload pass which would withdraw much, and when
    identity                        a random name of this store, by which a database knows whether it is its own

All other data can be rebuilt from these files. The object is written before the index file, both are written
whole or not at all, and writing the same again changes nothing: a run killed at any instant is simply run again.
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
from typing import NamedTuple, Self

import msgspec
import zstandard

from almanac.domain.progress import Meter, counted, unmetered
from almanac.store.raw.blobs import Blobs, blobs_at

#: Folders of what is listed: what was let pass and the index before the objects that they name.
PARTS = ("accepted", "index", "objects")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: Where the store's own name is, and what one looks like.
IDENTITY = "identity"
_NAME = re.compile(r"[0-9a-f]{32}")


class Corrupt(Exception):  # noqa: N818  (the name says what is the matter)
    """A kept file is missing or not what was written. The message names it."""


class Capture(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One response as it came: what, whence and when. Times are unix seconds, `bytes` the plain size."""

    id: str
    source: str
    url: str
    sha256: str
    #: When it was fetched, as stated: the first key of the order in which payloads are folded.
    fetched_at: int
    #: When it counts as known here: never later than the clock when it was first kept.
    ingested_at: int
    media_type: str
    bytes: int
    status: int = 200
    etag: str | None = None
    last_modified: str | None = None

    @property
    def order(self) -> tuple[int, str, str]:
        """Key of the order in which captures are folded: (`fetched_at`, SHA-256), then the id."""
        return (self.fetched_at, self.sha256, self.id)


@dataclass(frozen=True, slots=True)
class Problem:
    """What `verify` found wrong: the file's name inside the store, and why."""

    name: str
    reason: str


class Looked(NamedTuple):
    """One name of the index: its capture, None where it cannot be read, and what is wrong with it or its object, None for nothing."""

    name: str
    capture: Capture | None
    flaw: Problem | None

    @property
    def id(self) -> str:
        """The capture that the name is of."""
        return self.name.rpartition("/")[2].removesuffix(".json")


@dataclass(slots=True)
class _Known:
    """Captures of one source read so far: their index files never change, so each is read once."""

    #: Whether the index was gone through since somebody wanted it to be.
    listed: bool = False
    names: set[str] = field(default_factory=set)
    by_url: dict[str, Capture] = field(default_factory=dict)

    def add(self, name: str, capture: Capture) -> None:
        """Take in one that was read, or written."""
        held = self.by_url.get(capture.url)
        if held is None or held.order < capture.order:
            self.by_url[capture.url] = capture
        self.names.add(name)


class RawStore:
    """Payloads and their index, over any `Blobs`. Safe to share between threads, and between processes."""

    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}

    @classmethod
    def at(cls, place: str) -> Self:
        """The store at a path or at `s3://bucket/prefix`. Raises OSError for a place that cannot be one."""
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
        """Keep one response and return its capture; if it is there already, the one recorded first.

        `url` carries no key (`sources.base.Request.url`). `fetched_at` is the stated time, `clock` the data's now,
        both unix seconds. Raises ValueError for a source that is no slug, Corrupt for an unreadable index file.
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
        # An object that rotted on disk is written anew: here are its bytes again.
        if self._flaw(capture) is not None:
            self.blobs.put(object_name(sha256), zstandard.compress(body))
        name = index_name(source, capture.id)
        if self.blobs.create(name, msgspec.json.format(msgspec.json.encode(capture), indent=1) + b"\n"):
            with self._lock:
                if source in self._known:
                    self._known[source].add(name, capture)
            return capture
        return self._load(name)

    def read(self, capture: Capture) -> bytes:
        """The bytes as received. Raises Corrupt if they are missing or do not have their hash."""
        content = self._unpack(capture)
        if isinstance(content, Problem):
            raise Corrupt(f"{content.name}: {content.reason}")
        return content

    def head(self, sha256: str, count: int) -> bytes:
        """The first bytes of a payload, for the eye: its hash is not checked. Raises Corrupt if they cannot be read."""
        name = object_name(sha256)
        packed = self.blobs.get(name)
        if packed is None:
            raise Corrupt(f"{name}: is missing")
        try:
            return _decompress(packed, count - 1)
        except zstandard.ZstdError as error:
            raise Corrupt(f"{name}: cannot be decompressed ({error})") from None

    def identity(self) -> str | None:
        """The store's own name; None for one that has none yet. Raises Corrupt for what is no name."""
        content = self.blobs.get(IDENTITY)
        if content is None:
            return None
        name = content.decode("ascii", "replace").strip()
        if not _NAME.fullmatch(name):
            raise Corrupt(f"{IDENTITY}: is not 32 hexadecimal digits")
        return name

    def identify(self, name: str | None = None) -> str:
        """Give the store a name, a new one where none is said, unless it has one. Returns the one it has: the first writer's."""
        self.blobs.create(IDENTITY, f"{name or secrets.token_hex(16)}\n".encode())
        made = self.identity()
        if made is None:
            raise Corrupt(f"{IDENTITY}: is missing right after it was written")
        return made

    def captures(
        self, source: str | None = None, *, passed_by: Callable[[str], object] | None = None
    ) -> Iterator[Capture]:
        """
        All captures, or those of one source, in the order in which they are folded. Raises Corrupt for one that cannot be read,
        unless somebody listens who is told of it.
        """
        if source is not None:
            _check_source(source)
        names = self.blobs.names("index" if source is None else f"index/{source}")
        found = self._loaded(names) if passed_by is None else self._readable(names, passed_by)
        yield from sorted(found, key=lambda capture: capture.order)

    def capture(self, source: str, identifier: str) -> Capture | None:
        """One capture, None where there is none of that id. Raises Corrupt for one that cannot be read."""
        if not _SLUG.fullmatch(source) or not _NAME.fullmatch(identifier):
            return None
        name = index_name(source, identifier)
        content = self.blobs.get(name)
        return None if content is None else decoded(name, content)

    def names(self) -> list[str]:
        """What is listed: what was let pass, the index, then the objects. Nothing is read."""
        return [name for part in PARTS for name in self.blobs.names(part)]

    def size(self) -> int:
        """Bytes of all that."""
        return sum(map(self.blobs.size, PARTS))

    def accept(self, source: str, sha256: str, clock: int) -> bool:
        """Record, for good, that a payload of a source may withdraw what it does. False: it was recorded before."""
        _check_source(source)
        told = {"source": source, "sha256": sha256, "acceptedAt": clock}
        return self.blobs.create(
            _accepted(source, sha256), msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
        )

    def is_accepted(self, source: str, sha256: str) -> bool:
        """Whether that was recorded of a payload."""
        return self.blobs.get(_accepted(source, sha256)) is not None

    def any_source(self) -> str | None:
        """A source that has captures, the first by name; None for an empty store."""
        name = next(self.blobs.names("index"), None)
        return None if name is None else name.split("/")[1]

    def latest(self, source: str, url: str) -> Capture | None:
        """The last capture of a URL in the order of folding; None if there is none. Raises Corrupt.

        The index of a source is gone through once, and each of its files read once, in the life of this object: it has a file
        for every answer there ever was. What this object keeps is known to it; what others keep, after `look_again`.
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
        """Have `latest` go through the index of a source once more: others may have kept something meanwhile."""
        with self._lock:
            if source in self._known:
                self._known[source].listed = False

    def verify(self, meter: Meter = unmetered) -> Iterator[Problem]:
        """Read everything and yield what is wrong. An object without a capture is what a kill leaves, and no problem."""
        return (looked.flaw for looked in self.checked(meter=meter) if looked.flaw is not None)

    def checked(self, meter: Meter = unmetered) -> Iterator[Looked]:
        """Read everything. A damaged object is reported once, with the first capture that names it."""
        checked: set[tuple[str, int]] = set()
        for name in counted(list(self.blobs.names("index")), meter, "raw payloads"):
            flaw: Problem | None = None
            capture: Capture | None = None
            try:
                capture = self._load(name)
            except Corrupt as error:
                flaw = Problem(name, str(error).removeprefix(f"{name}: "))
            else:
                if (capture.sha256, capture.bytes) not in checked:
                    checked.add((capture.sha256, capture.bytes))
                    flaw = self._flaw(capture)
            yield Looked(name, capture, flaw)

    def flaw(self, capture: Capture) -> str | None:
        """Why the bytes of a capture cannot be had, None where they can. They are read for it."""
        found = self._flaw(capture)
        return None if found is None else f"{found.name}: {found.reason}"

    def tidy(self) -> int:
        """Remove temporary files of interrupted writes; their number."""
        return self.blobs.tidy()

    def _loaded(self, names: Iterable[str]) -> Iterator[Capture]:
        """Captures in the order of their names, as many read at a time as the storage likes."""
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
        content = self.blobs.get(name)
        if content is None:
            raise Corrupt(f"{name}: is missing")
        return decoded(name, content)

    def _flaw(self, capture: Capture) -> Problem | None:
        content = self._unpack(capture)
        return content if isinstance(content, Problem) else None

    def _unpack(self, capture: Capture) -> bytes | Problem:
        name = object_name(capture.sha256)
        packed = self.blobs.get(name)
        return Problem(name, "is missing") if packed is None else unpacked(capture, packed)


def capture_id(source: str, url: str, fetched_at: int, sha256: str) -> str:
    """First 32 hex digits of the SHA-256 over the JSON list [source, url, fetched_at, sha256]."""
    content = json.dumps([source, url, fetched_at, sha256], separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def unpacked(capture: Capture, packed: bytes) -> bytes | Problem:
    """The bytes of a capture out of what its object holds, or what is wrong with that."""
    name = object_name(capture.sha256)
    try:
        content = _decompress(packed, capture.bytes)
    except zstandard.ZstdError as error:
        return Problem(name, f"cannot be decompressed ({error})")
    if hashlib.sha256(content).hexdigest() != capture.sha256:
        return Problem(name, "does not have the hash it is kept under")
    if len(content) != capture.bytes:
        return Problem(name, f"has {len(content)} bytes, {capture.bytes} by {index_name(capture.source, capture.id)}")
    return content


def decoded(name: str, content: bytes) -> Capture:
    """What an index file says. Raises Corrupt for one that cannot be read, or is of another name."""
    try:
        capture = msgspec.json.decode(content, type=Capture)
    except msgspec.DecodeError as error:
        raise Corrupt(f"{name}: {error}") from None
    own = capture_id(capture.source, capture.url, capture.fetched_at, capture.sha256)
    if own != capture.id or name != index_name(capture.source, capture.id):
        raise Corrupt(f"{name}: its content belongs to {index_name(capture.source, own)}")
    return capture


def _decompress(packed: bytes, size: int) -> bytes:
    """At most one byte more than expected: a damaged header must not ask for all the memory there is."""
    with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
        return reader.read(size + 1)


def _check_source(source: str) -> None:
    if not _SLUG.fullmatch(source):
        raise ValueError(f"source {source!r} is not lower-case letters and digits joined by hyphens")


def object_name(sha256: str) -> str:
    """Where the bytes with a hash are."""
    return f"objects/{sha256[:2]}/{sha256}.zst"


def _accepted(source: str, sha256: str) -> str:
    return f"accepted/{source}/{sha256}.json"


def index_name(source: str, capture: str) -> str:
    """Where a capture is."""
    return f"index/{source}/{capture}.json"
