"""Statements read back: of which periods, and in which order. All of it is invented."""

from datetime import date

import pytest
import zstandard

from almanac.domain.periods import key_of
from almanac.store.companies.statements import BALANCE, FREQUENCIES, INCOME, Key, newest, pack, replace, unpack
from almanac.store.engine import data_schema, sqlite
from almanac.store.engine.sqlite import OPEN

ENTITY = "company_0000000001"


def key(kind, frequency, start, end):
    first = None if kind == BALANCE else date.fromisoformat(start).toordinal()
    return Key(kind, frequency, key_of(first, date.fromisoformat(end).toordinal()))


@pytest.fixture
def db():
    """2021 in halves, 2022 in quarters as far as they are known, and in halves."""
    connection = sqlite.Connection(":memory:")
    data_schema.make(connection, {"version": "0", "reference": "0"})
    periods = [
        ("S", "2021-01-01", "2021-06-30"),
        ("S", "2021-07-01", "2021-12-31"),
        ("A", "2021-01-01", "2021-12-31"),
        ("Q", "2022-01-01", "2022-03-31"),
        ("Q", "2022-04-01", "2022-06-30"),
        ("S", "2022-01-01", "2022-06-30"),
    ]
    bodies = {
        key(kind, *period): [(1, pack(f"{kind} {period}".encode()))] for kind in (INCOME, BALANCE) for period in periods
    }
    replace(connection, 1, ENTITY, bodies)
    yield connection
    connection.close()


def told(db, kind, frequencies, limit=100):
    found = newest(db, ENTITY, kind, frequencies, version=1, known_by=9, ends_from=None, limit=limit)
    return [(one.frequency, date.fromordinal(one.period >> 14).isoformat()) for one in found]


@pytest.mark.parametrize("kind", [INCOME, BALANCE])
def test_a_half_year_is_told_where_no_quarter_ends_with_it(db, kind):
    quarters = [("Q", "2022-06-30"), ("Q", "2022-03-31")]
    halves = [("S", "2021-12-31"), ("S", "2021-06-30")]
    assert told(db, kind, ("Q", "S")) == quarters + halves
    assert told(db, kind, FREQUENCIES) == [*quarters, ("A", "2021-12-31"), *halves]
    assert told(db, kind, ("Q", "S"), limit=3) == [*quarters, halves[0]]
    assert told(db, kind, ("A",)) == [("A", "2021-12-31")]


def test_the_same_body_packed_to_other_bytes_is_no_change(db):
    """Another version of the packer may pack a body otherwise."""
    db.execute("DELETE FROM statement")
    one = key(INCOME, "Q", "2022-01-01", "2022-03-31")
    other = key(BALANCE, "Q", "2022-01-01", "2022-03-31")
    body, less = b'{"items":{"revenue":1}}', pack(b"{}")
    plain = zstandard.ZstdCompressor(write_checksum=True).compress(body)
    assert plain != pack(body)
    assert replace(db, 1, ENTITY, {one: [(1, pack(body))], other: [(1, less)]}) == [one, other]
    assert replace(db, 2, ENTITY, {one: [(1, plain)], other: [(1, less)]}) == []
    assert set(replace(db, 2, ENTITY, {one: [(1, plain), (2, less)]})) == {one, other}
    stored = "SELECT kind, known_at, from_version, to_version, body FROM statement ORDER BY kind, known_at"
    assert list(db.execute(stored)) == [
        (INCOME, 1, 1, OPEN, pack(body)),
        (INCOME, 2, 2, OPEN, less),
        (BALANCE, 1, 1, 2, less),
    ]


@pytest.mark.parametrize("body", [b"", b"{", b'{"items":{"revenue":470}}' * 20])
def test_a_body_is_unpacked_as_it_was(body):
    assert unpack(pack(body)) == body


def test_a_damaged_body_is_refused():
    with pytest.raises(zstandard.ZstdError):
        unpack(pack(b'{"items":{"revenue":470}}')[:-3])
