"""Everything can be made again from the raw store, with the same ids; and nothing is lost on the way."""

import apsw
import pytest

from almanac.config import Settings
from almanac.domain.periods import Period
from almanac.pipeline.context import REAL, SIMULATED, PipelineContext, WorldError
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.operate.rebuild import rebuild, recompute
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.errors import StoreError
from almanac.store.engine.sql_compat import next_id
from almanac.store.observations.ids import series_hash
from almanac.store.observations.reading.reader import Reader
from almanac.store.raw.captures import Corrupt
from tests.support.paths import REAL_DATA
from tests.support.treasury_home import ROWS, SERVED, SLOPE, SOURCE, TWO_YEARS, served, settings, take, values


def quiet(_):
    pass


def version(world):
    return int(meta(world.db, "version"))


def problems(world):
    return list(verify(world, Checked()))


def test_ids_values_and_times_are_the_same_after_a_rebuild(world):
    before, at, epoch = served(world), version(world), meta(world.db, "epoch")
    assert values(world, TWO_YEARS) == [
        ("2025-12-31", 3.4), ("2026-01-02", 3.5), ("2026-01-02", 3.55), ("2026-01-05", 3.6), ("2026-01-05", None),
        ("2026-01-06", 3.7), ("2026-01-07", 3.8),
    ]  # fmt: skip
    assert rebuild(world, quiet) == 6  # an answer other than 200 is never kept
    assert served(world) == before
    assert version(world) == at + 1
    assert meta(world.db, "epoch") != epoch
    assert meta(world.db, "reference") == str(at + 1)
    assert meta(world.db, "world") == REAL
    assert problems(world) == []


