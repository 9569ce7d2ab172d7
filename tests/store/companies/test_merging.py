"""Companies put together from payloads that arrive in any order: fields, slugs, names, tickers. All of it is invented."""

from contextlib import closing
from datetime import date

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.companies import CompanyRecord, Filing, FormerName, Listing, company_id
from almanac.domain.periods import key_of
from almanac.domain.reference import Entity
from almanac.store.companies import filings as filing_rows
from almanac.store.companies import rows as aliases
from almanac.store.companies.merging import mark_reports, put_records
from almanac.store.companies.rows import by_id, by_ids, by_lookup, last_tickers, names, tickers
from almanac.store.companies.statements import BALANCE, FREQUENCIES, INCOME, Key, newest, pack, replace, unpack
from almanac.store.companies.succession import StatedAmount, shown_since
from almanac.store.engine import data_schema, sqlite
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.reading.metadata import MetadataCache

DAY = 86_400
#: Fetched on the n-th day of 2026.
FIRST = 1_767_225_600
PLACES = [
    Entity(id="country_usa", slug="united-states", name="United States", kind="country", iso2="US", iso3="USA"),
    Entity(id="country_oya", slug="oyatown", name="Oyatown", kind="country", iso2="OY", iso3="OYA"),
]


def classify(sic):
    return {"3571": ("Technology", "Electronic Computers", "industrial")}.get(sic, ("Unclassified", None, "industrial"))


def at(day):
    return FIRST + day * DAY


def ordinal(day):
    return date(2026, 1, 1).toordinal() + day


@pytest.fixture
def db():
    connection = opened()
    yield connection
    connection.close()


def opened():
    connection = sqlite.Connection(":memory:")
    data_schema.make(connection, {"version": "0", "reference": "0"})
    for place in PLACES:
        connection.execute("INSERT INTO record VALUES('entity', ?, ?)", (place.id, msgspec.json.encode(place).decode()))
    return connection


def said(cik, part="tickers", name="Acme Inc", tickers=(), exchange=None, **more):
    listings = tuple(Listing(ticker, exchange) for ticker in tickers)
    return CompanyRecord(cik=cik, part=part, name=name, listings=listings, **more)


def put(db, record, day=0, sha="a"):
    return bool(put_records(db, [record], "sec", at(day), sha, classify))


def dump(db):
    """All that is served of companies."""
    return (
        sorted(map(tuple, db.execute("SELECT * FROM company"))),
        sorted(
            map(repr, db.execute("SELECT entity, scheme, alias, norm, main, valid_from, valid_to, source FROM alias"))
        ),
    )


def names_of(db, cik):
    found = aliases.of_entity(db, company_id(cik))
    return {(one.scheme, one.alias): (one.primary, one.valid_from, one.valid_to) for one in found}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_industry_and_country_are_known_at_the_same_time_as_the_name(db, order):
    """What a data set of years ago states of another name is not said of the company of today; how to read statements is."""

    def told(sic):
        return {"6331": ("Financials", "Fire Insurance", "insurance")}.get(sic, ("Unclassified", None, "industrial"))

    old = {
        "sic": "6331",
        "country": "OY",
        "state_of_incorporation": "D0",
        "former_names": (FormerName("ACE OLDER", "1999-01-01"),),
    }
    for cik, then, now in ((8, "ACE LTD", "Chubb Ltd"), (9, "ACE LTD /BER/", "Ace, Ltd.")):
        parts = [said(cik, "datasets", then, **old), said(cik, "tickers", now, [f"T{cik}"])]
        for place in order:
            put_records(db, [parts[place]], "sec", at(place), f"{cik}{place}", told)
    renamed, same = by_id(db, company_id(8)), by_id(db, company_id(9))
    assert (renamed.name, renamed.sector, renamed.industry, renamed.country) == (
        "Chubb Ltd",
        "Unclassified",
        None,
        None,
    )
    assert (renamed.record.sic, renamed.record.state_of_incorporation) == (None, None)
    assert (same.name, same.sector, same.industry, same.country) == (
        "Ace, Ltd.",
        "Financials",
        "Fire Insurance",
        "country_oya",
    )
    assert renamed.template == same.template == "insurance"
    # Names it had are history, whatever it is called.
    assert renamed.record.former_names == same.record.former_names == old["former_names"]


