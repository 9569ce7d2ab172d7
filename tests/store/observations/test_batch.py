"""Writing vintages: one transaction, one data version at most, and only the difference."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from almanac.domain.observations import DAY, FINAL, UNKNOWN, ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import meta
from almanac.store.engine.errors import ConflictError
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import SeriesClaim, by_period, fold

JANUARY, FEBRUARY, MARCH = (Period.parse(f"2026-{month:02}").key for month in (1, 2, 3))
SPEC = SeriesSpec(
    source="invented",
    native="x",
    indicator="level",
    entity="country_aaa",
    frequency=Frequency.MONTHLY,
    unit="percent",
    name="x",
)
#: 2026-04-01T00:00:00Z
AT = 1_775_001_600


@pytest.fixture
def db():
    connection = opening.create(Path(":memory:"))
    yield connection
    connection.close()


def payload(number, at=None):
    ingested = AT + (number if at is None else at)
    return PayloadRef(number, ingested, (ingested, f"{number:064}"))


def append(db, number, *statements, complete=None, spec=SPEC):
    with Batch(db, AT, "test") as batch:
        return batch.append(payload(number), [SeriesClaim(batch.series(spec, "raw"), statements, complete)])[0]


def version(db):
    return int(meta(db, "version"))


def history(db):
    """(known, value, from, to) of every vintage, closed ones too."""
    rows = db.execute(
        "SELECT known_at, value, from_version, to_version FROM vintages ORDER BY period, known_at, from_version"
    )
    return [(known - AT, value, start, None if end == sqlite.OPEN else end) for known, value, start, end in rows]


def stood(db, version=None):
    """(known, value, until) of every vintage as a data version has it, by default the newest."""
    rows = db.execute(
        "SELECT known_at, value, until FROM vintages WHERE from_version <= ?1 AND to_version > ?1 ORDER BY period, known_at",
        (sqlite.OPEN - 1 if version is None else version,),
    )
    return [(known - AT, value, None if until is None else until - AT) for known, value, until in rows]


def test_a_write_is_a_version_and_says_what_changed(db):
    assert append(db, 1, ReportedValue(FEBRUARY, 2.0), ReportedValue(JANUARY, 1.0)) == [JANUARY, FEBRUARY]
    assert append(db, 2, ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 3.0)) == [FEBRUARY]
    assert version(db) == 2
    assert history(db) == [(1, 1.0, 1, None), (1, 2.0, 1, 2), (1, 2.0, 2, None), (2, 3.0, 2, None)]
    assert list(db.execute("SELECT version, at, cause FROM version")) == [(1, AT, "test"), (2, AT, "test")]


def test_what_says_nothing_new_is_no_version(db):
    append(db, 1, ReportedValue(JANUARY, 1.0))
    assert append(db, 2, ReportedValue(JANUARY, 1.0)) == []
    assert append(db, 3) == []
    with Batch(db, AT, "test") as batch:
        assert batch.replace(batch.existing(SPEC.id), {}) == []
        assert not batch.changed
    assert version(db) == 1


def test_a_write_without_rows_can_be_a_version(db):
    with Batch(db, AT, "rights") as batch:
        batch.touch()
        assert batch.changed
    assert version(db) == 1


@pytest.mark.sqlite  # its trigger
def test_an_exception_undoes_everything(db):
    append(db, 1, ReportedValue(JANUARY, 1.0))

    def fail(first):
        with Batch(db, AT, "test") as batch:
            first(batch)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(
            lambda batch: batch.append(
                payload(2), [SeriesClaim(batch.series(SPEC, "raw"), [ReportedValue(JANUARY, 2.0)])]
            )
        )
    assert (version(db), history(db)) == (1, [(1, 1.0, 1, None)])
    # So does one that has ended the transaction already, and one while committing.
    with pytest.raises(RuntimeError):
        fail(lambda _: db.execute("ROLLBACK"))
    db.execute("CREATE TRIGGER no_version BEFORE INSERT ON version BEGIN SELECT raise(ABORT, 'full'); END")
    with pytest.raises(ConflictError, match="full"):
        append(db, 2, ReportedValue(JANUARY, 2.0))
    assert not db.in_transaction
    assert history(db) == [(1, 1.0, 1, None)]
    db.execute("DROP TRIGGER no_version")
    db.execute("CREATE TRIGGER no_version BEFORE INSERT ON version BEGIN SELECT raise(ROLLBACK, 'gone'); END")
    with pytest.raises(ConflictError, match="gone"):
        append(db, 2, ReportedValue(JANUARY, 2.0))
    assert history(db) == [(1, 1.0, 1, None)]


def test_a_withdrawal_ends_what_is_shown_and_a_return_shows_it_again(db):
    append(db, 1, ReportedValue(JANUARY, 1.0))
    append(db, 2, ReportedValue(JANUARY, None))
    append(db, 3, ReportedValue(JANUARY, 1.0))
    assert stood(db) == [(1, 1.0, 2), (2, None, 3), (3, 1.0, None)]


def test_a_late_first_vintage_rewrites_the_old_one(db):
    append(db, 1, ReportedValue(JANUARY, 2.0, known=AT - 5, released=AT - 5))
    append(db, 2, ReportedValue(JANUARY, 1.0, known=AT - 9, released=AT - 9))
    assert history(db) == [(-9, 1.0, 2, None), (-5, 2.0, 1, 2), (-5, 2.0, 2, None)]


def test_each_version_tells_until_when_a_vintage_stood_in_it(db):
    append(db, 1, ReportedValue(JANUARY, 1.0, known=AT - 9), ReportedValue(FEBRUARY, 7.0, known=AT - 9))
    append(db, 2, ReportedValue(JANUARY, 2.0, known=AT - 3))
    append(db, 3, ReportedValue(JANUARY, 3.0, known=AT - 6))
    append(db, 4, ReportedValue(JANUARY, 1.0, known=AT - 6))
    other = (-9, 7.0, None)
    assert stood(db, 1) == [(-9, 1.0, None), other]
    assert stood(db, 2) == [(-9, 1.0, -3), (-3, 2.0, None), other]
    assert stood(db, 3) == [(-9, 1.0, -6), (-6, 3.0, -3), (-3, 2.0, None), other]
    assert stood(db, 4) == stood(db) == [(-9, 1.0, -3), (-3, 2.0, None), other]
    assert list(db.execute("SELECT rows, vintages FROM series")) == [(2, 3)]


def test_one_batch_may_write_a_cell_twice(db):
    with Batch(db, AT, "test") as batch:
        series = batch.series(SPEC, "raw")
        batch.append(payload(1), [SeriesClaim(series, [ReportedValue(JANUARY, 1.0)])])
        batch.append(payload(1), [SeriesClaim(series, [ReportedValue(JANUARY, 2.0)])])
        batch.append(payload(2), [SeriesClaim(series, [ReportedValue(JANUARY, None)])])
        batch.append(payload(3), [SeriesClaim(series, [ReportedValue(JANUARY, 4.0)])])
    assert history(db) == [(1, 2.0, 1, None), (2, None, 1, None), (3, 4.0, 1, None)]
    assert list(db.execute("SELECT rows, vintages, first_period, last_period FROM series")) == [
        (1, 3, JANUARY, JANUARY)
    ]


def test_a_value_and_its_withdrawal_at_one_instant_leave_nothing(db):
    append(db, 1, ReportedValue(JANUARY, 1.0, known=AT))
    append(db, 2, ReportedValue(JANUARY, None, known=AT))
    assert history(db) == [(0, 1.0, 1, 2)]
    figures = "SELECT rows, vintages, first_period, last_period, first_known, last_known FROM series"
    assert list(db.execute(figures)) == [(0, 0, None, None, None, None)]
    with Batch(db, AT, "test") as batch:
        assert not batch.has_rows(batch.existing(SPEC.id))


def test_replace_sets_cells_outright_and_leaves_equal_rows_alone(db):
    append(db, 1, ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 2.0))
    kept = Vintage(AT + 1, 1.0, None, 0, None, AT + 1, 1)
    with Batch(db, AT, "test") as batch:
        assert batch.replace(batch.existing(SPEC.id), {JANUARY: [kept], FEBRUARY: []}) == [FEBRUARY]
    assert history(db) == [(1, 1.0, 1, None), (1, 2.0, 1, 2)]


def test_cells_far_apart_are_read_one_by_one_with_the_same_result(db):
    far = [Period.parse(str(year)).key for year in (1700, 2020)]
    append(db, 1, *(ReportedValue(key, 1.0) for key in far), ReportedValue(JANUARY, 1.0))
    with Batch(db, AT, "test") as batch:
        series = batch.existing(SPEC.id)
        assert set(batch.history(series, (far[0], JANUARY), only=far)) == set(far)
        assert set(batch.history(series, (far[1], JANUARY), only=[JANUARY])) == {JANUARY}
        assert set(batch.history(series, (far[0], JANUARY))) == {*far, JANUARY}


# -- completeness -------------------------------------------------------------------------------------------------------


def test_a_complete_payload_withdraws_what_it_does_not_list_inside_its_span_only(db):
    append(db, 1, *(ReportedValue(key, 1.0) for key in (JANUARY, FEBRUARY, MARCH)))
    assert append(db, 2, ReportedValue(JANUARY, 1.0), complete=(JANUARY, FEBRUARY)) == [FEBRUARY]
    assert append(db, 3, complete=(JANUARY, FEBRUARY)) == [JANUARY]
    assert stood(db) == [(1, 1.0, 3), (3, None, None), (1, 1.0, 2), (2, None, None), (1, 1.0, None)]


def test_statements_outside_the_complete_span_count_too(db):
    append(db, 1, ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 1.0))
    assert append(db, 2, ReportedValue(MARCH, 1.0), complete=(FEBRUARY, FEBRUARY)) == [FEBRUARY, MARCH]
    assert append(db, 3, ReportedValue(JANUARY, 5.0), complete=(MARCH, MARCH)) == [JANUARY, MARCH]


def test_what_is_withdrawn_already_is_not_withdrawn_again():
    cells = {JANUARY: [Vintage(1, 1.0, None, 0, None, 1, 1), Vintage(2, None, None, 0, None, 2, 2)], FEBRUARY: []}
    assert fold(cells, payload(3), {}, (JANUARY, MARCH), 90) == {}


# -- statements ---------------------------------------------------------------------------------------------------------


def folded(*lines, stored=(), number=9):
    (vintages,) = fold({JANUARY: list(stored)}, payload(number), by_period(lines), None, 90).values()
    return [(v.known - AT, v.value, v.released and v.released - AT) for v in vintages]


def test_nothing_is_known_or_released_later_than_it_was_here():
    assert folded(ReportedValue(JANUARY, 1.0, known=AT + 50, released=AT + 40)) == [(9, 1.0, 9)]
    assert folded(ReportedValue(JANUARY, 1.0, known=AT - 5, released=AT - 6)) == [(-5, 1.0, -6)]
    assert folded(ReportedValue(JANUARY, 1.0)) == [(9, 1.0, None)]


def test_a_documented_time_holds_for_the_first_vintage_only():
    line = ReportedValue(JANUARY, 1.0, known=AT - 5, released=AT - 5, flags=DAY | UNKNOWN | FINAL, first_only=True)
    assert folded(line) == [(-5, 1.0, -5)]
    stored = [Vintage(AT - 5, 2.0, None, 0, AT - 5, AT, 1)]
    assert folded(line, stored=stored) == [(-5, 2.0, -5), (9, 1.0, None)]
    (_, late) = fold({JANUARY: stored}, payload(9), by_period([line]), None, 90)[JANUARY]
    assert late.flags & (DAY | UNKNOWN | FINAL) == FINAL


def test_two_documented_statements_of_one_payload_are_both_first():
    line = ReportedValue(JANUARY, 1.0, known=AT - 5, released=AT - 5, first_only=True)
    assert folded(line, line._replace(value=2.0)) == [(-5, 2.0, -5)]


def test_a_number_that_cannot_be_served_is_refused(db):
    with pytest.raises(ValueError, match="nan is not a number"):
        append(db, 1, ReportedValue(JANUARY, float("nan")))


# -- series -------------------------------------------------------------------------------------------------------------


def test_a_series_follows_its_specification_and_readers_are_told(db):
    append(db, 1, ReportedValue(JANUARY, 1.0))
    assert meta(db, "reference") == "1"
    append(db, 2, ReportedValue(JANUARY, 2.0))
    assert meta(db, "reference") == "1"
    other = SeriesSpec(
        **{name: getattr(SPEC, name) for name in SPEC.__struct_fields__} | {"name": "y", "allowance_days": 7}
    )
    with Batch(db, AT, "test") as batch:
        assert batch.series(other, "raw").allowance_days == 7
    assert (meta(db, "reference"), version(db)) == ("3", 3)


def test_a_series_that_does_not_exist_is_named(db):
    with Batch(db, AT, "test") as batch, pytest.raises(KeyError, match="nobody:country_aaa:level:M"):
        batch.existing("nobody:country_aaa:level:M")


def test_rights_are_tightened_never_loosened(db):
    append(db, 1, ReportedValue(JANUARY, 1.0))
    for exposure, reason in (
        (Exposure.restricted, "first"),
        (Exposure.internal_only, "second"),
        (Exposure.restricted, "third"),
    ):
        with Batch(db, AT, "test") as batch:
            batch.tighten(batch.existing(SPEC.id), exposure, reason)
    assert list(db.execute("SELECT exposure, reason FROM series")) == [(int(Exposure.restricted), "first")]
    assert version(db) == 2


def test_a_set_of_inputs_has_one_number_in_the_order_given(db):
    with Batch(db, AT, "test") as batch:
        assert batch.lineage(["a", "b"]) == batch.lineage(["a", "b"])
        assert batch.lineage(["a", "b"]) != batch.lineage(["b", "a"])


def test_a_set_of_inputs_that_was_undone_is_numbered_anew(db):
    with Batch(db, AT, "test") as batch:
        number = batch.lineage(["a", "b"])
    with pytest.raises(RuntimeError), Batch(db, AT, "test") as undone:
        assert undone.lineage(["a", "b"]) == number
        undone.lineage(["c"])
        raise RuntimeError("undone")
    with Batch(db, AT, "test") as batch:
        batch.lineage(["d"])
        number = batch.lineage(["c"])
    assert db.execute("SELECT inputs FROM lineage WHERE lineage = ?", (number,)).get == '["c"]'


def test_what_a_series_was_folded_from_is_remembered_and_its_newest(db):
    for number in (3, 5):
        row = (number, f"capture {number}", f"{number:064}", AT + number, AT + number)
        db.execute("INSERT INTO payload VALUES(?, ?, 'invented', '', ?, '', 0, ?, ?, '', 'folded', NULL)", row)
    append(db, 5, ReportedValue(JANUARY, 1.0))
    append(db, 3, ReportedValue(JANUARY, 1.0))
    with Batch(db, AT, "test") as batch:
        series = batch.existing(SPEC.id)
        assert sorted(db.execute("SELECT payload FROM series_payload")) == [(3,), (5,)]
        assert batch.behind(series, payload(4))
        assert not batch.behind(series, payload(5))
        assert not batch.behind(series, payload(6))
        # At the same second the hash decides.
        assert batch.behind(series, PayloadRef(9, AT + 5, (AT + 5, "0")))
        new = batch.series(
            SeriesSpec(**{name: getattr(SPEC, name) for name in SPEC.__struct_fields__} | {"source": "other"}), "raw"
        )
        assert not batch.behind(new, payload(1))


def test_the_newest_period_shown_for_a_series_is_no_forecast(db):
    future = Period.parse("2030-01").key
    append(db, 1, ReportedValue(JANUARY, 1.0), ReportedValue(future, 2.0))
    assert list(db.execute("SELECT first_period, last_period FROM series")) == [(JANUARY, JANUARY)]


@pytest.mark.parametrize("periods", [(FEBRUARY, JANUARY, MARCH), (JANUARY, MARCH, FEBRUARY)])
def test_what_is_noted_of_a_topic_spans_all_that_a_batch_wrote_there(db, periods):
    with Batch(db, AT, "test") as batch:
        for number, period in enumerate(periods, 1):
            batch.append(payload(number), [SeriesClaim(batch.series(SPEC, "raw"), [ReportedValue(period, 1.0)])])
    assert list(db.execute("SELECT version, low, high FROM change")) == [(version(db), JANUARY, MARCH)]


def test_many_series_go_in_as_they_would_one_by_one(db, tmp_path):
    """A series that a payload speaks of twice is folded in order; what it wrote itself leaves no trace."""
    several = [msgspec.structs.replace(SPEC, indicator=name) for name in ("level", "other", "third")]

    def claims(batch):
        level, other, third = batch.put_series(several, "raw")
        return [
            SeriesClaim(level, [ReportedValue(JANUARY, 1.0), ReportedValue(FEBRUARY, 2.0, note='{"a":1}')]),
            SeriesClaim(other, [ReportedValue(JANUARY, 5.0)], (JANUARY, MARCH)),
            SeriesClaim(third, []),
            SeriesClaim(level, [ReportedValue(JANUARY, 1.0), ReportedValue(MARCH, 3.0, note='{"a":1}')]),
            SeriesClaim(other, [ReportedValue(MARCH, 6.0)], (JANUARY, MARCH)),
        ]

    with closing(opening.create(tmp_path / "other.db")) as twin:
        for number in (1, 2):
            with Batch(db, AT, "test") as batch:
                together = batch.append(payload(number), claims(batch))
            with Batch(twin, AT, "test") as batch:
                alone = [batch.append(payload(number), [claim])[0] for claim in claims(batch)]
            assert together == alone
        for table in ("series", "topic", "spec", "note", "vintages", "change", "series_payload"):
            rows, others = (sorted(each.execute(f"SELECT * FROM {table}"), key=repr) for each in (db, twin))
            assert rows == others, table
    assert together == [[], [JANUARY, MARCH], [], [], [JANUARY, MARCH]]
