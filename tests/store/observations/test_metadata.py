"""What a reader holds of rows that have a lineage of their own: bounded, and the same whether it is held or read again."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.store.observations.reading import metadata as module
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.numbering import LineageNumbers
from tests.support.small_world import ALPHA, BETA, CATALOG, SmallWorld, sent, spec

JANUARY = Period.parse("2025-01").key
NAMES = [f"level.{country}" for country in ("aaa", "bbb")]


def test_rights_and_metadata_of_lineages_are_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    with SmallWorld() as world:
        world.send(
            [
                sent(ALPHA, 1, *((name, [ReportedValue(JANUARY, 1.0)], None) for name in [*NAMES, "jobless.aaa"])),
                sent(BETA, 1, ("level.aaa", [ReportedValue(JANUARY, 2.0)], None)),
            ]
        )
        first = world.view().directory
        series = [first.series(number) for (number,) in world.db.execute("SELECT series FROM series")]
        ids = sorted(info.id for info in series)
        sets = [inputs for count in (1, 2) for inputs in itertools.combinations(ids, count)]
        several = LineageNumbers(world.db).put(sets)
        pairs = [(info.number, lineage) for info in series for lineage in several]
        assert len(pairs) > 20

        def described(directory: MetadataCache, pair: tuple[int, int]) -> tuple[object, ...]:
            (origin,) = directory.origins([pair])
            return origin.rights, origin.stated, origin.inputs

        whole = [described(first, pair) for pair in pairs]
        # Few differ in anything: those that do not are one object.
        rights = [rights for rights, _, _ in whole]
        assert len(set(map(id, rights))) == len(set(rights)) < len(pairs) / 2
        monkeypatch.setattr(module, "_LINEAGES_HELD", 5)
        bounded = MetadataCache(world.db, first.reference)
        for pair, before in zip(pairs, whole, strict=True):
            assert described(bounded, pair) == before
            held = (bounded._mixed, bounded._rights, bounded._lineages)
            assert max(map(len, held)) <= 5
        assert [described(bounded, pair) for pair in pairs] == whole


INVENTED = msgspec.structs.replace(
    CATALOG.sources[ALPHA], id="sim-alpha", homepage="https://invented.example", simulated=True
)
HOME, INVENTED_HOME, OWN = CATALOG.sources[ALPHA].homepage, INVENTED.homepage, "https://publisher.example/page"


def add(world: SmallWorld, source: Source) -> None:
    world.db.execute("INSERT INTO record VALUES('source', ?, ?)", (source.id, msgspec.json.encode(source).decode()))


@pytest.mark.parametrize(
    ("exposures", "part"),
    [
        ((0, 0, 0, 0), None), ((2, 0, 0, 0), "series"), ((0, 2, 0, 0), "feed"), ((0, 0, 2, 0), "data"), ((0, 0, 0, 2), "channel"),
        # The strictest counts, of equally strict ones the first.
        ((1, 2, 0, 0), "feed"), ((1, 0, 2, 0), "data"), ((1, 1, 1, 2), "channel"), ((0, 2, 2, 0), "feed"), ((2, 2, 2, 2), "series"),
    ],
)  # fmt: skip
def test_the_reason_of_a_withheld_series_is_that_of_what_shuts_it(exposures: tuple[int, ...], part: str | None) -> None:
    """Each has a reason: the series, its feed's own words, the data of its source, and the channel."""
    own, feed, data, channel = map(Exposure, exposures)
    stated = {"exposure": data, "reason": "data", "channel": channel, "channel_reason": "channel"}
    with SmallWorld() as world:
        with Batch(world.db, 1, "test") as batch:
            add(world, msgspec.structs.replace(INVENTED, rights=msgspec.structs.replace(INVENTED.rights, **stated)))
            series = batch.series(spec(INVENTED.id, "input", exposure=own, reason="series"), "raw")
            batch.tighten(series, feed, "feed")
        assert world.view().directory.series(series.number).rights.reason == part


@pytest.mark.parametrize(
    ("source", "page_url", "inputs", "simulated", "page"),
    [
        (ALPHA, None, None, False, HOME),
        (ALPHA, OWN, None, False, OWN),
        (INVENTED.id, None, None, True, INVENTED_HOME),
        # What was computed here has no page of a publisher, and is simulated as soon as one of its inputs is.
        (ALPHA, None, [ALPHA], False, None),
        (ALPHA, None, [ALPHA, INVENTED.id], True, None),
        (INVENTED.id, None, [ALPHA], True, None),
        (ALPHA, OWN, [ALPHA], False, OWN),
    ],
)
def test_a_series_says_where_it_can_be_checked_and_if_it_is_simulated(
    source: str, page_url: str | None, inputs: list[str] | None, simulated: bool, page: str | None
) -> None:
    with SmallWorld() as world:
        with Batch(world.db, 1, "test") as batch:
            add(world, INVENTED)
            ids = {name: batch.series(spec(name, "input"), "raw").id for name in (ALPHA, INVENTED.id)}
            series = spec(source, "value", page_url=page_url)
            number = (
                batch.series(series, "raw")
                if inputs is None
                else batch.series(series, "derived", [ids[name] for name in inputs])
            ).number
        info = world.view().directory.series(number)
        assert (info.simulated, info.page) == (simulated, page)
