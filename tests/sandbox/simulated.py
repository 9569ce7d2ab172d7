"""A simulated world, read once by the connectors of the real feeds, for the tests of the sandbox."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from almanac.catalog.records import Catalog
from almanac.domain.observations import ReportedValue, Vintage, settle
from almanac.domain.periods import end_of
from almanac.sandbox.world import Response
from almanac.sources.base import Payload, connector

NOW = int(datetime(2024, 3, 13, 15, 30, tzinfo=UTC).timestamp())
DAY = 86_400
#: The last business day that is over at NOW.
YESTERDAY = date(2024, 3, 12)


@dataclass
class Seen:
    """A world, read once: a hash for every page, and all that the connectors found."""

    hashes: dict[tuple[str, str, int], str] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    rows: int = 0
    unmapped: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    releases: dict[str, set[date]] = field(default_factory=lambda: defaultdict(set))
    #: (source, native) → statements with the time of their page, in order of arrival.
    stated: dict[tuple[str, str], list[tuple[int, ReportedValue]]] = field(default_factory=lambda: defaultdict(list))

    def cells(self, source: str, native: str) -> dict[date, list[Vintage]]:
        """Served vintages by last day of the period, settled as the store would."""
        cells: dict[int, list[Vintage]] = defaultdict(list)
        for fetched, one in self.stated[source, native]:
            known = fetched if one.known is None or (one.first_only and cells[one.period]) else min(one.known, fetched)
            released = None if one.released is None else min(one.released, fetched)
            cells[one.period].append(Vintage(known, one.value, one.text, one.flags, released, fetched, 0))
        return {end_of(period): settle(found, period, 200) for period, found in cells.items()}

    def latest(self, source: str, native: str) -> dict[date, float]:
        """What is served now, by last day of the period."""
        return {
            end: found[-1].value
            for end, found in sorted(self.cells(source, native).items())
            if found and found[-1].value is not None
        }


def read(catalog: Catalog, pages: list[Response]) -> Seen:
    seen = Seen()
    for page in pages:
        key = (page.source, page.url, page.fetched_at)
        assert key not in seen.hashes, key
        seen.hashes[key] = hashlib.sha256(page.body).hexdigest()
        seen.order.append(page.fetched_at)
        source = catalog.sources[page.source]
        reader = connector(source.connector)
        assert reader.owns(page.url)
        payload = Payload(page.url, page.body, page.fetched_at, page.media_type)
        parsed = reader.parse(payload, source, catalog.series.get(page.source, {}))
        seen.unmapped.update(parsed.unmapped)
        seen.unread.update(parsed.unread)
        if parsed.ignored is not None:
            seen.ignored.add(parsed.ignored)
        for dated in parsed.release_dates:
            seen.releases[dated.release].add(dated.day)
        for block in parsed.blocks:
            seen.rows += len(block.statements)
            seen.stated[page.source, block.native] += [(page.fetched_at, one) for one in block.statements]
    return seen


def page_of(pages: list[Response], source: str, part: str) -> Response:
    """The last page of a source whose URL has that part."""
    return next(page for page in reversed(pages) if page.source == source and part in page.url)