def test_fields_come_from_the_part_that_knows_best(db):
    """submissions > facts > tickers > datasets, field by field; of one kind the payload fetched later."""
    put(db, said(7, "tickers", "ACME INC", ["ACM", "ACM-P"]), day=5)
    put(db, said(7, "facts", "Acme, Inc. of facts", currency="EUR"), day=9)
    put(db, said(7, "datasets", "ACME OLD", sic="9999", country="OY", state_of_incorporation="DE"), day=1)
    assert by_id(db, "company_0000000007").name == "Acme, Inc. of facts"
    late = said(7, "submissions", "Acme Inc.", ["ACM-P", "ACM"], "NYSE", sic="3571", country="us", lei="L" * 20)
    assert put(db, late, day=6)
    company = by_id(db, "company_0000000007")
    assert company == company._replace(
        entity="company_0000000007", cik=7, source="sec", slug="acme-inc", name="Acme Inc.", ticker="ACM-P", exchange="NYSE",
        country="country_usa", currency="EUR", sector="Technology", industry="Electronic Computers", template="industrial", reports=False,
    )  # fmt: skip
    record = company.record
    assert (record.sic, record.lei, record.state_of_incorporation, record.part) == ("3571", "L" * 20, None, "")
    assert [(one.ticker, one.exchange) for one in record.listings] == [("ACM-P", "NYSE"), ("ACM", "NYSE")]
    assert tickers(db, company) == ["ACM-P", "ACM"]
    assert names(db) == {"company_0000000007": "Acme Inc."}
    (found,) = by_ids(db, ["company_0000000007", "country_usa"]).values()
    assert (found.entity, found.country) == ("company_0000000007", "country_usa")


def test_the_same_again_changes_nothing(db):
    record = said(
        7,
        "submissions",
        "Acme Inc",
        ["ACM"],
        country="US",
        former_names=(FormerName("Ace", "2001-02-03", "2004-05-06"),),
    )
    assert put(db, record, day=1)
    before = dump(db)
    assert not put(db, record, day=1)
    # Fetched again later, and saying the same: only the time of the part is written.
    assert not put(db, record, day=2, sha="b")
    assert dump(db) == before
    assert db.execute("SELECT fetched_at, sha256 FROM company_part").fetchall() == [(at(2), "b")]


def test_an_exchange_from_another_payload(db):
    put(db, said(7, "submissions", "Acme", ["ACM"], "NYSE"), day=1)
    put(db, said(7, "tickers", "Acme", ["ACM", "ACW"]), day=2)
    company = by_id(db, "company_0000000007")
    assert [(one.ticker, one.exchange) for one in company.record.listings] == [("ACM", "NYSE"), ("ACW", None)]
    assert (company.ticker, company.exchange) == ("ACM", "NYSE")


