"""Official events: states are added and never lost, the latest known by a moment is served. All of it is invented."""

from datetime import date, timedelta

import apsw
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.events import CATEGORIES, STATUSES, EventState, event_id
from almanac.domain.events import settle as settled
from almanac.domain.filings import page_of
from almanac.domain.observations import Vintage
from almanac.domain.periods import Period
from almanac.store.engine import data_schema, sqlite
from almanac.store.events import events, releases
from almanac.store.events.events import Wanted, body_of, coming, count, fields_of, page, put, read_states, replace
from tests.support.small_world import ALPHA, START, SmallWorld, spec

LATE = 1 << 40


@pytest.fixture
def db():
    connection = opened()
    yield connection
    connection.close()


def opened():
    connection = sqlite.Connection(":memory:")
    data_schema.make(connection, {"version": "0", "reference": "0"})
    for entity, country in (("company_0000000001", "country_usa"), ("company_0000000002", None)):
        connection.execute(
            "INSERT INTO company VALUES(?, 1, 'sec', ?1, ?1, ?1, NULL, NULL, ?2, NULL, 'Unclassified', NULL, 'industrial', 1, '{}')",
            (entity, country),
        )
    return connection


def state(name="cpi", known=10, occurs=100, **more):
    fields = {
        "event": event_id("bls", name), "known_at": known, "occurred_at": occurs, "precision": "minute",
        "time_zone": "America/New_York", "category": "macro_release", "type": "release", "title": f"About {name}",
        "status": "scheduled", "source": "bls",
    }  # fmt: skip
    return EventState(**{**fields, **more})


def walk(db, wanted=Wanted(), *, version=99, known_by=LATE, descending=False, limit=500):  # noqa: B008  (it is frozen)
    rows, after = [], None
    while True:
        found, after = page(
            db, wanted, version=version, known_by=known_by, descending=descending, after=after, limit=limit
        )
        rows += found
        if after is None:
            return rows
        assert len(found) == limit


def test_the_id_is_of_source_release_and_period_and_never_of_the_date():
    assert event_id("bls", "cpi", "2026-10") == event_id("bls", "cpi", "2026-10")
    assert len({event_id("bls", "cpi"), event_id("bls", "cpi", "2026-10"), event_id("bea", "cpi", "2026-10")}) == 3
    # The parts are told apart: no two that run together differently share an id.
    assert event_id("bls", "cpi2026", None) != event_id("bls", "cpi", "2026")
    identifier = event_id("sec", "0000320193-24-000123")
    assert identifier.startswith("evt_")
    assert len(identifier) == 30
    assert set(identifier[4:]) <= set("abcdefghijklmnopqrstuvwxyz234567")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"category": "weather"}, "category must be one of macro_release, central_bank"),
        ({"status": "late"}, "status must be one of scheduled, released"),
        ({"precision": "hour"}, "precision must be one of minute, day, not 'hour'"),
        ({"actual": 1.0}, "has numbers and no unit"),
    ],
)
def test_a_wrong_state_is_named(more, message):
    with pytest.raises(ValueError, match=message):
        state(**more)


def test_a_moved_event_is_a_new_state_of_the_same_event(db):
    assert put(db, 1, [state(known=10, occurs=100), state("gdp", known=11, occurs=150)])
    assert put(db, 2, [state(known=20, occurs=200, status="rescheduled")])
    assert put(db, 3, [state(known=30, occurs=200, status="released", actual=3.5, previous=3.0, unit="percent")])
    (first, last) = walk(db)
    assert (first.title, last.title) == ("About gdp", "About cpi")
    assert last == state(known=30, occurs=200, status="released", actual=3.5, previous=3.0, unit="percent")
    assert [(one.occurred_at, one.status) for one in walk(db, known_by=25)] == [
        (150, "scheduled"),
        (200, "rescheduled"),
    ]
    assert [(one.occurred_at, one.status) for one in walk(db, known_by=15)] == [(100, "scheduled"), (150, "scheduled")]
    assert [one.title for one in walk(db, known_by=10)] == ["About cpi"]
    assert walk(db, known_by=9) == []
    # A walk pinned to an older data version sees the states of then.
    assert [(one.occurred_at, one.status) for one in walk(db, version=1)] == [(100, "scheduled"), (150, "scheduled")]
    assert count(db) == 2


