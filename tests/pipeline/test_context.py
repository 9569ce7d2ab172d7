"""A store that is opened tells of what keeps it from being open at once, and has the catalogue that others of its kind have."""

import msgspec
import pytest

from almanac.config import SourceSettings
from almanac.domain.rights import Consent
from almanac.pipeline.context import REAL, SIMULATED, PipelineContext
from tests.support.treasury_home import SOURCE, settings, take


def test_a_store_that_follows_other_consents_says_that_it_takes_time(tmp_path):
    given, said = settings(tmp_path), []
    with PipelineContext(given, tell=said.append) as world:
        take(world, tmp_path / "mirror")
    with PipelineContext(given, tell=said.append):
        pass
    assert said == []  # there was nothing in it, then nothing had changed
    consent = Consent(by="someone", on="2026-01-02", reference="an invented letter")
    agreed = msgspec.structs.replace(given, sources={SOURCE: SourceSettings(consent=consent)})
    for _ in range(2):
        with PipelineContext(agreed, tell=said.append):
            pass
    assert said == ["the store is brought into step with catalogue and settings"]


@pytest.mark.parametrize("kind", [REAL, SIMULATED])
def test_the_catalogue_is_made_once_in_a_process(tmp_path, kind):
    catalogues = []
    for name in ("one", "other"):
        with PipelineContext(settings(tmp_path / name), kind) as world:
            catalogues.append(world.catalog)
            assert any(source.simulated for source in world.catalog.sources.values()) == (kind == SIMULATED)
    one, other = catalogues
    assert one is other
    assert one.series_by_id is other.series_by_id