def test_names_and_their_days(db):
    """A former name has the days stated; so has today's where the list of former ones holds it too."""
    former = (
        FormerName("ACME INC", "2007-01-10", "2019-08-05"), FormerName("Acme Computer Inc", "1994-01-26", "2007-01-04"),
        FormerName("Acme Inc.", "2019-08-06", "2026-01-01"), FormerName("Nobody", None, None),
    )  # fmt: skip
    put(
        db,
        said(
            7,
            "submissions",
            "Acme Inc.",
            ["ACM"],
            lei="5493006MHB84DD0ZWV18",
            legal_name="Acme Holding Incorporated",
            former_names=former,
        ),
    )
    put(db, said(7, "facts", "ACME INCORPORATED"))
    day = date.toordinal
    assert names_of(db, 7) == {
        ("name", "Acme Inc."): (True, day(date(2007, 1, 10)), None),
        ("name", "ACME INCORPORATED"): (False, day(date(2007, 1, 10)), None),
        ("name", "Acme Holding Incorporated"): (False, None, None),
        ("former_name", "ACME INC"): (False, day(date(2007, 1, 10)), day(date(2019, 8, 5))),
        ("former_name", "Acme Computer Inc"): (False, day(date(1994, 1, 26)), day(date(2007, 1, 4))),
        ("former_name", "Nobody"): (False, None, None),
        ("ticker", "ACM"): (True, None, None),
        ("cik", "0000000007"): (True, None, None),
        ("lei", "5493006MHB84DD0ZWV18"): (True, None, None),
        ("slug", "acme-inc"): (True, None, None),
    }
    found = aliases.matching(db, ["acme computer", "acm"])
    assert {(one.alias, one.norm) for one in found} == {("Acme Computer Inc", "acme computer"), ("ACM", "acm")}
    assert [one.alias for one in aliases.spelled_out(db)] == [
        "ACME INCORPORATED", "Acme Holding Incorporated", "Acme Inc.", "ACME INC", "Acme Computer Inc", "Nobody",
    ]  # fmt: skip


def test_slugs_are_unique_and_the_lowest_cik_has_the_bare_one(db):
    put(db, said(50, name="Acme Inc"))
    put(db, said(70, name="ACME, INC."))
    assert (by_id(db, company_id(50)).slug, by_id(db, company_id(70)).slug) == ("acme-inc", "acme-inc-0070")
    assert put(db, said(9, name="Acme Inc /DE/"))
    slugs = {one.cik: one.slug for one in by_ids(db, map(company_id, (9, 50, 70))).values()}
    assert slugs == {9: "acme-inc", 50: "acme-inc-0050", 70: "acme-inc-0070"}
    assert names_of(db, 50)["slug", "acme-inc-0050"] == (True, None, None)
    assert ("slug", "acme-inc") not in names_of(db, 50)
    # One that goes by another name leaves its slug to the next.
    assert put(db, said(9, name="Zeta Inc"), day=1)
    assert {one.cik: one.slug for one in by_ids(db, map(company_id, (9, 50, 70))).values()} == {
        9: "zeta-inc", 50: "acme-inc", 70: "acme-inc-0070",
    }  # fmt: skip


def test_no_slug_is_that_of_a_country_or_can_be_another_companys(db):
    put(db, said(12, name="Oyatown"))
    put(db, said(13, name="Phillips 66"))
    put(db, said(14, name="Series 2006"))
    put(db, said(15, name="日本"))
    put(db, said(16, name="1234"))
    slugs = [by_id(db, company_id(cik)).slug for cik in (12, 13, 14, 15, 16)]
    assert slugs == ["oyatown-0012", "phillips-66", "series-2006-0014", "company-0000000015-0015", "1234-0016"]


def test_look_ups(db):
    put(db, said(320, "submissions", "Acme Inc.", ["ACM", "BRK-B"], lei="5493006MHB84DD0ZWV18"))
    put(db, said(321, "submissions", "320 Inc", ["XYZ"]))
    for text in ("company_0000000320", "COMPANY_0000000320", "320", "0000000320", "CIK320", "acm", "ACM", "brk.b", "BRK/B",
                 "5493006mhb84dd0zwv18", "acme-inc", "Acme-Inc", " acm "):  # fmt: skip
        assert by_lookup(db, text).cik == 320, text
    for text in ("company_320", "0", "99999999999", "", " ", "acme", "Acme Inc.", "ZZZ", "company_0000000999"):
        assert by_lookup(db, text) is None, text


