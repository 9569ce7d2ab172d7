"""Names over the regulator's own lists of companies and the catalogue's countries: hard cases, each answered right or honestly open."""

import gzip
from datetime import date
from functools import cache
from urllib.parse import quote

import pytest

from almanac.catalog.sectors import classify
from almanac.domain.companies import company_id
from almanac.domain.periods import Period
from almanac.pipeline.context import PipelineContext
from almanac.sources.base import Payload
from almanac.sources.feeds.sec.connector import CONNECTOR
from almanac.store.companies.merging import mark_reports, put_records
from almanac.store.companies.statements import pack
from almanac.store.engine.sqlite import OPEN
from tests.support.service import Service, make_accounts, settings

from .files import FOLDER, REAL, mirror

pytestmark = REAL

#: The mirror does not say when these were fetched.
FETCHED = 1_782_000_000
#: The period of the one statement that each filer is given here.
YEAR = Period(date(2025, 1, 1), date(2025, 12, 31)).key
NOTHING = object()
#: What is asked, with further parameters → the CIK or the country meant; a list: nothing is chosen, the first candidates;
#: NOTHING: 404. The last is the name it was found by, where that is telling.
CASES = [
    # Tickers, in any letters, with any sign before the class; share classes lead to one company.
    ("AAPL", {}, 320193, "AAPL"), ("aapl", {}, 320193, "AAPL"), ("BRK.B", {}, 1067983, "BRK-B"), ("BRK-A", {}, 1067983, "BRK-A"),
    ("brk/b", {}, 1067983, "BRK-B"), ("BRK B", {}, 1067983, "BRK-B"), ("GOOG", {}, 1652044, "GOOG"), ("GOOGL", {}, 1652044, "GOOGL"),
    ("UAA", {}, 1336917, "UAA"), ("T", {}, 732717, "T"), ("V", {}, 1403161, "V"), ("FNMAS", {}, 310522, "FNMAS"), ("TSMWF", {}, 1046179, "TSMWF"),
    # A ticker that is also a code of a country: open, unless the type or scheme says which.
    ("UA", {}, ["country_ukr", 1336917], None), ("UA", {"type": "company"}, 1336917, "UA"), ("UA", {"scheme": "iso2"}, "country_ukr", "UA"),
    ("DE", {}, ["country_deu", 315189], None), ("GE", {}, ["country_geo", 40545], None), ("USA", {}, ["country_usa", 799195], None),
    ("USA", {"type": "country"}, "country_usa", "USA"), ("ARM", {}, ["country_arm", 1973239], None),
    # Words that are tickers too.
    ("Gap", {}, 39911, "GAP"), ("Snap", {}, 1564408, "SNAP"), ("Toro", {}, [1941131, 737758], None), ("TORO", {}, 1941131, "TORO"),
    ("Toro Co", {}, 737758, "TORO CO"), ("Ford", {}, [37996], None), ("HP", {}, 46765, "HP"), ("HP Inc", {}, 47217, "HP INC"), ("coke", {}, 317540, "COKE"),
    # Names: case, accents, punctuation, legal form, `&`, the mark of a state.
    ("Apple", {}, 320193, "Apple Inc."), ("apple inc", {}, 320193, "Apple Inc."), ("McDonald's", {}, 63908, "MCDONALDS CORP"),
    ("AT and T", {}, 732717, "AT&T INC."), ("Johnson and Johnson", {}, 200406, "JOHNSON & JOHNSON"), ("Coca-Cola Company", {}, 21344, "COCA COLA CO"),
    ("Bank of America", {}, 70858, "BANK OF AMERICA CORP /DE/"), ("The Walt Disney Company", {}, 1744489, "Walt Disney Co"),
    ("amazon.com", {}, 1018724, "AMAZON COM INC"), ("Mattel", {}, 63276, "MATTEL INC /DE/"), ("Home Depot Inc", {}, 354950, "HOME DEPOT, INC."),
    # Former names, as far as the index has them; the delisted.
    ("Apple Computer Inc", {}, 320193, "APPLE COMPUTER INC"), ("Tesla Motors", {}, 1318605, "TESLA MOTORS INC"),
    ("Wal-Mart Stores", {}, 104169, "WAL MART STORES INC"), ("Minnesota Mining & Manufacturing", {}, 66740, "MINNESOTA MINING & MANUFACTURING CO"),
    ("Schering Plough", {"as_of": "2005-06-30"}, 310158, "SCHERING PLOUGH CORP"), ("Biovail", {}, 885590, "BIOVAIL Corp"),
    ("Nikola", {}, 1731289, "Nikola Corp"), ("VectoIQ Acquisition Corp.", {}, 1731289, "VectoIQ Acquisition Corp."),
    # What the data do not say is not made up.
    ("Facebook", {}, NOTHING, None), ("Google", {}, NOTHING, None), ("Twitter", {}, NOTHING, None), ("Redfin", {}, NOTHING, None),
    # A retired ticker that no list here has: names like it are told, none is taken for it.
    ("NKLA", {}, [319201, 1731289], None), ("SAVE", {}, [1841408], None), ("TSMC", {}, NOTHING, None), ("AAPK", {}, NOTHING, None),
    # Identifiers.
    ("320193", {}, 320193, "0000320193"), ("0000320193", {}, 320193, "0000320193"), ("CIK0000320193", {}, 320193, "0000320193"),
    ("company_0000320193", {}, 320193, "company_0000320193"), ("apple-inc", {}, 320193, "apple-inc"), ("9999999999", {}, NOTHING, None),
    # One name, several companies.
    ("Rio Tinto", {}, [887028, 863064], None), ("First Bancorp", {}, [811589, 1057706, 765207], None),
    ("Independent Bank Corp", {}, 776901, "INDEPENDENT BANK CORP"), ("Johnson", {}, [200406], None),
    # Misspelt.
    ("Aple Inc", {}, 320193, "Apple Inc."), ("Microsft", {}, 789019, "MICROSOFT CORP"), ("Proctor and Gamble", {}, 80424, "PROCTER & GAMBLE Co"),
    ("ExxonMobil", {}, 34088, "EXXON MOBIL CORP"), ("under armor", {}, 1336917, "Under Armour, Inc."), ("J.P. Morgan Chase", {}, 19617, "JPMORGAN CHASE & CO"),
    ("D.R. Horton", {}, 882184, "HORTON D R INC /DE/"), ("Nvida", {}, [1045810], None), ("Disney", {}, [1744489], None),
    # Countries and regions.
    ("US", {}, "country_usa", "US"), ("United States", {}, "country_usa", "United States"), ("Untied States", {}, "country_usa", "United States"),
    ("Euro area", {}, "region_euro_area", "Euro area"), ("EUR", {}, "region_euro_area", "EUR"), ("Turkey", {}, "country_tur", "Turkey"),
    ("Cote d'Ivoire", {}, "country_civ", "Cote d'Ivoire"), ("840", {}, "country_usa", "840"), ("KOR", {}, "country_kor", "KOR"),
    ("South Korea", {}, "country_kor", "South Korea"), ("Korea", {"type": "country"}, ["country_kor", "country_prk"], None),
    ("Congo", {"type": "country"}, ["country_cog", "country_cod"], None), ("Georgia", {}, "country_geo", "Georgia"), ("Guinea", {}, "country_gin", "Guinea"),
]  # fmt: skip


