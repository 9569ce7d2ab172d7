"""Two hosts and one database: the raw store that the data came from is known by its name, and what is another's takes nothing in."""

import shutil

import msgspec
import pytest

from almanac.config import Settings
from almanac.pipeline import raw_store_binding
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.operate.backup import backup
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.restore import restore
from almanac.pipeline.raw_store_binding import RawStoreError
from almanac.store.engine.data_schema import meta
from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import IDENTITY, Corrupt, RawStore
from tests.support import postgres
from tests.support.places import place_for
from tests.support.treasury_home import NOW, ROWS, served, take

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


@pytest.fixture
def first(tmp_path):
    """A host that shares its database, with a folder of its own."""
    with place_for("postgres", tmp_path / "x") as place:
        yield Settings(home=tmp_path / "first", database_url=place.url, now=NOW)


@pytest.fixture
def second(first, tmp_path):
    return msgspec.structs.replace(first, home=tmp_path / "second")


def ingest(settings, rows=ROWS):
    with PipelineContext(settings, kind=REAL) as world:
        return take(world, settings.home / "mirror", rows)


def foreign(settings):
    with PipelineContext(settings) as world:
        return raw_store_binding.is_foreign(world.db, world.raw, settings)


def test_the_second_host_that_would_ingest_is_refused_and_may_serve(first, second):
    ingest(first, ROWS[:2])
    assert (foreign(first), foreign(second)) == (False, True)
    with pytest.raises(
        RawStoreError, match=r"is not the raw store that the data came from .*it holds 0 of their 2 payloads"
    ):
        ingest(second)
    assert not second.raw_path.exists()
    with PipelineContext(second) as world:  # as `serve` opens it
        assert "this host may serve the data" in raw_store_binding.explain_other_store(world.db, world.raw, second)
    ingest(first)
    with PipelineContext(first) as world:
        assert raw_store_binding.explain_other_store(world.db, world.raw, first) is None


def test_what_the_setting_says_is_taken_as_meant(first, second):
    ingest(first, ROWS[:2])
    meant = msgspec.structs.replace(second, raw_stores="several")
    ingest(meant, ROWS[2:4])
    with pytest.raises(RawStoreError):  # each has half of them now, and only the first has their name
        ingest(second)
    ingest(first, ROWS[4:5])


def test_a_folder_that_both_share_is_one_raw_store(first, second, tmp_path):
    shared = [msgspec.structs.replace(one, raw_url=str(tmp_path / "shared")) for one in (first, second)]
    ingest(shared[0], ROWS[:2])
    ingest(shared[1], ROWS[2:])
    for one in shared:
        with PipelineContext(one, rebuilding=True) as world:
            before = served(world)
            rebuild(world, lambda _: None)
            assert served(world) == before


def test_of_two_that_begin_at_once_one_is_refused(first, second):
    """Neither the database nor either folder has a name when both look."""
    worlds = [PipelineContext(first, kind=REAL), PipelineContext(second, kind=REAL)]
    worlds[0].claim()
    with pytest.raises(RawStoreError):
        worlds[1].claim()
    for world in worlds:
        world.db.close()


def test_killed_between_the_raw_stores_name_and_the_databases_the_next_run_goes_on(first):
    with PipelineContext(first, kind=REAL) as world:
        name = world.raw.identify()
    ingest(first, ROWS[:1])
    with PipelineContext(first) as world:
        assert meta(world.db, "raw") == name


def test_a_database_that_has_a_name_and_no_payload_yet_is_not_the_second_ones(first, second):
    with PipelineContext(first, kind=REAL) as world:
        world.claim()
    with pytest.raises(RawStoreError):
        PipelineContext(second, kind=REAL)
    with PipelineContext(first, kind=REAL) as world:
        world.claim()


def test_a_copy_without_the_name_is_the_same_raw_store(first, tmp_path):
    ingest(first, ROWS[:3])
    moved = msgspec.structs.replace(first, raw_url=str(tmp_path / "moved"))
    shutil.copytree(first.raw_path / "index", tmp_path / "moved" / "index")
    shutil.copytree(first.raw_path / "objects", tmp_path / "moved" / "objects")
    ingest(moved)
    assert (foreign(moved), foreign(first)) == (False, False)


def test_the_name_comes_along_with_a_backup_and_lasts_through_a_rebuild(first, tmp_path):
    ingest(first, ROWS[:3])
    name = RawStore(Folder(first.raw_path)).identity()
    backup(first, tmp_path / "file")
    restored = Settings(home=tmp_path / "restored", now=NOW)
    restore(restored, tmp_path / "file")
    with PipelineContext(restored, rebuilding=True) as world:
        rebuild(world, lambda _: None)
        assert meta(world.db, "raw") == world.raw.identity() == name
    ingest(restored)


def test_after_a_rebuild_without_what_is_missing_the_data_are_this_hosts(first, second):
    ingest(first, ROWS[:3])
    with PipelineContext(second, rebuilding=True) as world:
        rebuild(world, lambda _: None, without=3)
    assert (foreign(second), foreign(first)) == (False, True)


def test_a_name_that_is_none_is_told_and_nothing_is_taken_in(first):
    ingest(first, ROWS[:1])
    (first.raw_path / IDENTITY).write_text("x")
    with pytest.raises(Corrupt, match="identity: is not 32 hexadecimal digits"):
        ingest(first)
    with PipelineContext(first) as world:
        assert raw_store_binding.explain_other_store(world.db, world.raw, first) is None


def test_storage_that_is_away_is_told_by_the_ingest_and_not_by_opening(first, monkeypatch):
    ingest(first, ROWS[:1])

    def away(_):
        raise ConnectionError("the storage cannot be reached")

    monkeypatch.setattr(RawStore, "identity", away)
    with PipelineContext(first, kind=REAL) as world:
        with pytest.raises(ConnectionError):
            world.claim()
        assert raw_store_binding.explain_other_store(world.db, world.raw, first) is None