def test_a_retired_ticker_ends_with_the_day_it_was_last_seen(db):
    put(db, said(7, "tickers", "Acme", ["ACM", "OLD"]), day=1)
    put(db, said(7, "tickers", "Acme", ["ACM", "OLD"]), day=3)
    assert put(db, said(7, "tickers", "Acme", ["ACM"]), day=6)
    assert names_of(db, 7)["ticker", "OLD"] == (False, None, ordinal(3))
    assert names_of(db, 7)["ticker", "ACM"] == (True, None, None)
    assert by_lookup(db, "OLD") is None
    # Delisted: the submissions list no ticker any more.
    put(db, said(7, "submissions", "Acme", []), day=9)
    assert names_of(db, 7)["ticker", "ACM"] == (False, None, ordinal(6))
    company = by_id(db, company_id(7))
    assert (company.ticker, company.exchange, tickers(db, company)) == (None, None, [])
    # Listed again.
    put(db, said(7, "submissions", "Acme", ["ACM"]), day=12)
    assert names_of(db, 7)["ticker", "ACM"] == (True, None, None)


def test_a_delisted_company_keeps_its_last_ticker_for_the_time_before(db):
    entity = company_id(7)
    put(db, said(7, "tickers", tickers=("ACM", "ACMW")), day=1)
    put(db, said(7, "submissions", tickers=()), day=60, sha="b")
    assert by_id(db, entity).ticker is None
    # Last seen on the first day, off the exchange on the fortieth.
    filing_rows.enter(db, [(entity, Filing("0000000007-26-000001", "25-NSE", ordinal(40), at(40)))], "sec", 1)
    told = [last_tickers(db, [entity, company_id(8)], at(day)) for day in (0, 1, 39, 40, 61)]
    assert told == [{entity: "ACM"}] * 3 + [{}] * 2
    # Whenever it was listed, that is the last one it had.
    assert last_tickers(db, [entity, company_id(8)]) == {entity: "ACM"}
    # One that is listed has today's.
    put(db, said(7, "submissions", tickers=("ACN",)), day=80, sha="c")
    assert last_tickers(db, [entity], at(1)) == {}


def test_a_ticker_goes_to_the_company_whose_list_is_newest(db):
    put(db, said(7, "tickers", "Acme", ["ACM", "ACW"], "NYSE"), day=1)
    assert put(db, said(8, "tickers", "Zeta", ["ACM"], "OTC"), day=5)
    assert by_lookup(db, "ACM").cik == 8
    assert names_of(db, 7)["ticker", "ACM"] == (False, None, ordinal(1))
    assert (by_id(db, company_id(7)).ticker, by_id(db, company_id(8)).ticker) == ("ACW", "ACM")
    # The one that had it lists it again, later: it has it back.
    assert put(db, said(7, "tickers", "Acme", ["ACM", "ACW"], "NYSE"), day=8)
    assert by_lookup(db, "ACM").cik == 7
    assert (by_id(db, company_id(7)).ticker, by_id(db, company_id(8)).ticker) == ("ACM", None)
    assert names_of(db, 8)["ticker", "ACM"] == (False, None, ordinal(5))
    # Listed by both on the same day: both have it, and a look-up takes the one with statements, then the lower CIK.
    put(db, said(8, "tickers", "Zeta", ["ACM"], "OTC"), day=8)
    assert by_lookup(db, "ACM").cik == 7
    db.execute("INSERT INTO statement VALUES('company_0000000008', 0, 'A', 1, 1, 1, ?, ?)", (sqlite.OPEN, b"{}"))
    assert mark_reports(db, company_id(8))
    assert not mark_reports(db, company_id(8))
    assert by_lookup(db, "ACM").cik == 8


_records = st.builds(
    said,
    cik=st.integers(1, 4),
    part=st.sampled_from(["submissions", "facts", "tickers", "datasets"]),
    name=st.sampled_from(["Acme Inc", "ACME INC", "Zeta", "Oyatown", "Series 2006"]),
    tickers=st.lists(st.sampled_from(["A", "B", "C", "D"]), unique=True, max_size=3),
    exchange=st.sampled_from([None, "NYSE"]),
    sic=st.sampled_from([None, "3571"]),
    country=st.sampled_from([None, "US"]),
    former_names=st.lists(st.sampled_from([FormerName("Ace", "2001-02-03", "2004-05-06")]), max_size=1).map(tuple),
)


