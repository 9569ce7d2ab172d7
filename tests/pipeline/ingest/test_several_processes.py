"""What is stored does not depend on how many processes computed it, nor on payloads being taken in together."""

import pytest
from msgspec.structs import replace

from almanac.pipeline import processes
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.derive import companies as deriving
from almanac.pipeline.ingest import ingest
from almanac.pipeline.operate.rebuild import rebuild, recompute
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.log import payloads
from tests.faults.states import same, state, version
from tests.support.filed_company import ENTITIES, rows
from tests.support.treasury_home import settings, take

pytestmark = pytest.mark.slow

CIK = 9_900_001
#: Of tables whose rows bear the time of the clock, or an id by chance, only that many are there.
_OF_THE_RUN = {"meta", "version", "run", "payload", "change_token"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Workers start with the first job."""
    monkeypatch.setattr(processes, "WORTHWHILE", 0)


def tables(world):
    """Every row of every table, numbers of rows too."""
    return {
        name: len(held) if name in _OF_THE_RUN else sorted(map(repr, held))
        for name in world.db.tables()
        for held in [list(world.db.execute(f'SELECT * FROM "{name}"'))]
    }


def taken(folder, count, *groups):
    with PipelineContext(replace(settings(folder), processes=count)) as world:
        outcomes = [take(world, folder / f"m{number}", list(group), ("sec",))[0] for number, group in enumerate(groups)]
        assert (world.processes._pool is not None) == (count > 1)
        return tables(world), outcomes


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    return folder / "home", *taken(folder, 1, rows())


@pytest.mark.parametrize("count", [2, 3])
def test_any_number_of_processes_stores_the_same(count, alone, tmp_path):
    home, held, outcomes = alone
    found, again = taken(tmp_path, count, rows())
    assert found.keys() == held.keys()
    assert [name for name in found if found[name] != held[name]] == []
    assert again == outcomes
    assert len(outcomes[0].quarantined) == 1
    assert version(tmp_path / "home") == version(home)
    same(state(home), state(tmp_path / "home"))


def test_payloads_taken_in_one_by_one_store_the_same(alone, tmp_path):
    """But in more data versions."""
    home, _, (together,) = alone
    _, several = taken(tmp_path, 1, *[[row] for row in rows()])
    assert sum(one.folded for one in several) == together.folded
    same(state(home), state(tmp_path / "home"))
    assert version(tmp_path / "home") > version(home)


def test_windows_of_a_few_payloads_store_the_same(alone, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "_TOGETHER", 4)
    taken(tmp_path, 2, rows())
    same(state(alone[0]), state(tmp_path / "home"))


def test_a_rebuild_with_several_processes_gives_the_same_and_all_can_be_verified(alone, tmp_path):
    with PipelineContext(replace(settings(tmp_path), processes=1)) as world:
        take(world, tmp_path / "mirror", rows(), ("sec",))
    with PipelineContext(replace(settings(tmp_path), processes=2), rebuilding=True) as world:
        assert rebuild(world, lambda _: None) == len(rows())
        assert world.processes._pool is not None
    same(state(alone[0]), state(tmp_path / "home"))
    with PipelineContext(replace(settings(tmp_path), processes=2)) as world:
        assert recompute(world) == 0
        assert list(verify(world, Checked())) == []


@pytest.mark.parametrize("count", [1, 2])
def test_a_payload_that_cannot_be_computed_with_costs_itself_alone(count, alone, tmp_path, monkeypatch):
    real = deriving.CompanyDeriver._write

    def write(self, batch, company, made):
        if company.entity == ENTITIES[3]:
            raise RuntimeError("a fault of ours")
        return real(self, batch, company, made)

    monkeypatch.setattr(deriving.CompanyDeriver, "_write", write)
    with PipelineContext(replace(settings(tmp_path), processes=count)) as world:
        told = []
        (outcome,) = take(world, tmp_path / "mirror", rows(), ("sec",))
        number = ENTITIES[3].removeprefix("company_")
        assert len(outcome.quarantined) == 3
        assert sum(number in url for url in outcome.quarantined) == 2
        assert outcome.folded == alone[2][0].folded - 3
        assert told == []
    # And once we can, the next run takes them in.
    monkeypatch.undo()
    with PipelineContext(replace(settings(tmp_path), processes=count)) as world:
        (outcome,) = take(world, tmp_path / "mirror", rows(), ("sec",))
        assert outcome.folded == 3
    same(state(alone[0]), state(tmp_path / "home"))


def test_the_same_answer_twice_is_known_the_second_time(tmp_path):
    url, _, body, _ = rows()[0]
    with PipelineContext(settings(tmp_path)) as world:
        twice = [ingest.Arrival(url, body, "application/json", None)] * 2
        outcome = ingest.Ingest(world, world.catalog.sources["sec"], lambda _: None).run(twice, ahead=True)
        assert (outcome.folded, outcome.known) == (1, 1)
        assert world.db.execute("SELECT count(*) FROM payload WHERE state = ?", (payloads.FOLDED,)).get == 1
