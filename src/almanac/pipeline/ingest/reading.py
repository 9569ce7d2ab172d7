"""Reading of payloads: a pure function of their bytes, which worker processes can run."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Mapping

from almanac.domain.reference import SeriesSpec, Source
from almanac.sources import storable
from almanac.sources.base import Connector, Parsed, Payload, connector


def described(source: Source, series: dict[str, SeriesSpec]) -> bytes:
    """Serialise the context that `read` needs for a source's payloads."""
    return pickle.dumps((source, series))


def parsed(reader: Connector, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
    """Parse a payload and check that everything in it can be stored. Raises SourceChanged, and any fault of its reader."""
    return storable.check(reader.parse(payload, source, series))


def read(about: bytes, payload: Payload) -> Parsed:
    """Parse a payload of the source that `about` describes. Raises SourceChanged, and any fault of its reader."""
    source, series = _known(about)
    return parsed(connector(source.connector), payload, source, series)


@functools.lru_cache(maxsize=64)
def _known(about: bytes) -> tuple[Source, dict[str, SeriesSpec]]:
    found: tuple[Source, dict[str, SeriesSpec]] = pickle.loads(about)  # noqa: S301  (made by this program a moment ago)
    return found