@cache
def records():
    """What the lists of tickers and the submissions say of companies, and in which file."""
    found = []
    for row in mirror():
        if row["file"].startswith(("sec/submissions/", "sec/reference/company_tickers")):
            content = (FOLDER / row["file"]).read_bytes()
            if row["file"].endswith(".gz"):
                content = gzip.decompress(content)
            parsed = CONNECTOR.parse(Payload(row["url"], content, FETCHED, row["media_type"]), None, {})
            found += [(record, row["file"]) for record in parsed.companies]
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    home = tmp_path_factory.mktemp("names") / "home"
    chosen = settings(home)
    with PipelineContext(chosen) as world, world.batch("companies") as batch:
        batch.touch()
        for record, file in records():
            put_records(world.db, [record], "sec", FETCHED, file, classify)
        # Those whose submissions are here count as filers: which of two namesakes is meant depends on it.
        for entity in {record.entity for record, _ in records() if record.part == "submissions"}:
            world.db.execute(
                "INSERT INTO statement VALUES(?, 0, 'A', ?, 1, 1, ?, ?)", (entity, YEAR, OPEN, pack(b"{}"))
            )
            mark_reports(world.db, entity)
    make_accounts(chosen)
    one = Service(home)
    yield one
    one.close()


def entity(expected):
    return company_id(expected) if isinstance(expected, int) else expected


def test_the_table_is_as_long_as_promised():
    assert len(CASES) >= 60
    assert len(records()) > 8_000


@pytest.mark.parametrize(
    ("text", "more", "expected", "alias"), CASES, ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_hard_cases(service, text, more, expected, alias):
    answer = service.get("/entities/resolve", "pro", None, alias=text, **more)
    if expected is NOTHING:
        assert answer.status_code == 404
        return
    told = answer.json()["data"]
    if isinstance(expected, list):
        assert told["entityId"] is None
        assert told["matchedAlias"] is None
        assert [one["entityId"] for one in told["candidates"]][: len(expected)] == [entity(one) for one in expected]
    else:
        assert (told["entityId"], told["matchedAlias"]) == (entity(expected), alias)
        assert told["candidates"][0]["entityId"] == told["entityId"]


def test_what_resolves_exactly_works_in_every_path(service):
    """Of the hard cases, each that is found exactly and alone works in a path, and none that is found by likeness or not at all."""
    by_type = {"company": "/companies/{}/profile", "country": "/countries/{}", "region": "/countries/{}"}
    tried = {True: 0, False: 0}
    for text, more, _, _ in CASES:
        if more:
            continue
        answer = service.get("/entities/resolve", "pro", None, alias=text)
        told = answer.json().get("data", {"match": None, "entityId": None})
        exact = (told["match"], told["entityId"] is not None) == ("exact", True)
        tried[exact] += 1
        found = service.get(f"/entities/{quote(text, safe='')}/aliases")
        assert found.status_code == (200 if exact else 404), text
        if exact:
            assert {row["entityId"] for row in found.json()["data"]} == {told["entityId"]}
            if "/" not in text:  # a stroke in a path parts it
                data = service.ok(by_type[told["type"]].format(quote(text, safe="")))
                assert told["entityId"] in (data.get("entityId"), data.get("id")), text
    assert min(tried.values()) > 20


def test_every_ticker_and_name_of_the_list_leads_to_its_company(service):
    """Each of 10,433 tickers is found; each title too, or several that share it are told."""
    with service.reader.view() as view:
        from almanac.store.companies.rows import by_lookup

        listed = {
            (record.entity, one.ticker)
            for record, _ in records()
            if record.part == "tickers"
            for one in record.listings
        }
        assert len(listed) == 10_433
        wrong = [
            (who, ticker) for who, ticker in listed if (found := by_lookup(view, ticker)) is None or found.entity != who
        ]
    assert wrong == []
