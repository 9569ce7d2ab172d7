"""No number of a filing leaves by any path about companies, once the source of filings may not be passed on."""

import msgspec
import pytest

from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.workplace import Workplace
from almanac.store.engine import sqlite
from tests.support.filed_company import ENTITY, FACTS_URL, INDEX_URL, facts, index
from tests.support.service import Service, make_accounts, settings

NOW = "2024-06-15T12:00:00Z"
WHY = "An invented reason."
SECTOR = "sector:eq:Industrials"
COMPANY = f"/companies/{ENTITY}"
#: Paths that tell of companies' numbers; each tells some while the source is open.
ASKED = [
    (f"{COMPANY}/financials", {"limit": "100"}),
    (f"{COMPANY}/financials", {"as_of": "2024-03-01"}),
    (f"{COMPANY}/profile", {}),
    ("/companies", {"sort": "score", "order": "desc"}),
    ("/equity-screener", {"filter": SECTOR, "sort": "revenue_ttm"}),
    ("/equity-screener", {"filter": f"{SECTOR},net_margin:gt:-1e9"}),
    ("/equity-screener", {"filter": SECTOR, "sort": "total_assets", "as_of": "2024-03-01"}),
    ("/equity-screener/filters", {}),
    ("/observations", {"entity": ENTITY, "limit": "500"}),
    ("/observations/latest", {"entity": ENTITY, "limit": "500"}),
    ("/observations/vintages", {"entity": ENTITY, "limit": "500"}),
    ("/derived-observations", {"entity": ENTITY, "limit": "500"}),
]
#: Numbers that are no values: of the calendar, and how much there is of something.
PLAIN = {"fiscalYear", "calendarYear", "calendarQuarter", "scoreCoverage", "entityCount"}


@pytest.fixture
def own(tmp_path):
    chosen = settings(tmp_path / "home", NOW=NOW)
    with Workplace(chosen) as world:
        run = Ingest(world, world.catalog.sources["sec"], lambda _: None)
        outcome = run.run(
            [Arrival(url, body, "application/json", None) for url, body in ((INDEX_URL, index()), (FACTS_URL, facts()))]
        )
        assert (outcome.folded, outcome.quarantined, outcome.failed) == (2, {}, {})
    make_accounts(chosen)
    opened = Service(chosen.home, {"NOW": NOW})
    yield opened
    opened.close()


def shut(own):
    """The source of filings, restricted: nothing of it and nothing made of it may be passed on."""
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        told = msgspec.json.decode(world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = 'sec'").get)
        told["rights"] |= {"exposure": 2, "reason": WHY, "derivativesAllowed": False}
        world.db.execute(
            "UPDATE record SET body = ? WHERE kind = 'source' AND id = 'sec'", (msgspec.json.encode(told).decode(),)
        )
        sqlite.set_meta(world.db, "reference", str(batch.version))


def values(told, name=""):
    """Every number in an answer that may be a value, and every text that says why there is none."""
    if isinstance(told, dict):
        for key, one in told.items():
            yield from values(one, key)
    elif isinstance(told, list):
        for one in told:
            yield from values(one, name)
    elif isinstance(told, (int, float)) and not isinstance(told, bool) and name not in PLAIN:
        yield name, told


def test_no_number_of_a_filing_is_told(own):
    for path, query in ASKED:
        answer = own.get(path, **query)
        assert list(values(answer.json()["data"])) != []
        assert WHY not in answer.text
    shut(own)
    for path, query in ASKED:
        answer = own.get(path, **query)
        assert list(values(answer.json()["data"])) == [], path
        # 470 of revenue, restated income of 44, total assets of 1,000: in no text either, such as what a check says.
        assert not {"470", "1,000", "44"} & set(answer.text.replace(":", " ").replace('"', " ").split()), path


def test_a_screen_does_not_tell_by_order_or_count(own):
    screen = "/equity-screener"
    assert own.get(screen, filter="net_margin:gt:0").json()["meta"]["pagination"]["total"] == 1
    shut(own)
    for operator in ("gt:-1e300", "lt:1e300"):
        assert own.get(screen, filter=f"net_margin:{operator}").json()["meta"]["pagination"]["total"] == 0
    (row,) = own.ok(screen, filter=SECTOR, sort="revenue_ttm")
    assert row["values"] == {"sector": "Industrials"}


def test_provenance_tells_no_number(own):
    (row, *_) = own.ok("/derived-observations", entity=ENTITY, indicator="net_income", frequency="A")
    path = f"/observations/{row['id']}/provenance"
    assert own.ok(path)["verified"] is True
    (raw, *_) = own.ok("/observations", entity=ENTITY, indicator="us_gaap_net_income_loss")
    shut(own)
    rows = own.ok("/derived-observations", entity=ENTITY, indicator="net_income", frequency="A")
    for one in (*rows, *own.ok("/observations", entity=ENTITY, indicator="us_gaap_net_income_loss")):
        found = own.ok(f"/observations/{one['id']}/provenance")
        assert list(values({key: found[key] for key in ("observation", "vintages", "inputs", "payload")})) == []
        assert found["verified"] is None
    # A withheld row has an id that says nothing of its value.
    assert own.get(path).status_code == 404 or list(values(own.ok(path)["observation"])) == []
    assert raw["valueNumeric"] is not None


def test_facts_want_the_scope_of_companies(own):
    """Raw series and rows of companies, for a key that reads `macro:read` alone: left out, and it is said so."""
    said = [{"parameter": "scope", "value": "companies:read", "suggestion": None,
             "reason": "rows of companies are left out: the key may not read them"}]  # fmt: skip
    fact = "us_gaap_net_income_loss"
    for path, query in ((f"/indicators/{fact}/series", {}), ("/observations", {"indicator": fact})):
        assert own.walk(path, **query)
        found = own.get(path, "macro:read", None, **query).json()
        assert (found["data"], found["meta"]["warnings"]) == ([], said)
        found = own.get(path, "macro:read", None, country="USA", **query).json()
        # Not that rows were left out: there are none of a country.
        assert (found["data"], said[0] in found["meta"].get("warnings", [])) == ([], False)
