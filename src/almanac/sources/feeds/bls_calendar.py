"""U.S. Bureau of Labor Statistics: its schedule of releases, an iCalendar. It holds no series."""

from __future__ import annotations

from datetime import date
from urllib.parse import urlsplit

from almanac.domain.reference import Source
from almanac.sources.base import Connector, Parsed, Payload, Request, Specs
from almanac.sources.formats import icalendars

_HOST = "www.bls.gov"
_ADDRESS = f"https://{_HOST}/schedule/news_release/bls.ics"


class BlsCalendar(Connector):
    """The calendar of all releases."""

    version = 2
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Plan the one calendar, whole."""
        return [Request(_ADDRESS)]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read the calendar. Raises SourceChanged naming the entry at fault."""
        path = urlsplit(payload.url).path
        if not path.endswith(".ics"):
            return Parsed(ignored=f"{path}: not a calendar")
        parsed = Parsed()
        parsed.calendar += icalendars.entries(payload.body, path.rpartition("/")[2], parsed)
        return parsed


CONNECTOR = BlsCalendar()
