"""A store that is opened tells of what keeps it from being open at once."""

import msgspec

from almanac.config.settings import SourceSettings
from almanac.domain.rights import Consent
from almanac.pipeline.world import World
from tests.support.treasury_home import SOURCE, settings, take


def test_a_store_that_follows_other_consents_says_that_it_takes_time(tmp_path):
    given, said = settings(tmp_path), []
    with World(given, tell=said.append) as world:
        take(world, tmp_path / "mirror")
    with World(given, tell=said.append):
        pass
    assert said == []  # there was nothing in it, then nothing had changed
    consent = Consent(by="someone", on="2026-01-02", reference="an invented letter")
    agreed = msgspec.structs.replace(given, sources={SOURCE: SourceSettings(consent=consent)})
    for _ in range(2):
        with World(agreed, tell=said.append):
            pass
    assert said == ["the store is brought into step with catalogue and settings"]