@pytest.mark.parametrize("listed", [(), ("ACME",), ("ACME-B", "ACME", "ACME.B", "acme")])
def test_several_companies_of_one_payload_are_entered_as_one_after_the_other(listed):
    """Spellings of one ticker are one; companies that share a slug or a ticker are told apart."""
    records = [
        said(1, name="Acme", tickers=listed),
        said(2, name="ACME", tickers=listed),
        said(3, name="Other", tickers=["X"]),
    ]
    dumps = []
    for groups in ([records], [[record] for record in records]):
        with closing(opened()) as db:
            for day, names_at in ((1, "a"), (2, "b")):
                for group in groups:
                    put_records(db, group, "sec", at(day), names_at, classify)
            dumps.append(dump(db))
    assert dumps[0] == dumps[1]


def test_a_payload_that_says_nothing_new_writes_nothing_but_its_time():
    """The list of tickers comes every day, and names ten thousand companies."""
    records = [said(cik, name=f"Company {cik}", tickers=[f"T{cik}"]) for cik in range(1, 41)]
    facts = [said(cik, "facts", f"Company {cik}") for cik in range(1, 41)]
    with closing(opened()) as db:
        put_records(db, records, "sec", at(1), "a", classify)
        put_records(db, facts, "sec", at(1), "b", classify)
        before, asked = dump(db), []
        db.set_exec_trace(lambda _, sql, __: asked.append(sql) or True)
        assert not put_records(db, facts, "sec", at(2), "c", classify)
        assert {sql.split()[0] for sql in asked} == {"SELECT", "INSERT"}
        assert sum(sql.startswith("INSERT INTO company_part") for sql in asked) == 40
        assert not put_records(db, records, "sec", at(2), "d", classify)
        db.set_exec_trace(None)
        assert dump(db) == before
        assert {seen for (seen,) in db.execute("SELECT seen FROM alias WHERE scheme = 'ticker'")} == {ordinal(2)}


@given(
    st.lists(st.tuples(_records, st.integers(0, 6), st.sampled_from("ab")), max_size=9, unique_by=lambda one: (one[0].cik, one[0].part, one[1:])),
    st.data(),
)  # fmt: skip
def test_the_order_in_which_payloads_arrive_does_not_matter(payloads, data):
    other = data.draw(st.permutations(payloads))
    results = []
    for order in (payloads, other):
        db = opened()
        for record, day, sha in order:
            before = dump(db)
            changed = put(db, record, day, sha)
            assert changed or dump(db) == before, "a change was passed over"
        results.append(dump(db))
        assert len({slug for (slug,) in db.execute("SELECT slug FROM company")}) == len(results[-1][0])
        db.close()
    assert results[0] == results[1]


def test_the_directory_finds_companies_when_asked(db):
    """Entities are found by id or slug; companies are not held in memory, so what is found is always what is there."""
    directory = MetadataCache(db, 0)
    assert directory.entity("acme-inc") is None
    put(db, said(7, "facts", "Acme Inc", currency="EUR"))
    found = directory.entity("ACME-inc")
    assert (found.id, found.slug, found.name, found.kind, found.currency) == (
        "company_0000000007",
        "acme-inc",
        "Acme Inc",
        "company",
        "EUR",
    )
    assert directory.entity("Company_0000000007") == found
    assert set(directory.entities) == {"country_usa", "country_oya"}
    assert directory.entity("oyatown").id == "country_oya"
    put(db, said(7, "facts", "Zeta Inc"), day=1)
    assert (directory.entity("acme-inc"), directory.entity("zeta-inc").id) == (None, "company_0000000007")
    # Only countries and regions are countries.
    assert directory.country("zeta-inc") is None


def test_filings(db):
    rows = [
        ("a-1", "10-K", 5, 50),
        ("a-2", "8-K", 6, 60),
        ("a-3", "10-Q", 7, 70),
        ("a-4", "8-K/A", 7, 70),
        ("a-5", "4", 8, 70),
        ("a-6", "SC 13G/A", 8, 71),
    ]
    for accession, form, filed, known in rows:
        db.execute(
            "INSERT INTO filing VALUES('company_0000000007', ?, ?, ?, ?, 1, NULL, NULL, NULL, '[]', 'd.htm', NULL, 'sec', 1)",
            (accession, form, filed, known),
        )
    told = [one.accession for one in filing_rows.newest(db, "company_0000000007", known_by=65, filed_from=1, limit=9)]
    assert told == ["a-2", "a-1"]
    told = [one.accession for one in filing_rows.newest(db, "company_0000000007", known_by=99, filed_from=6, limit=2)]
    assert told == ["a-4", "a-3"]


