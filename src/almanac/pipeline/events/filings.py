"""Official events for companies' filings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from almanac.catalog.filing_events import shipped
from almanac.catalog.records import is_simulated
from almanac.domain.companies import Filing, cik_of
from almanac.domain.events import EventState, event_id
from almanac.domain.filings import page_of
from almanac.domain.times import midnight
from almanac.store.engine.protocol import Database
from almanac.store.events import events

_ZONE = "America/New_York"


def enter(
    db: Database, version: int, source: str, entity: str, name: str, filings: Iterable[tuple[Filing, bool]]
) -> bool:
    """
    Store the events of a company's filings, each with whether its time is exact. Returns whether any changed.

    A filing never moves, so its event has one state, whose time may become known more exactly.
    """
    target: dict[str, list[EventState]] = {}
    for filing, exact in filings:
        for kind in shipped().of(filing.form, filing.items):
            assert filing.known_at is not None
            identifier = event_id(source, filing.accession, kind.item)
            state = EventState(
                event=identifier,
                known_at=filing.known_at,
                occurred_at=filing.known_at if exact else midnight(filing.filed),
                precision="minute" if exact else "day",
                time_zone=_ZONE,
                category=kind.category,
                type=kind.type,
                title=kind.named(name, filing.form),
                status="released",
                source=source,
                entity=entity,
                period=None if filing.report_date is None else date.fromordinal(filing.report_date).isoformat(),
                form=filing.form,
                accession=filing.accession,
                url=_url(source, entity, filing),
            )
            target[identifier] = [state]
    return events.replace(db, version, target)


def _url(source: str, entity: str, filing: Filing) -> str | None:
    """Return the filing's page in the regulator's archive, or None for a simulated filing."""
    if is_simulated(source):
        return None
    return page_of(cik_of(entity), filing.accession, filing.document)
