"""Rights of thousands of rows at once are those of each: of what a row was computed from, with and without its owner's consent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.rights import Exposure
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.reading import lookup, metadata
from almanac.store.observations.writing.fold import SeriesClaim
from tests.support.small_world import ALPHA, BETA, GAMMA, MIXED, START, SmallWorld, spec

from .test_choose import MONTHS, write


@pytest.fixture
def world() -> Iterator[SmallWorld]:
    """Months of one derived series, each computed from a series of another source; that of GAMMA asks for a consent."""
    with SmallWorld() as opened:
        write(opened, MIXED, "derived", {0: [(1.0, ALPHA)], 1: [(2.0, BETA)], 2: [(3.0, GAMMA)]}, 1)
        yield opened


def judged(world: SmallWorld, *, at_once: bool) -> list[bool]:
    """Of each month, whether its value may not be sent."""
    view = world.view()
    rows = view.execute(
        "SELECT x.series, x.lineage FROM vintages x JOIN topic t USING(topic) WHERE t.kind = 'derived' ORDER BY x.period"
    ).fetchall()
    if not at_once:
        return [view.directory.row_rights(view.directory.series(series), own).withheld for series, own in rows]
    shut = view.directory.withheld([tuple(row) for row in rows])
    return [tuple(row) in shut for row in rows]


@pytest.mark.parametrize("consents", [(), (GAMMA,), (ALPHA,)])
def test_rows_at_once_are_judged_as_each_is(
    world: SmallWorld, consents: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "_FEW_LINEAGES", 0)
    world.allow(*consents)
    assert judged(world, at_once=True) == judged(world, at_once=False) == [False, False, GAMMA not in consents]


def test_a_series_as_a_whole_is_as_shut_as_the_strictest_of_its_rows(world: SmallWorld) -> None:
    """Its sources in order of their names: the one that is shut is neither the first nor alone."""

    def whole() -> tuple[bool, str]:
        view = world.view()
        number = view.execute("SELECT s.series FROM series s JOIN topic t USING(topic) WHERE t.kind = 'derived'").get
        rights = view.directory.series(number).rights
        return rights.withheld, rights.attribution

    every = "Calculated by Almanac from: Invented by alpha; Invented by beta; Invented by gamma"
    assert whole() == (True, every)
    world.allow(GAMMA)
    assert whole() == (False, every)


@pytest.mark.parametrize("stricter", list(Exposure))
def test_a_payload_that_stated_anything_stricter_than_its_source_is_told(world: SmallWorld, stricter: Exposure) -> None:
    """Its rows tell no payload; rows of the same series from another one do."""
    names = ("level", "jobless")
    specs = [spec(ALPHA, name, "country_bbb") for name in names]
    both, one = (PayloadRef(1 << 40 | place, START, (START, f"{place:064x}")) for place in (1, 2))
    with world.batch("test") as batch:
        plain, other = (batch.series(one, "raw") for one in specs)
        for payload, stated in ((both, (plain, other)), (one, (plain,))):
            for series in stated:
                batch.append(payload, [SeriesClaim(series, [ReportedValue(MONTHS[0], 1.0, START)])])
        batch.tighten(other, stricter, "invented")
    view = world.view()
    series = view.directory.series(plain.number)
    assert lookup.brought_withheld(view, both.number, series) is (stricter is not Exposure.public)
    assert not lookup.brought_withheld(view, one.number, series)
