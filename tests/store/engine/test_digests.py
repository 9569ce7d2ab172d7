"""Texts found by a digest: two of one number are told apart."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec
from almanac.store.engine import opening
from almanac.store.observations.writing import numbering
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.numbering import digest_of


def spec(name):
    return SeriesSpec(
        source="s", native="n", indicator="i", entity="country_usa", frequency=Frequency.DAILY, unit="u", name=name
    )


@given(st.text())
def test_a_number_is_small_and_the_same_each_time(text):
    assert 0 <= digest_of(text) == digest_of(text) < 1 << 48


def test_a_number_is_the_same_in_every_version():
    assert digest_of('["a:country_usa:gdp:Q"]') == 0x5D0B15938B01


def test_texts_of_one_number_are_told_apart(monkeypatch):
    monkeypatch.setattr(numbering, "digest_of", lambda _: 7)
    db = opening.create(Path(":memory:"))
    with Batch(db, 0, "test") as writing:
        sets = [["a"], ["a", "b"], ["b"]]
        numbers = [writing.lineage(one) for one in sets]
        assert len(set(numbers)) == 3
        assert [writing.lineage(one) for one in sets] == [writing.known_lineage(one) for one in sets] == numbers
        places = [numbering.SpecNumbers(db).put([spec(name)])[0] for name in ("x", "y", "x")]
        assert places[0] == places[2] != places[1]
    db.close()
