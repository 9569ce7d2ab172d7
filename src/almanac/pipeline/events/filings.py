"""Official events for companies' filings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from almanac.catalog.filing_events import shipped
from almanac.catalog.records import is_simulated
from almanac.domain.companies import Filing, cik_of
from almanac.domain.events import EventState, event_id
from almanac.domain.filings import page_of
from almanac.domain.times import midnight

_ZONE = "America/New_York"


def states(
    source: str, filings: Mapping[str, Iterable[tuple[Filing, bool]]], names: Mapping[str, str]
) -> dict[str, list[EventState]]:
    """
    Return the states of the events of companies' filings, by event. Each filing comes with whether its time is exact.

    A filing never moves, so its event has one state, whose time may become known more exactly. A company without a name
    is called by its entity id.
    """
    states: dict[str, list[EventState]] = {}
    for entity, filed in filings.items():
        for filing, exact in filed:
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
                    title=kind.named(names.get(entity, entity), filing.form),
                    status="released",
                    source=source,
                    entity=entity,
                    period=None if filing.report_date is None else date.fromordinal(filing.report_date).isoformat(),
                    form=filing.form,
                    accession=filing.accession,
                    url=_url(source, entity, filing),
                )
                states[identifier] = [state]
    return states


def _url(source: str, entity: str, filing: Filing) -> str | None:
    """Return the filing's page in the regulator's archive, or None for a simulated filing."""
    if is_simulated(source):
        return None
    return page_of(cik_of(entity), filing.accession, filing.document)
