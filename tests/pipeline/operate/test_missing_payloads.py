"""A raw store that lacks what the data came from: nothing is made anew from it unless as many payloads as are lost were typed."""

import pytest

from almanac.domain.reference import Source
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.missing_payloads import LossError, lost, named
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.verify import Checked, payload_problems, verify
from almanac.sources.base import SourceChanged, connector
from almanac.store.engine.data_schema import meta
from almanac.store.engine.errors import StoreError
from almanac.store.log import payloads
from tests.support.treasury_home import FIRST, SERVED, SOURCE, served, url


def quiet(_):
    pass


def indexes(world):
    """Index files of the raw store, in the order of what they say of the time."""
    order = {capture.id: place for place, capture in enumerate(world.raw.captures())}
    return sorted((world.settings.raw_path / "index" / SOURCE).iterdir(), key=lambda path: order[path.stem])


def object_of(world, body):
    (capture,) = (one for one in world.raw.captures() if world.raw.read(one) == body)
    return world.settings.raw_path / f"objects/{capture.sha256[:2]}/{capture.sha256}.zst"


def refused(world, without=None):
    before, version = served(world), meta(world.db, "version")
    with pytest.raises(LossError) as caught:
        rebuild(world, quiet, without=without)
    assert served(world) == before
    assert meta(world.db, "version") == version
    return str(caught.value)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_a_rebuild_that_would_lose_payloads_is_refused_with_their_number_and_names(world, count):
    for path in indexes(world)[:count]:
        path.unlink()
    told = refused(world)
    assert f"a rebuild would do without {count} of the 6 payloads that the data came from" in told
    assert f"{SOURCE} {url(2026)} (capture " in told
    assert told.count(": the raw store has no such capture)") == min(count, 3)
    assert told.endswith(f"only where they are gone for good: --without-missing {count}")
    assert ("and 3 more" in told) == (count == 6)


def test_only_their_very_number_goes_on_without_them(world):
    before = len(list(world.db.execute(SERVED)))
    for path in indexes(world)[:2]:
        path.unlink()
    for other in (0, 1, 3):
        told = refused(world, other)
        assert f"--without-missing {other} is not their number" in told or other == 0
    assert rebuild(world, quiet, without=2) == 4
    assert len(list(world.db.execute(SERVED))) < before
    assert list(verify(world, Checked())) == []
    assert rebuild(world, quiet) == 4  # what is gone is named no more


def test_a_number_where_nothing_is_missing_is_refused(world):
    assert "--without-missing 2: no payload is missing" in refused(world, 2)
    assert rebuild(world, quiet, without=0) == 6


def test_bytes_that_are_gone_or_rotten_count_like_a_capture_that_is_gone(world):
    object_of(world, FIRST).unlink()
    assert "1 of the 6 payloads" in refused(world)
    assert "the raw store has not its bytes" in refused(world)
    last = indexes(world)[-1]
    last.write_bytes(b"rotten")
    assert "2 of the 6 payloads" in refused(world, 1)
    told = []
    assert rebuild(world, told.append, without=2) == 4
    assert [line for line in told if line.startswith("left out: ") and last.name in line] != []


def test_a_source_that_the_catalogue_has_no_more_is_not_dropped_silently(world):
    kept = world.raw.keep("gone", "https://example.org/a", b"a", "text/plain", 10, 20)
    Ingest(world, world.catalog.sources[SOURCE], quiet).begin()

    with world.db.transaction():
        payloads.put(world.db, kept, "run", payloads.FOLDED)
    assert "gone https://example.org/a (capture" in refused(world)
    assert rebuild(world, quiet, without=1) == 6


def test_what_was_read_before_and_cannot_be_now_is_not_dropped_silently(world, monkeypatch):

    reader = connector(world.catalog.sources[SOURCE].connector)
    parse = type(reader).parse

    def changed(self, payload, source: Source, series):
        if payload.url == url(2025):
            raise SourceChanged("another column")
        return parse(self, payload, source, series)

    monkeypatch.setattr(type(reader), "parse", changed)
    told = refused(world)
    assert "1 of the 6 payloads" in told
    assert f"{url(2025)} (capture" in told
    assert "was read before, and cannot be now: another column" in told
    assert rebuild(world, quiet, without=1) == 6


def test_a_list_of_payloads_that_cannot_be_read_is_no_empty_one(world):
    world.db.execute("ALTER TABLE payload RENAME COLUMN sha256 TO bygone")
    with pytest.raises(StoreError, match="what would be lost is not known, and nothing was changed"):
        named(world.db)


def test_nothing_is_lost_of_a_database_without_a_list(world):
    world.db.execute("DROP TABLE payload")
    assert named(world.db) == []


def test_verify_names_each_damaged_payload_once(world):
    """Captures that are gone, an index file and an object that are rotten: each once."""
    gone = indexes(world)
    gone[0].unlink()
    gone[1].unlink()
    gone[2].write_bytes(b"{}")
    (world.settings.raw_path / "objects").joinpath(*next(
        (f"{one.sha256[:2]}", f"{one.sha256}.zst") for one in PipelineContext(world.settings).raw.captures(passed_by=quiet)
    )).write_bytes(b"rotten")  # fmt: skip
    found = list(verify(world, Checked()))
    assert len(found) == 4
    assert sum(problem.startswith("payload ") for problem in found) == 2


def test_a_payload_that_came_after_the_raw_store_was_walked_is_no_problem(world):
    """The captures found are those of before; what is not among them is looked for again."""

    assert list(payload_problems(payloads.every(world.db), world.raw, {})) == []
    assert lost(payloads.every(world.db), world.raw, read=True) == []
