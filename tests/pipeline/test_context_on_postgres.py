"""The same responses taken in on both engines: every table comes out with the same rows, their numbers too."""

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.ingest.simulation import take_in
from almanac.pipeline.operate.rebuild import rebuild, recompute
from almanac.pipeline.operate.verify import Checked, verify
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.world import Response
from almanac.store.engine import opening
from almanac.store.engine.data_schema import statements, tables_of
from tests.support import invented_mirror, postgres
from tests.support.service import SOURCES, settings

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]
TABLES = [name for part in statements() for name in tables_of(part)]
#: What is by chance, or by the clock of the machine: the names of runs, and when they began.
OWN = {"run", "turn", "request"}


def every_row(db: Any) -> dict[str, list[Any]]:
    found = {
        name: sorted(map(tuple, db.execute(f"SELECT * FROM {name}").fetchall()), key=repr)
        for name in TABLES
        if name not in OWN
    }
    found["meta"] = [row for row in found["meta"] if row[0] not in {"epoch", "raw"}]
    found["version"] = [(number, cause) for number, _, cause in found["version"]]
    found["payload"] = [row[:9] + row[10:] for row in found["payload"]]
    return found


def load(home: Path, mirror: Path, **more: str) -> dict[str, list[Any]]:
    """Take the mirror in, twice, derive and rebuild; what is then in every table before and after the rebuild."""
    chosen = settings(home, **more)
    with PipelineContext(chosen) as world:
        for _ in range(2):
            for one in from_mirror(world, [world.catalog.sources[name] for name in SOURCES], mirror, lambda _: None):
                assert exit_code([one]) == 0, one
        before = every_row(world.db)
        assert recompute(world) == 0
    with PipelineContext(chosen) as world:
        assert list(verify(world, Checked())) == []
    with PipelineContext(chosen, rebuilding=True) as world:
        rebuild(world, lambda _: None)
    with PipelineContext(chosen) as world:
        assert list(verify(world, Checked())) == []
        return {**before, **{f"{name} rebuilt": rows for name, rows in every_row(world.db).items()}}


def test_both_engines_store_the_same(tmp_path: Path) -> None:
    mirror = invented_mirror.write(tmp_path / "mirror")
    name, url = postgres.fresh()
    with postgres.files():
        here = load(tmp_path / "here", mirror)
        there = load(tmp_path / "there", mirror, DATABASE_URL=url)
    assert len(here["vintages"]) > 500
    for table, rows in here.items():
        assert there[table] == rows, table
    with contextlib.closing(opening.connect(opening.Server(url))) as db:
        assert db.execute("SELECT count(*) FROM vintages").get == len(here["vintages rebuilt"])
    assert not (tmp_path / "there" / "data.db").exists()
    postgres.drop(name)


#: Two filers, and what names them.
_FILERS = re.compile(r"CIK000990000[12]\.json|company_tickers")


def filed(home: Path, **more: str) -> dict[str, list[Any]]:
    """Take in what two simulated companies have filed; what is then in every table."""
    chosen = settings(home, **more)
    pages = [page for page in company_pages(chosen.clock()) if _FILERS.search(page.url)]
    with PipelineContext(chosen, kind=SIMULATED) as world:
        take_in(world, (Response(p.source, p.url, p.make(), p.fetched_at, p.media_type) for p in pages), lambda _: None)
        assert list(verify(world, Checked())) == []
        return every_row(world.db)


@pytest.mark.slow
def test_both_engines_store_the_same_of_companies(tmp_path: Path) -> None:
    name, url = postgres.fresh()
    with postgres.files():
        here, there = filed(tmp_path / "here"), filed(tmp_path / "there", DATABASE_URL=url)
    assert len(here["statement"]) > 100
    assert len(here["company"]) > 100  # the list of tickers names them all
    for table, rows in here.items():
        assert there[table] == rows, table
    postgres.drop(name)
