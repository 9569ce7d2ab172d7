"""A rehearsal: a store, the stand-in for all publishers, and one clock for both."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from almanac.catalog.load import shipped
from almanac.config import Http, Settings, SourceSettings
from almanac.domain.reference import Source
from almanac.domain.rights import Consent, Exposure
from tests.publishers.clock import SimulatedClock
from tests.publishers.figures import Figures
from tests.publishers.rooms import every
from tests.publishers.standin import StandIn, lead


class Moving(Settings, frozen=True, kw_only=True):
    """Settings whose now is the rehearsal's."""

    ticking: SimulatedClock

    def clock(self) -> int:
        return int(self.ticking.now)


@contextmanager
def rehearsal(
    home: Path, start: str, patch: Callable[[object, str, object], None], *, keys: bool
) -> Iterator[tuple[Moving, StandIn, Figures]]:
    """Settings of an empty store, the stand-in that answers it, and the figures that it publishes."""
    clock, figures = SimulatedClock(start), Figures()
    with StandIn(every(figures), clock) as stand_in:
        lead(stand_in, patch)
        sources = {source.id: _own(source) for source in shipped().sources.values() if source.connector} if keys else {}
        # As an operator states it who reads the instructions; all else is as installed.
        http = Http(contact="rehearsal@example.org")
        yield Moving(home=home, http=http, sources=sources, processes=1, ticking=clock), stand_in, figures


def _own(source: Source) -> SourceSettings:
    """A key and a recorded consent, where a source wants them."""
    consent = None
    if source.rights.channel is not Exposure.public:
        consent = Consent(by="the rehearsal", on="2026-10-01", reference="none")
    if source.key_setting is None:
        return SourceSettings(consent=consent)
    if source.key_setting.endswith("CONTACT"):
        return SourceSettings(consent=consent, contact="rehearsal@example.org")
    return SourceSettings(consent=consent, api_key="a" * 32)