# What shows that one registrant goes on as another: the new one states the old one's numbers, or has them in its sums.


def day(text):
    return date.fromisoformat(text).toordinal()


def flow(line, start, end, value, known=100):
    return StatedAmount(line, day(start), day(end), value, known)


def instant(line, end, value, known=100):
    return StatedAmount(line, None, day(end), value, known)


OLD = [
    flow("revenues", "2026-01-01", "2026-03-31", 83e9),
    flow("net_income_loss", "2026-01-01", "2026-03-31", 7e9),
    instant("assets", "2025-12-31", 449e9),
]


def test_two_lines_stated_alike_show_it_from_the_later_one_on():
    new = [instant("assets", "2025-12-31", 449e9, 200), flow("revenues", "2026-01-01", "2026-03-31", 83e9, 300)]
    assert shown_since(OLD, new) == 300
    assert shown_since(OLD, new[:1]) is None


def test_a_year_to_date_less_its_last_part_is_stated_too():
    new = [
        flow("revenues", "2026-01-01", "2026-06-30", 168e9, 200),
        flow("revenues", "2026-04-01", "2026-06-30", 85e9, 200),
        flow("net_income_loss", "2026-01-01", "2026-06-30", 14.2e9, 200),
        flow("net_income_loss", "2026-04-01", "2026-06-30", 7.2e9, 200),
    ]
    assert shown_since(OLD, new) == 200


def test_one_line_twice_is_one_line():
    """A ticker used again by a company that happens to have one number alike continues nothing."""
    old = [*OLD, flow("revenues", "2025-01-01", "2025-03-31", 80e9)]
    new = [
        flow("revenues", "2026-01-01", "2026-03-31", 83e9, 200),
        flow("revenues", "2025-01-01", "2025-03-31", 80e9, 200),
    ]
    assert shown_since(old, new) is None


def test_small_numbers_and_numbers_stated_first_by_the_new_one_show_nothing():
    small = [instant("assets", "2025-12-31", 0.0), instant("goodwill", "2025-12-31", 7.0)]
    assert shown_since(small, [one._replace(known=200) for one in small]) is None
    early = [one._replace(known=50) for one in OLD]
    assert shown_since(OLD, early) is None


# -- statements read back: of which periods, and in which order. All of it is invented --------------------------------


ENTITY = "company_0000000001"


def key(kind, frequency, start, end):
    first = None if kind == BALANCE else date.fromisoformat(start).toordinal()
    return Key(kind, frequency, key_of(first, date.fromisoformat(end).toordinal()))


@pytest.fixture
def statement_db():
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


def told(statement_db, kind, frequencies, limit=100):
    found = newest(statement_db, ENTITY, [kind], frequencies, version=1, known_by=9, ends_from=None, limit=limit)
    return [(one.frequency, date.fromordinal(one.period >> 14).isoformat()) for one in found]


@pytest.mark.parametrize("kind", [INCOME, BALANCE])
def test_a_half_year_is_told_where_no_quarter_ends_with_it(statement_db, kind):
    quarters = [("Q", "2022-06-30"), ("Q", "2022-03-31")]
    halves = [("S", "2021-12-31"), ("S", "2021-06-30")]
    assert told(statement_db, kind, ("Q", "S")) == quarters + halves
    assert told(statement_db, kind, FREQUENCIES) == [*quarters, ("A", "2021-12-31"), *halves]
    assert told(statement_db, kind, ("Q", "S"), limit=3) == [*quarters, halves[0]]
    assert told(statement_db, kind, ("A",)) == [("A", "2021-12-31")]