def test_an_equal_state_is_not_stored(db):
    assert put(db, 1, [state(known=10)])
    assert not put(db, 2, [state(known=10)])
    assert not put(db, 2, [state(known=40)])
    assert [one.known_at for one in read_states(db, event_id("bls", "cpi"))] == [10]


def test_of_one_moment_the_last_to_arrive_counts(db):
    put(db, 1, [state(known=10, title="first")])
    assert put(db, 2, [state(known=10, title="second")])
    assert [one.title for one in walk(db)] == ["second"]
    assert [one.title for one in walk(db, version=1)] == ["first"]
    # Within one write the first was never seen: no row is left of it.
    put(db, 3, [state("gdp", known=10, title="a")])
    put(db, 3, [state("gdp", known=10, title="b")])
    assert db.execute("SELECT count(*) FROM event WHERE event = ?", (event_id("bls", "gdp"),)).get == 1


def test_a_state_known_earlier_arrives_later(db):
    put(db, 1, [state(known=30, status="released")])
    assert put(db, 2, [state(known=20, status="scheduled")])
    assert [(one.known_at, one.status) for one in read_states(db, event_id("bls", "cpi"))] == [
        (20, "scheduled"),
        (30, "released"),
    ]
    assert [one.status for one in walk(db, known_by=25)] == ["scheduled"]


def test_replacing_all_states_of_an_event(db):
    put(db, 1, [state(known=10), state(known=20, status="released"), state("gdp")])
    event = event_id("bls", "cpi")
    assert replace(db, 2, {event: []})
    assert [one.title for one in walk(db)] == ["About gdp"]
    assert len(walk(db, version=1)) == 2
    assert count(db) == 1
    assert not replace(db, 3, {event: []})


def test_filters_test_the_state_that_is_shown(db):
    put(db, 1, [
        state("a", occurs=1, category="issuer_filing", entity="company_0000000001", form="10-K", accession="x"),
        state("b", occurs=2, category="issuer_filing", entity="company_0000000002"),
        state("c", occurs=3, country="country_usa", indicator="cpi_index"),
        state("d", occurs=4, country="country_jpn", source="boj"),
        state("e", occurs=5, country="country_jpn", entity="company_0000000001"),
    ])  # fmt: skip
    put(db, 2, [state("c", known=50, occurs=3, country="country_usa", indicator="cpi_index", status="canceled")])

    def shown(**wanted):
        return "".join(one.title[-1] for one in walk(db, Wanted(**wanted)))

    assert shown() == "abcde"
    assert shown(category="issuer_filing") == "ab"
    assert shown(entities=("company_0000000001",)) == "ae"
    assert shown(entities=("company_0000000001", "company_0000000002")) == "abe"
    # A company's event is where the company is; one that names a country is there.
    assert shown(countries=("country_usa",)) == "ac"
    assert shown(countries=("country_jpn",)) == "de"
    assert shown(indicators=("cpi_index", "gdp")) == "c"
    assert shown(sources=frozenset(["boj"])) == "d"
    assert shown(statuses=("canceled",)) == "c"
    assert shown(statuses=("scheduled",)) == "abde"
    assert shown(statuses=("canceled", "scheduled")) == "abcde"
    assert shown(types=("no_such_type",)) == ""
    assert shown(occurred_from=2, occurred_to=4) == "bcd"
    assert shown(entities=()) == shown(countries=()) == shown(indicators=()) == shown(sources=frozenset()) == ""
    assert shown(category="issuer_filing", countries=("country_usa",)) == "a"


COMPANIES = {"company_0000000001": "country_usa", "company_0000000002": None}

_states = st.builds(
    state,
    name=st.sampled_from("abcd"),
    known=st.integers(1, 6),
    occurs=st.integers(1, 8),
    status=st.sampled_from(STATUSES[:3]),
    category=st.sampled_from(CATEGORIES[:2]),
    entity=st.sampled_from([None, *COMPANIES]),
    country=st.sampled_from([None, "country_usa", "country_jpn"]),
    source=st.sampled_from(["bls", "boj"]),
    indicator=st.sampled_from([None, "cpi_index"]),
)


def _some(*values):
    return st.none() | st.lists(st.sampled_from(values), unique=True, max_size=2).map(tuple)