def test_what_came_out_of_order_is_rebuilt_to_the_same(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        for row in reversed(ROWS):
            take(world, tmp_path / "mirror", [row])
        before = served(world)
        rebuild(world, quiet)
        assert served(world) == before
        assert len(values(world, SLOPE)) == 7
        assert problems(world) == []


def test_the_versions_and_the_health_of_sources_outlive_a_rebuild(world):
    health = list(world.db.execute("SELECT * FROM source_state"))
    versions = list(world.db.execute("SELECT * FROM version ORDER BY version"))
    rebuild(world, quiet)
    assert list(world.db.execute("SELECT * FROM source_state")) == health
    after = list(world.db.execute("SELECT * FROM version ORDER BY version"))
    assert after[:-1] == versions
    assert after[-1][::2] == (version(world), "rebuild")


def test_a_rebuild_cut_short_changes_nothing(world):
    before, at = served(world), version(world)

    class Killed(BaseException):
        pass

    def killed(captures, _):
        yield captures[0]
        raise Killed

    with pytest.raises(Killed):
        rebuild(world, quiet, killed)
    assert served(world) == before
    assert version(world) == at


def test_readers_keep_the_old_state_until_the_end(world):
    before = list(world.db.execute(SERVED))
    seen = []
    reader = opening.connect(world.settings.home / "data.db", read_only=True)
    early = opening.connect(world.settings.home / "data.db", read_only=True)

    def watched(captures, _):
        for capture in captures:
            yield capture
            seen.append(list(reader.execute(SERVED)))

    with early.snapshot():
        assert meta(early, "version")
        rebuild(world, quiet, watched)
        assert list(early.execute(SERVED)) == before  # a snapshot begun before meets nothing of it
    assert list(early.execute(SERVED)) == list(world.db.execute(SERVED))
    early.close()
    reader.close()
    assert seen == [before] * 6


def test_a_damaged_raw_store_is_named_and_the_data_stays(world):
    before = served(world)
    (damaged, *_) = sorted((world.settings.raw_path / "objects").rglob("*.zst"))
    damaged.write_bytes(b"rotten")
    with pytest.raises(Corrupt, match=damaged.name):
        rebuild(world, quiet)
    assert served(world) == before


def test_captures_of_a_source_that_is_no_more_are_named_and_left_out(world):
    world.raw.keep("gone", "https://example.org/a", b"a", "text/plain", 10, 20)
    told = []
    assert rebuild(world, told.append) == 6
    assert told[-1] == "left out 1 captures of gone: the catalogue has no such source"


@pytest.mark.sqlite  # its files are taken away
def test_the_data_database_alone_may_be_lost(world):
    before = served(world)
    chosen = world.settings
    world.db.close()
    for file in chosen.home.glob("data.db*"):
        file.unlink()
    with PipelineContext(chosen, rebuilding=True) as again:
        assert rebuild(again, quiet) == 6
        assert served(again) == before
        newest = again.db.execute("SELECT source, last_success_at FROM source_state").fetchall()
        assert newest == [(SOURCE, 1_767_828_780)]  # 2026-01-07T23:33:00Z, the newest capture
        assert problems(again) == []


def test_ids_are_the_same_on_another_host(world, tmp_path):
    """Another host that took in the same has the same ids: they say a place, and need no key."""
    with PipelineContext(settings(tmp_path / "other")) as other:
        take(other, tmp_path / "other" / "mirror")
        one, another = served(world), served(other)
        assert one[SERVED] == another[SERVED]
        assert one["ids"] == another["ids"]
        assert len(set(one["ids"])) == len(one["ids"])


@pytest.mark.parametrize(("source", "kind"), [("sandbox-fred", SIMULATED), ("fred", REAL)])
def test_the_raw_store_says_which_world_it_is(tmp_path, source, kind):
    chosen = settings(tmp_path)
    with PipelineContext(chosen) as world:
        world.raw.keep(source, "https://example.org/a", b"a", "text/plain", 10, 20)
    with PipelineContext(chosen) as world:
        assert world.kind == kind
    with pytest.raises(WorldError, match="the two are never mixed"):
        PipelineContext(chosen, kind=REAL if kind == SIMULATED else SIMULATED)


@pytest.mark.sqlite  # a file is made anew whole, of a server our tables alone
def test_a_store_of_another_schema_is_refused_and_rebuilt(world):
    before, at, chosen = served(world), version(world), world.settings
    set_meta(world.db, "schema", "0")
    world.db.execute("DROP TABLE vintages; ALTER TABLE series DROP COLUMN reason; CREATE TABLE bygone(a)")
    world.db.close()
    with pytest.raises(StoreError, match="run `almanac rebuild`"):
        PipelineContext(chosen)
    with PipelineContext(chosen, rebuilding=True) as again:
        rebuild(again, quiet)
        assert served(again) == before
        assert version(again) == at + 1
        with pytest.raises(apsw.SQLError, match="bygone"):
            again.db.execute("SELECT * FROM bygone")


@pytest.mark.sqlite  # its log
@pytest.mark.parametrize("load", ["ingest", "derive", "rebuild"])
def test_no_log_is_left_behind_by_a_load_beside_a_server(tmp_path, load):
    chosen = settings(tmp_path)
    with PipelineContext(chosen) as world:
        take(world, tmp_path / "mirror", ROWS[:2])
    log = (chosen.home / "data.db").with_name("data.db-wal")
    reader = Reader(chosen.home / "data.db")  # as a server would have it open
    with reader.view():
        pass
    with PipelineContext(chosen, rebuilding=load == "rebuild") as world:
        if load == "ingest":
            take(world, tmp_path / "mirror")
        elif load == "rebuild":
            rebuild(world, quiet)
        else:
            world.db.execute("DELETE FROM vintages WHERE topic IN (SELECT topic FROM topic WHERE kind = 'derived')")
            assert recompute(world) > 0
        assert log.stat().st_size > 0
        with reader.view():
            pass
    assert log.stat().st_size == 0
    with PipelineContext(chosen) as world:  # what only looks leaves writers in peace
        assert not world.db.written()
    with reader.view() as view:
        assert view.version > 1
    reader.close()


def test_ingestion_goes_on_after_a_rebuild(world, tmp_path):
    rebuild(world, quiet)
    (outcome,) = take(world, tmp_path / "mirror")
    assert (outcome.folded, outcome.known, outcome.vintages) == (0, 4, 0)


def test_a_healthy_store_has_nothing_to_recompute(world):
    at = version(world)
    assert recompute(world) == 0
    assert version(world) == at


def test_recomputing_repairs_derived_values_and_leaves_the_others(world):
    before = list(world.db.execute(SERVED))
    period = Period.parse("2026-01-02").key
    with world.batch("damage") as batch:
        batch.replace(batch.existing(SLOPE), {period: []})
    assert list(world.db.execute(SERVED)) != before
    assert recompute(world) == 1
    assert list(world.db.execute(SERVED)) == before


def test_recomputing_clears_what_no_formula_makes(world):
    before = list(world.db.execute(SERVED))
    series = world.db.execute("SELECT topic, spec, lineage FROM series WHERE id = ?", (SLOPE,)).fetchone()
    orphan = SLOPE.replace("country_usa", "country_jpn")
    world.db.execute("INSERT INTO topic VALUES(9999, 'yield_slope_2s10s', 'country_jpn', 'D', 'derived')")
    world.db.execute(
        f"INSERT INTO series VALUES({next_id('series', 'series')}, ?, 9999, ?, ?, ?, 0, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, ?)",
        (orphan, SOURCE, series[1], series[2], series_hash(orphan)),
    )
    with world.batch("damage") as batch:
        batch.replace(batch.existing(orphan), batch.history(batch.existing(SLOPE), (0, 1 << 62)))
    world.renew()
    assert len(list(world.db.execute(SERVED))) == len(before) + 7
    assert recompute(world) == 5
    assert list(world.db.execute(SERVED)) == before


@pytest.mark.real
@pytest.mark.slow
def test_the_publishers_own_files_are_rebuilt_to_the_same(tmp_path):
    if not (REAL_DATA / "mirror.csv").exists():
        pytest.skip("the folder of real files is not beside the repository")
    with PipelineContext(Settings(home=tmp_path, now="2026-11-20T12:00:00Z")) as world:
        sources = [world.catalog.sources[name] for name in ("us-treasury-par", "fred", "mof-japan")]
        from_mirror(world, sources, REAL_DATA, quiet)
        before = served(world)
        assert len(before[SERVED]) > 100_000
        rebuild(world, quiet)
        assert served(world) == before
        assert problems(world) == []
