"""What is noted of a change that moves no row: whole topics, down to what is computed from what was computed."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from almanac.domain.observations import ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.store.engine import opening
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.dependents import WHOLE
from almanac.store.observations.writing.fold import SeriesClaim

JANUARY, FEBRUARY = (Period.parse(f"2026-{month:02}").key for month in (1, 2))
#: 2026-04-01T00:00:00Z
AT = 1_775_001_600


def spec(indicator, source="invented"):
    return SeriesSpec(
        source=source, native="x", indicator=indicator, entity="country_aaa", frequency=Frequency.MONTHLY,
        unit="percent", name="x",
    )  # fmt: skip


A, B, OTHER = spec("a"), spec("b"), spec("other")
FROM_A, FROM_FROM_A, FROM_ROWS = spec("from_a"), spec("from_from_a"), spec("from_rows", "almanac-derived")


@dataclass
class Store:
    db: object

    def batch(self):
        return Batch(self.db, AT, "test")

    def noted(self, version):
        found = self.db.execute(
            "SELECT t.indicator, c.low, c.high FROM change c JOIN topic t USING(topic) WHERE c.version = ? ORDER BY 1",
            (version,),
        )
        return {name: (low, high) for name, low, high in found}


@pytest.fixture
def store():
    """A, B, a series with one lineage from A, one from that, and one whose rows have lineages of their own."""
    one = Store(opening.create(Path(":memory:")))
    ref = PayloadRef(1, AT, (AT, "0" * 64))
    with one.batch() as batch:
        for raw in (A, B, OTHER):
            batch.append(
                ref,
                [SeriesClaim(batch.series(raw, "raw"), [ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 2.0)])],
            )
        row = Vintage(AT, 1.0, None, 0, None, AT, 0)
        batch.replace(batch.series(FROM_A, "derived", [A.id]), {JANUARY: [row]})
        batch.replace(batch.series(FROM_FROM_A, "derived", [FROM_A.id, OTHER.id]), {JANUARY: [row]})
        mixed = row._replace(lineage=batch.lineage([OTHER.id, B.id]))
        batch.replace(batch.series(FROM_ROWS, "derived"), {FEBRUARY: [mixed]})
    yield one
    one.db.close()


def test_rows_are_noted_by_the_span_they_lie_in(store):
    assert store.noted(1) == {
        "a": (JANUARY, FEBRUARY), "b": (JANUARY, FEBRUARY), "other": (JANUARY, FEBRUARY),
        "from_a": (JANUARY, JANUARY), "from_from_a": (JANUARY, JANUARY), "from_rows": (FEBRUARY, FEBRUARY),
    }  # fmt: skip
    ref = PayloadRef(2, AT + 1, (AT + 1, "0" * 64))
    with store.batch() as batch:
        batch.append(ref, [SeriesClaim(batch.existing(A.id), [ReportedValue(FEBRUARY, 3.0)])])
        batch.append(ref, [SeriesClaim(batch.existing(A.id), [ReportedValue(JANUARY, 3.0)])])
        batch.append(ref, [SeriesClaim(batch.existing(B.id), [ReportedValue(JANUARY, 1.0)])])
    assert store.noted(2) == {"a": (JANUARY, FEBRUARY)}


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        (A, {"a", "from_a", "from_from_a"}),
        (FROM_A, {"from_a", "from_from_a"}),
        (B, {"b", "from_rows"}),
        (OTHER, {"other", "from_from_a", "from_rows"}),
    ],
)
def test_tightened_rights_are_noted_down_to_the_last_that_is_computed(store, name, concerned):
    with store.batch() as batch:
        batch.tighten(batch.existing(name.id), Exposure.restricted, "invented")
    assert store.noted(2) == dict.fromkeys(concerned, (0, WHOLE))
    with store.batch() as batch:
        batch.tighten(batch.existing(name.id), Exposure.internal_only, "no tighter")
        batch.touch()
    assert store.noted(3) == {}


def test_another_specification_or_lineage_is_noted(store):
    with store.batch() as batch:
        batch.series(msgspec.structs.replace(B, unit="index"), "raw")
        batch.series(FROM_FROM_A, "derived", [FROM_A.id])
        batch.series(A, "raw")
    assert store.noted(2) == dict.fromkeys(("b", "from_rows", "from_from_a"), (0, WHOLE))


def test_a_new_series_concerns_nobody(store):
    with store.batch() as batch:
        new = batch.series(spec("new"), "raw")
        batch.tighten(new, Exposure.restricted, "invented")
    assert store.noted(2) == {}