def test_the_same_body_packed_to_other_bytes_is_no_change(statement_db):
    """Another version of the packer may pack a body otherwise."""
    statement_db.execute("DELETE FROM statement")
    one = key(INCOME, "Q", "2022-01-01", "2022-03-31")
    other = key(BALANCE, "Q", "2022-01-01", "2022-03-31")
    body, less = b'{"items":{"revenue":1}}', pack(b"{}")
    plain = zstandard.ZstdCompressor(write_checksum=True).compress(body)
    assert plain != pack(body)
    assert replace(statement_db, 1, ENTITY, {one: [(1, pack(body))], other: [(1, less)]}) == [one, other]
    assert replace(statement_db, 2, ENTITY, {one: [(1, plain)], other: [(1, less)]}) == []
    assert set(replace(statement_db, 2, ENTITY, {one: [(1, plain), (2, less)]})) == {one, other}
    stored = "SELECT kind, known_at, from_version, to_version, body FROM statement ORDER BY kind, known_at"
    assert list(statement_db.execute(stored)) == [
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


def test_a_company_that_loses_its_ticker_to_a_newer_list_of_another_is_a_change(db):
    """The other says nothing new but the time of its list."""
    put(db, said(1, "submissions", tickers=["A"]), day=2)
    put(db, said(2, "submissions", "Zeta", ["C", "A"]), day=2)
    assert by_id(db, company_id(1)).ticker == "A"
    assert put(db, said(2, "submissions", "Zeta", ["C", "A"]), day=3)
    assert by_id(db, company_id(1)).ticker is None


def test_a_ticker_of_an_older_list_is_contested_by_all_who_claim_it():
    """The older list names `A` of a company that shares `B` alone with the first: who else claims `A` counts too."""
    lists = [(1, ["A", "B"], 0, "b"), (2, ["B"], 0, "b"), (3, ["A"], 1, "a"), (2, ["A"], 0, "a")]
    results = []
    for order in (lists, lists[::-1]):
        with closing(opened()) as db:
            for cik, tickers, day, sha in order:
                put(db, said(cik, tickers=tickers), day, sha)
            results.append(dump(db))
            mains = dict(db.execute("SELECT cik, ticker FROM company"))
            assert mains == {1: "B", 2: "B", 3: "A"}
    assert results[0] == results[1]


def test_filings_and_companies_that_a_payload_changes_come_in_its_order(db):
    filed = [(company_id(cik), Filing(f"{cik:010d}-26-000001", "10-K", ordinal(40))) for cik in range(1, 10)]
    exact = [(entity, filing._replace(known_at=at(40))) for entity, filing in filed]
    filing_rows.enter(db, filed, "sec", 1)
    changed, former = filing_rows.enter(db, exact, "sec", 2)
    assert [entity for entity, _ in changed] == [entity for entity, _ in former] == [entity for entity, _ in filed]


def test_what_a_filing_states_first_stays_even_if_it_is_zero(db):
    entity, filing = company_id(7), Filing("0000000007-26-000001", "10-K", ordinal(40), at(40), fiscal_year=0)
    filing_rows.enter(db, [(entity, filing)], "sec", 1)
    assert filing_rows.enter(db, [(entity, filing._replace(fiscal_year=None))], "sec", 2) == ({}, {})
    assert filing_rows.of(db, entity) == {filing.accession: filing}


@pytest.mark.parametrize("rounded", ["2009-06-30", "2009-07-31"])
def test_the_day_of_a_report_is_the_one_that_no_data_set_rounded_whichever_comes_first(db, rounded):
    exact, other = (
        Filing("0000000007-09-000001", "10-Q", day("2009-08-01"), at(40), day(text)) for text in ("2009-07-03", rounded)
    )
    for cik, filed in (7, (exact, other)), (8, (other, exact)):
        for number, filing in enumerate(filed):
            filing_rows.enter(db, [(company_id(cik), filing)], "sec", number)
        assert filing_rows.of(db, company_id(cik)) == {exact.accession: exact}