_wanted = st.builds(
    Wanted,
    category=st.sampled_from([None, *CATEGORIES[:2]]),
    statuses=st.none() | st.lists(st.sampled_from(STATUSES[:3]), max_size=2, unique=True).map(tuple),
    types=st.none(),
    indicators=_some("cpi_index", "gdp"),
    entities=_some(*COMPANIES),
    countries=_some("country_usa", "country_jpn"),
    sources=_some("bls", "boj").map(lambda names: None if names is None else frozenset(names)),
    occurred_from=st.none() | st.integers(0, 8),
    occurred_to=st.none() | st.integers(0, 8),
)


def passes(wanted, one):
    """Whether an event is wanted, told plainly."""
    place = one.country or COMPANIES.get(one.entity)
    return (
        wanted.category in (None, one.category)
        and (wanted.statuses is None or one.status in wanted.statuses)
        and (wanted.indicators is None or one.indicator in wanted.indicators)
        and (wanted.entities is None or one.entity in wanted.entities)
        and (wanted.countries is None or place in wanted.countries)
        and (wanted.sources is None or one.source in wanted.sources)
        and (wanted.occurred_from is None or one.occurred_at >= wanted.occurred_from)
        and (wanted.occurred_to is None or one.occurred_at <= wanted.occurred_to)
    )


@given(
    st.lists(st.lists(_states, max_size=5), max_size=4), _wanted, st.integers(0, 7), st.integers(1, 4), st.booleans(), st.booleans()
)  # fmt: skip
def test_pages_are_the_latest_states_known_then(writes, wanted, known_by, limit, descending, many):
    """All pages joined are what a plain look at the states as they arrived gives, at every data version."""
    db = opened()
    for version, states in enumerate(writes, 1):
        put(db, version, states)
    for version in range(len(writes) + 1):
        arrived: dict[str, list[EventState]] = {}
        for states in writes[:version]:
            # What is held is settled write by write: of equal neighbours the later was dropped when it came.
            for event in {one.event for one in states}:
                new = [one for one in states if one.event == event]
                arrived[event] = settled([*arrived.get(event, []), *new])
        latest = [
            max(known, key=lambda one: one.known_at)
            for states in arrived.values()
            if (known := [one for one in states if one.known_at <= known_by])
        ]
        expected = [
            one
            for one in sorted(latest, key=lambda one: (one.occurred_at, one.event), reverse=descending)
            if passes(wanted, one)
        ]
        # Companies of a country are walked one by one where they are few, else by time: the same either way.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events, "_FEW", 0 if many else 60)
            assert walk(db, wanted, version=version, known_by=known_by, descending=descending, limit=limit) == expected
    assert count(db) == len({one.event for states in writes for one in states})
    db.close()


def test_a_state_survives_the_store(db):
    whole = state(
        entity="company_0000000001", country="country_usa", indicator="cpi_index", period="2026-10", actual=0.0, previous=-1.5,
        revised_previous=2e300, unit="percent", form="8-K/A", accession="0000-1", url="https://e.example/ü", status="revised",
    )  # fmt: skip
    put(db, 1, [whole])
    assert read_states(db, whole.event) == [whole]
    assert msgspec.structs.asdict(walk(db)[0]) == msgspec.structs.asdict(whole)


@given(
    st.lists(_states | st.builds(state, name=st.sampled_from("abcd"), known=st.integers(1, 6), occurs=st.integers(1, 8), entity=st.just("country_usa"),
                                 country=st.just("country_usa")), max_size=12),
    st.integers(0, 8), st.integers(0, 7), st.integers(1, 4), _some(*STATUSES[:3]), _some(*CATEGORIES[:2]),
)  # fmt: skip
def test_what_comes_in_a_country_is_what_the_pages_have(states, since, known_by, limit, statuses, categories):
    """Those of the country itself, of every status and category asked for, soonest first; as `page` has them."""
    db = opened()
    put(db, 1, states)
    statuses, categories = statuses or (), categories or ()
    wanted = Wanted(countries=("country_usa",), occurred_from=since)
    expected = [
        one
        for one in walk(db, wanted, known_by=known_by)
        if one.country == "country_usa" and one.entity in {None, "country_usa"} and one.status in statuses and one.category in categories
    ]  # fmt: skip
    found = coming(
        db, "country_usa", since, categories=categories, statuses=statuses, version=1, known_by=known_by, limit=limit
    )
    assert found == expected[:limit]
    db.close()


