"""Pages by topic, which stop where a page is full: what their ETags promise, and cases that random histories seldom have."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from almanac.api.rows.redaction import Redaction
from almanac.domain.fragments import END, SeriesParts, filled, value_of
from almanac.domain.observations import ReportedValue
from almanac.store.observations.reading.plan import Question
from almanac.store.observations.reading.selection import Selection
from tests.laws.test_pages import AHEAD, INSTANT, few_series, filters, responses
from tests.support.generators import histories
from tests.support.generators import responses as ordinary
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, DAYS, GAMMA, MONTHS, START, SmallWorld, sent

#: Mostly one series or a few, so that most pages are of the kind in question.
stores = st.one_of(*[few_series] * 3, histories)
changes = st.one_of(
    st.one_of(responses(), ordinary()).map(lambda found: ("send", ([found],))),
    st.lists(st.sampled_from([GAMMA, ALPHA]), max_size=2, unique=True).map(lambda names: ("allow", tuple(names))),
    st.permutations([ALPHA, BETA, GAMMA]).map(lambda names: ("prefer", tuple(names))),
)
selections = st.tuples(filters, st.sampled_from([{}, {}, {"observed_to": START + 2 * DAY_SECONDS}])).map(
    lambda chosen: Selection(**chosen[0], **chosen[1])
)
asked = st.fixed_dictionaries({
    "as_of": st.none() | st.integers(-2, 8).map(lambda day: START + day * DAY_SECONDS),
    "descending": st.booleans(),
})  # fmt: skip


@given(stores, st.lists(changes, min_size=1, max_size=8), selections, asked, st.integers(1, 6))
def test_pages_with_one_etag_are_one_page(responses, events, selection, asked, limit):
    """The same question put to one state of the store after the other."""
    with SmallWorld() as world:
        world.send(responses)
        seen: dict[bytes, bytes] = {}
        for name, arguments in [*events, ("send", ([],))]:
            view = world.view()
            rows, _ = view.read(
                Question(selection, version=view.version, after=None, limit=limit, every=False, sort="topic", **asked)
            )
            data, validator = Redaction(view, view.version, asked["as_of"], date(2025, 4, 1)).page(rows, lineage=True)
            event("held" if validator in seen else "new")
            assert seen.setdefault(validator, data) == data
            getattr(world, name)(*arguments)


@pytest.fixture
def world():
    with SmallWorld() as opened:
        level = [ReportedValue(key, 1.0 + place) for place, key in enumerate(MONTHS)]
        revised = [ReportedValue(key, 9.0) for key in MONTHS[:3]]
        opened.send(
            [
                sent(ALPHA, 1, ("level.aaa", level, None)),
                sent(ALPHA, 1, ("jobless.aaa", level[:4], None)),
                sent(BETA, 1, ("policy.aaa", [ReportedValue(key, 2.0) for key in DAYS], None)),
                sent(ALPHA, 3, ("level.aaa", revised, None)),
                sent(GAMMA, 1, ("policy.bbb", [ReportedValue(key, 2.0) for key in DAYS], None)),
            ]
        )
        yield opened


def page(world, limit=100, after=None, descending=False, as_of=None, version=None, **selection):
    view = world.view()
    return view.read(
        Question(
            Selection(**selection),
            version=world.version if version is None else version,
            as_of=as_of,
            descending=descending,
            after=after,
            limit=limit,
            every=False,
            sort="topic",
        )
    )


def values(found):
    """Numbers of a page, in its order."""
    return [value_of(row.marked)[0] for row in found[0]]


LEVEL = {"indicators": ("level",), "entities": ("country_aaa",)}


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"ends_from": date(2025, 2, 15)}, [7.0, 6.0]),
        ({"ends_from": date(2025, 2, 16)}, [6.0]),
        ({"ends_by": date(2025, 2, 15)}, [9.0, 9.0, 9.0, 4.0, 5.0, 7.0]),
        ({"ends_by": date(2025, 2, 14)}, [9.0, 9.0, 9.0, 4.0, 5.0]),
        ({"starts_from": date(2025, 1, 1)}, [5.0, 7.0, 6.0]),
        ({"starts_from": date(2025, 2, 1)}, [7.0, 6.0]),
        ({"starts_from": date(2025, 2, 15)}, [7.0]),
        ({"starts_from": date(2025, 2, 16)}, []),
    ],
)
def test_bounds_are_inclusive_days(world, bounds, expected):
    """An instant begins and ends on its only day."""
    world.send([sent(ALPHA, 4, ("level.aaa", [ReportedValue(INSTANT, 7.0)], None))])
    assert values(page(world, **bounds, **LEVEL)) == expected


def test_an_older_version_may_have_had_more_vintages(world):
    """What has one vintage now had two at the version of the cursor: its past is read from the vintages."""
    one, two = START + DAY_SECONDS, START + 3 * DAY_SECONDS
    asked = {"indicators": ("yield_5y",), "as_of": START + 2 * DAY_SECONDS}
    for day, known, value in ((1, one, 1.0), (3, two, 2.0)):
        world.send([sent(ALPHA, day, ("yield_5y.aaa", [ReportedValue(DAYS[0], value, known)], None))])
    pinned = world.version
    world.send([sent(ALPHA, 5, ("yield_5y.aaa", [ReportedValue(DAYS[0], 1.0, two)], None))])
    assert world.db.execute("SELECT rows, vintages FROM series WHERE id LIKE '%yield_5y%'").fetchall() == [(1, 1)]
    assert values(page(world, version=pinned, **asked)) == [1.0]


def test_of_rivals_the_preferred_one_is_chosen_cell_by_cell(world):
    late = [ReportedValue(MONTHS[0], 3.0), ReportedValue(AHEAD[0], 8.0)]
    world.send([sent(BETA, 4, ("level.aaa", late, None))])
    assert values(page(world, **LEVEL)) == [9.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    assert values(page(world, 2, descending=True, **LEVEL)) == [8.0, 6.0]
    pinned = world.version
    world.prefer(BETA, ALPHA, GAMMA)
    assert values(page(world, 2, **LEVEL)) == [3.0, 9.0]
    # A walk goes on by the order of the version that it began with, whichever way it is read.
    for bounds in ({}, {"observed_from": 0}):
        assert values(page(world, version=pinned, **bounds, **LEVEL)) == [9.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
        assert values(page(world, **bounds, **LEVEL)) == [3.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    then = {"as_of": START + 9 * DAY_SECONDS, **LEVEL}
    assert values(page(world, **then)) == [3.0, 9.0, 9.0, 4.0, 5.0, 6.0, 8.0]
    assert values(page(world, 2, descending=True, **then)) == [8.0, 6.0]
    assert values(page(world, as_of=START + 2 * DAY_SECONDS, **LEVEL)) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert values(page(world, 2, sources=frozenset({ALPHA}), **LEVEL)) == [9.0, 9.0]


def test_an_etag_holds_while_the_page_does(world):
    """Another page of the same topic may change, and so may other topics."""

    def validator(limit):
        view = world.view()
        shape = Redaction(view, view.version, None, date(2025, 4, 1))
        return shape.page(page(world, limit, **LEVEL)[0], lineage=False)[1]

    before = validator(2), validator(6)
    world.send([sent(ALPHA, 4, ("level.aaa", [ReportedValue(MONTHS[4], 5.5)], None))])
    world.send([sent(ALPHA, 4, ("jobless.aaa", [ReportedValue(MONTHS[0], 5.5)], None))])
    assert validator(2) == before[0]
    assert validator(6) != before[1]


def test_marks_that_are_not_those_of_the_rows_are_refused():
    row, other = b"x\1" + b"1\2" + b'2,"p":2\3,"e":3', b'y\1null,"valueText":"w"\5' + b"3\6"
    parts = SeriesParts.of(b"s", b',"n":N', b',"u":U', b',"m":{"t":T', b"}}")
    whole = filled(row + END + other + END + row, 3, parts)
    plain = b'{"id":"obs_sx","n":N,"valueNumeric":1,"valueText":null,"u":U,"periodStart":2,"p":2,"m":{"t":T,"e":3}}'
    said = b'{"id":"obs_sy","n":N,"valueNumeric":null,"valueText":"w","u":U,"periodStart":3,"m":{"t":T,"releasePrecision":"day"}}'
    assert whole == b",".join((plain, said, plain))
    wrong = (row.replace(b"3", b"\2"), row.replace(b"\3", b""), row.replace(b"\2", b"\5\2"), row.replace(b"e", b"\6"))
    for text, rows in ((row, 2), (row + END + row, 1), *((text, 1) for text in wrong)):
        with pytest.raises(ValueError, match="a character that no JSON text may hold"):
            filled(text, rows, parts)
