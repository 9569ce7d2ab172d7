"""
What one engine takes and another does not, in every text and number of every feed: the payload is read or quarantined by name,
alike on both engines, and nothing else suffers.
"""

import contextlib

import msgspec
import pytest
from structlog.testing import capture_logs

from almanac.config import Settings
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.operate import rebuild as rebuilding
from almanac.sources.base import Connector
from almanac.store.engine import opening
from almanac.store.log import payloads
from tests.support import postgres
from tests.support.copied_data import move
from tests.support.places import POSTGRES, place_for
from tests.support.poison import Sample, samples

NOW = "2099-11-20T12:00:00Z"
ENGINES = ("sqlite", "postgres")
#: Feeds whose texts come furthest: into names, notes and indexes. The others are with the slow ones.
_DAILY = {"sec-submissions", "sec-tickers", "fred-tags"}
SAMPLES = {one.name: one for one in samples()}

pytestmark = [*POSTGRES.marks, pytest.mark.sqlite]


class Poisoned(PipelineContext):
    """A world whose catalogue has one source more."""

    def __init__(self, settings: Settings, sample: Sample) -> None:
        super().__init__(settings)
        self._extend(sample)

    def _extend(self, sample: Sample) -> None:
        source = msgspec.structs.replace(sample.source, simulated=False)
        self.catalog = msgspec.structs.replace(
            self.catalog,
            sources={**self.catalog.sources, source.id: source},
            series={**self.catalog.series, source.id: dict(sample.series)},
        )
        self.renew()


@contextlib.contextmanager
def opened(tmp_path, sample):
    """A world on each engine, and the places they are at."""
    with contextlib.ExitStack() as stack:
        found = {}
        for engine in ENGINES:
            home = tmp_path / engine
            home.mkdir()
            at = stack.enter_context(place_for(engine, home / "data.db"))
            url = str(at) if engine == "sqlite" else at.url
            settings = Settings(
                home=home, database_url=f"sqlite:///{url}" if engine == "sqlite" else url, now=NOW, processes=1
            )
            found[engine] = (stack.enter_context(Poisoned(settings, sample)), at)
        yield found


def take(world, sample, bodies):
    """Take responses in, and what became of each, with the reason."""
    said = []
    reader: Connector = sample.reader
    ingest = Ingest(world, world.catalog.sources[sample.source.id], said.append, reader)
    fetched = world.settings.clock() - 1_000_000
    arrivals = (Arrival(sample.url, body, "x", fetched + 60 * n) for n, body in enumerate(bodies))
    ingest.run(arrivals)
    return outcomes(world.db, sample)


def outcomes(db, sample):
    rows = [row for row in payloads.every(db) if row.source == sample.source.id]
    return [(row.state, row.reason) for row in sorted(rows, key=lambda row: row.ref.order)]


#: What says what is served: rows of these, without numbers that an engine gives.
_SERVED = (
    "SELECT s.id, v.period, v.known_at, v.value, v.text, v.flags FROM vintages v JOIN series s USING(series) WHERE v.to_version = 2147483647 ORDER BY 1, 2, 3",
    "SELECT entity, name, body FROM company ORDER BY 1",
    "SELECT entity, scheme, alias, norm FROM alias ORDER BY 1, 2, 3, 4",
    "SELECT entity, accession, form, items, document, description FROM filing ORDER BY 1, 2",
    "SELECT source, native, rows FROM unmapped ORDER BY 1, 2",
    "SELECT source, kind, name, met FROM unread ORDER BY 1, 2, 3",
    "SELECT event, type, status FROM event ORDER BY 1, 2, 3",
)


def served(db):
    return [db.execute(sql).fetchall() for sql in _SERVED]


def alike(first, second):
    for mine, other in zip(first, second, strict=True):
        assert [tuple(row) for row in mine] == [tuple(row) for row in other]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in _DAILY else [pytest.mark.slow]) for name in SAMPLES]
)
def test_poison_ends_alike_on_both_engines(name, tmp_path, monkeypatch):
    sample = SAMPLES[name]
    labels, bodies = zip(*sample.poisoned(), strict=True)
    with opened(tmp_path, sample) as worlds:
        found = {}
        for engine, (world, _) in worlds.items():
            found[engine] = take(world, sample, [*bodies, sample.body])
        # None is left for the next run, the good one behind them is read, and each that is not says which field it was.
        by_label = dict(zip(labels, found["sqlite"], strict=False))
        assert len(found["sqlite"]) == len(bodies) + 1
        assert found["sqlite"][-1][0] == payloads.FOLDED
        told = {label: reason for label, (state, reason) in by_label.items() if state == payloads.QUARANTINED}
        assert told
        assert not {
            label: reason for label, reason in told.items() if reason.startswith(("cannot be stored", "reader failed"))
        }
        assert found["sqlite"] == found["postgres"]
        alike(*(served(world.db) for world, _ in worlds.values()))
        # A rebuild comes to the same, on either engine.
        monkeypatch.setattr(rebuilding, "_reader", lambda _: sample.reader)
        monkeypatch.setattr("almanac.pipeline.ingest.ingest.connector", lambda _: sample.reader)
        for world, _ in worlds.values():
            before = served(world.db)
            rebuilding.rebuild(world, lambda _: None)
            assert outcomes(world.db, sample) == found["sqlite"]
            alike(served(world.db), before)
        # So does a move from one to the other, with all that is in quarantine.
        place = opening.Server(postgres.fresh()[1])
        with contextlib.closing(opening.create(place)) as other:
            move(worlds["sqlite"][0].db, other)
            assert outcomes(other, sample) == found["sqlite"]
            alike(served(other), served(worlds["sqlite"][0].db))


@pytest.mark.parametrize("what", ["long", "nul"])
def test_what_the_engine_alone_refuses_costs_one_payload(what, tmp_path, monkeypatch):
    """Whatever the check at reading does not know: it is undone, quarantined, and the next response goes in."""
    monkeypatch.setattr("almanac.sources.storable.check", lambda parsed: parsed)
    sample = SAMPLES["sec-tickers"]
    bad = next(body for label, body in sample.poisoned() if label == f"0.ticker {what}")
    with opened(tmp_path, sample) as worlds:
        world = worlds["postgres"][0]
        with capture_logs() as lines:
            first, second = take(world, sample, [bad, sample.body])
        assert first[0] == payloads.QUARANTINED
        assert first[1].startswith("cannot be stored: UnfitError: ")
        assert second == (payloads.FOLDED, None)
        assert [line["event"] for line in lines] == ["a response cannot be stored"]
        assert take(world, sample, []) == [first, second]