@pytest.mark.parametrize("descending", [False, True])
def test_a_page_begins_where_its_bounds_meet(db, descending):
    """It passes over neither what happens after the moment asked, nor what was on pages before."""
    many, middle = 2_000, 1_000
    put(db, 1, [state(f"e{number:04}", known=number, occurs=number) for number in range(many)])

    def steps(after):
        taken = []
        db.trace_v2(
            apsw.SQLITE_TRACE_PROFILE, lambda event: taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
        )
        found, following = page(
            db, Wanted(occurred_from=0, occurred_to=many), version=1, known_by=middle, descending=descending, after=after, limit=10,
        )  # fmt: skip
        db.trace_v2(0, None)
        return sum(taken), [one.occurred_at for one in found], following

    taken, moments, following = steps(None)
    assert moments == (list(range(middle, middle - 10, -1)) if descending else list(range(10)))
    assert taken < many
    for _ in range(60):
        taken, moments, following = steps(following)
    assert moments == (list(range(middle - 600, middle - 610, -1)) if descending else list(range(600, 610)))
    assert taken < many


# -- bodies of events come out as they went in ------------------------------------------------------------------------


COMPANY = "company_0009900001"
#: An invented one.
FILED = {
    "precision": "minute",
    "time_zone": "America/New_York",
    "title": "Invented Ploughs Inc files an annual report (10-K)",
    "form": "10-K",
    "accession": "0009900001-24-000007",
    "url": "https://www.sec.gov/Archives/edgar/data/9900001/000990000124000007/plow-20231231.htm",
    "data": (),
}
texts = st.text(max_size=20)
urls = st.none() | st.text(min_size=1) | texts.map(lambda document: page_of(9_900_001, "a-1", document or None))


@given(
    st.sampled_from([COMPANY, "company_0000000007", "country_usa", "company_abc", None]),
    texts,
    urls,
    st.floats(allow_nan=False, allow_infinity=False) | st.none(),
)
def test_a_body_is_read_as_it_was(entity, title, url, actual):
    fields = {"title": title, "actual": actual, "data": ("fred",), "accession": "a-1", "url": url}
    told = {name: value for name, value in fields.items() if value is not None}
    assert fields_of(entity, body_of(entity, told)) == told


def test_of_a_filing_s_address_only_the_document_is_kept():
    assert b'"document":"plow-20231231.htm"' in body_of(COMPANY, FILED)
    assert b"sec.gov" not in body_of(COMPANY, FILED)
    # An address elsewhere stays whole, and one of another company too.
    assert b"sec.gov" in body_of("company_0009900002", FILED)


# -- vintages that releases and events are read from ------------------------------------------------------------------


DAY = 86_400
DAYS = [Period(day, day).key for day in (date(2025, 1, 1) + timedelta(n) for n in range(4))]


def test_those_of_several_cells_are_those_of_each():
    with SmallWorld() as world:
        asked = []
        for number in range(3):
            with world.batch("test") as batch:
                batch.replace(
                    batch.series(spec(ALPHA, f"level{number}", letter="D"), "raw"),
                    {
                        key: [
                            Vintage(at := START + (place + again) * DAY, float(again), None, 0, at, at, 1, None, 0)
                            for again in range(number + 1)
                        ]
                        for place, key in enumerate(DAYS)
                    },
                )
        view = world.view()
        for series, topic in world.db.execute("SELECT series, topic FROM series ORDER BY series"):
            asked += [(topic, series, low, high) for low in DAYS for high in DAYS]
        asked.append((asked[0][0], asked[-1][1], DAYS[0], DAYS[-1]))  # of another topic
        for version in (view.version - 1, view.version):
            for by in (START, START + 2 * DAY, START + 9 * DAY):
                found = releases.known(view, asked, version, by)
                assert found == [
                    releases.known(view, [(topic, series, low, high)], version, by)[0]
                    for topic, series, low, high in asked
                ]
        assert any(found)
        assert sum(map(len, found)) > sum(map(len, releases.known(view, asked, view.version, START + DAY)))
        assert releases.known(view, [], view.version, START) == []
