"""The databases that hold the data, as an operator sees them: a primary and its replicas, which answers, and how far each has got."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from almanac.looks import BoundedLook
from almanac.ops import SeenDatabase
from almanac.store.engine.patience import Patience, patiently
from almanac.store.observations.reading.reader import Reader

log = structlog.get_logger("almanac.databases")

#: How long one may take to say how far it has got, seconds; and how long that is waited for here: others wait for us.
_LOOK_SECONDS, _WAIT_SECONDS = 5.0, 0.5
#: How long a replica is behind before that is told in the log: one follows within moments while somebody writes.
_BEHIND_SECONDS = 30.0


class Databases(Collector):
    """
    The primary first. `look` asks all at once; each by a thread of its own, so that one that says nothing keeps nobody waiting.

    `close_each`: whether each is opened anew at each look, as a file is that may be replaced.
    """

    def __init__(
        self,
        readers: Sequence[Reader],
        *,
        close_each: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readers = readers
        self._close_each = close_each
        self._monotonic = monotonic
        self._looks = [
            BoundedLook(partial(self._version, one), "database", wait_seconds=_WAIT_SECONDS) for one in readers
        ]
        self._lock = threading.Lock()
        #: What was seen last; and of each that did not answer why, of each that was behind since when, and whether it was told.
        self._seen: Sequence[SeenDatabase] = ()
        self._away: dict[Reader, str] = {}
        self._behind: dict[Reader, tuple[float, bool]] = {}

    def _version(self, reader: Reader) -> int:
        try:
            with patiently(Patience(_LOOK_SECONDS)), reader.view() as view:
                return view.version
        finally:
            if self._close_each:
                reader.close()

    def look(self) -> int:
        """The newest data version that can be read. Raises what the primary raised where there is none; TimeoutError: it is late."""
        for one in self._looks:
            one.begin()
        found: list[int | None] = []
        errors: list[Exception] = []
        late: set[Reader] = set()
        for reader, one in zip(self._readers, self._looks, strict=True):
            version = None
            try:
                version = one.take()
                self._log_change(reader, None)
            except TimeoutError as error:  # it may only be slow: what was known of it stays until it has said or failed
                late.add(reader)
                errors.append(error)
            except Exception as error:  # whatever is wrong with it
                errors.append(error)
                self._log_change(reader, _one_line(error))
            found.append(version)
        before = {one.name: one for one in self._seen}
        seen = []
        for place, (reader, version) in enumerate(zip(self._readers, found, strict=True)):
            role = "replica" if place else "primary"
            if reader in late:
                seen.append(before.get(reader.name) or SeenDatabase(reader.name, role, None, "unknown"))
            else:
                seen.append(SeenDatabase(reader.name, role, version, self._state(reader, version, found[0])))
        self._seen = seen
        newest = max((version for version in found if version is not None), default=None)
        if newest is None:
            raise errors[0]
        return newest

    def seen(self) -> Sequence[SeenDatabase]:
        """What `look` found last."""
        return self._seen

    def _log_change(self, reader: Reader, reason: str | None) -> None:
        """Say in the log, once, that a database does not answer, and that it does again."""
        with self._lock:
            was = self._away.pop(reader, None)
            if reason is not None:
                self._away[reader] = reason
        if (was is None) != (reason is None) and len(self._readers) > 1:
            if reason is None:
                log.info("a database answers again", database=reader.name)
            else:
                log.error("a database does not answer", database=reader.name, reason=reason)

    def _state(self, reader: Reader, version: int | None, primary: int | None) -> str:
        if version is None:
            return "away"
        behind = primary is not None and version < primary
        with self._lock:
            since, told = self._behind.pop(reader, (self._monotonic(), False))
            late = behind and self._monotonic() - since >= _BEHIND_SECONDS
            if behind:
                self._behind[reader] = since, told or late
        if late and not told:
            log.warning("a replica is behind", database=reader.name, version=version, primary=primary)
        elif told and not behind:
            log.info("a replica has caught up", database=reader.name, version=version)
        return "behind" if behind else "ok"

    def collect(self) -> Iterator[Metric]:
        with suppress(Exception):  # none can be read: that is what is shown
            self.look()
        readable = GaugeMetricFamily("almanac_database_readable", "Whether it can be read.", labels=_LABELS)
        versions = GaugeMetricFamily("almanac_database_data_version", "How far it has got.", labels=_LABELS)
        behind = GaugeMetricFamily(
            "almanac_database_versions_behind", "Data versions that a replica lacks of the primary's.", labels=_LABELS
        )
        primary = self._seen[0].version
        for one in self._seen:
            labels = one.name, one.role
            if one.state != "unknown":
                readable.add_metric(labels, one.version is not None)
            if one.version is not None:
                versions.add_metric(labels, one.version)
                if one.role == "replica" and primary is not None:
                    behind.add_metric(labels, max(0, primary - one.version))
        yield readable
        yield versions
        yield behind


_LABELS = ("database", "role")


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
