"""Companies: the scored list, the profile of one, its statements."""

import math
from datetime import date

import msgspec
import pytest

from almanac.api.endpoints.companies.companies import ALTMAN, PIOTROSKI
from almanac.api.endpoints.companies.records import CompanySchema, Financials, Profile
from almanac.domain.companies import CompanyRecord, Listing, company_id
from almanac.domain.names import folded
from almanac.domain.observations import FAILED, WARNED
from almanac.domain.periods import add_months
from almanac.domain.times import wire_day
from almanac.reports.scoring import MODEL, MONTHS, PILLARS
from almanac.store.companies.merging import mark_reports, put_records
from almanac.store.engine import opening
from almanac.store.engine.data_schema import set_meta
from almanac.store.observations.writing.batch import Batch
from tests.support.invented_mirror import FREE_FROM, NOW
from tests.support.service import Service, settings

from . import invented_companies
from .filed import ACCESSIONS, ACME, AMENDED, BOLT, EARLIER, KNOWN, QUARTER, YEAR, statements, wire, write

ACME_ID, BOLT_ID = company_id(ACME), company_id(BOLT)
FINANCIALS = "/companies/{}/financials"
PROFILE = "/companies/{}/profile"
KINDS = ("incomeStatements", "balanceSheets", "cashFlowStatements")
LOOKUPS = (
    ACME_ID,
    "ACW",
    "acw",
    "ACW-B",
    "acw.b",
    "5001",
    "0000005001",
    "5493006MHB84DD0ZWV18",
    "acme-widgets-inc",
    "Acme-Widgets-Inc",
)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Sixty invented companies with readings of the measures, and what the regulator's index says of each."""
    home = tmp_path_factory.mktemp("companies") / "home"
    made = _listed(home, 60)
    one = Service(home)
    # Those that never reported are in no list.
    yield one, [company for company in made if company.quarters]
    one.close()


def _listed(home, count):
    """So many invented companies in a new home, with what the index says of each."""
    made = invented_companies.companies(count)
    invented_companies.build(home, made)
    db = opening.create(settings(home).home / "data.db")
    with Batch(db, 1, "payload") as batch:
        batch.touch()
        for company in made:
            listings = () if company.ticker is None else (Listing(company.ticker, "NYSE"),)
            record = CompanyRecord(
                cik=company.cik, part="submissions", name=company.name, sic=f"{company.sector}|{company.industry or ''}", listings=listings,
                country=company.country and "US", currency=company.currency, fiscal_year_end="1231",
            )  # fmt: skip
            put_records(db, [record], "sec", 1_780_000_000, "0", _classify)
            mark_reports(db, record.entity)
    db.close()
    return made


def _classify(sic):
    sector, _, industry = sic.partition("|")
    return sector, industry or None, "industrial"


def test_a_walk_knows_no_company_that_came_after_its_first_page(own):
    """A cursor pins the data: a company that reports for the first time between two pages is on none of them."""
    first = own.get("/companies", limit=1).json()
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        record = CompanyRecord(cik=5009, part="submissions", name="Zeta Newcomers Inc.", sic="7372")
        put_records(world.db, [record], "sec", 1_790_000_000, "0", _classify)
        write(world.db, batch.version, record.entity, statements())
        mark_reports(world.db, record.entity)
    following = own.get("/companies", limit=500, cursor=first["meta"]["pagination"]["next_cursor"]).json()
    assert [row["entityId"] for row in (*first["data"], *following["data"])] == [ACME_ID, BOLT_ID]
    assert [row["entityId"] for row in own.walk("/companies")] == [ACME_ID, BOLT_ID, "company_0000005009"]


def test_scored_companies(service):
    """GET /companies returns scored companies: those that have statements, by name, then id."""
    rows = service.walk("/companies", limit=1)
    assert [row["entityId"] for row in rows] == [ACME_ID, BOLT_ID]
    assert rows[0] == {
        "entityId": ACME_ID, "name": "Acme Widgets Inc.", "ticker": "ACW", "cik": "0000005001", "exchange": "Nasdaq", "country": "country_usa",
        "sector": "Technology", "industry": "Electronic Computers", "fiscalYearEnd": "09-30", "lastPeriodEnd": "2026-09-30T00:00:00Z",
        "score": None, "scores": dict.fromkeys(("profitability", "growth", "strength", "efficiency", "quality")), "piotroskiF": None,
        "altmanZ2": None, "scoreCoverage": 0, "scoreModel": MODEL,
    }  # fmt: skip
    assert (rows[1]["ticker"], rows[1]["exchange"], rows[1]["country"], rows[1]["lastPeriodEnd"]) == (
        "BOLT",
        None,
        "country_jpn",
        "2025-12-31T00:00:00Z",
    )


def test_filters_and_sorts_of_companies(many):
    """Filters: `sector`, `industry`, `country`, `q`; sort `name`, `ticker` and each score and pillar; nulls last either way."""
    service, made = many
    every = service.walk("/companies", limit=500)
    assert [(row["name"], row["entityId"]) for row in every] == sorted((one.name, one.entity) for one in made)
    for query, keep in (
        ({"sector": "technology"}, lambda r: r["sector"] == "Technology"), ({"sector": "ÉNERGIE"}, lambda r: r["sector"] == "Énergie"),
        ({"sector": "Tech"}, lambda r: False), ({"industry": "software"}, lambda r: r["industry"] == "Software"),
        ({"industry": "State Commercial Banks", "sector": "Technology"}, lambda r: False),
        ({"country": "USA"}, lambda r: r["country"] == "country_usa"), ({"country": "nowhere"}, lambda r: False),
        ({"q": "ACME"}, lambda r: r["name"].lower().startswith("acme")), ({"q": "eclair"}, lambda r: r["name"].startswith("Éclair")),
        ({"q": "acme 1"}, lambda r: r["name"].lower().startswith("acme") and "1" in f"{r['name'][4:]} {r['ticker']}"), ({"q": "?!"}, lambda r: False),
        ({"q": "b7"}, lambda r: "b7" in (r["ticker"] or "").lower()),
    ):  # fmt: skip
        rows = service.walk("/companies", limit=7, **query)
        assert rows == [row for row in every if keep(row)], query
    for sort, key in (
        ("ticker", lambda r: r["ticker"]),
        ("score", lambda r: r["score"]),
        ("name", lambda r: r["name"]),
        *((pillar, lambda r, pillar=pillar: r["scores"][pillar]) for pillar in PILLARS),
        (PIOTROSKI, lambda r: r["piotroskiF"]),
        (ALTMAN, lambda r: r["altmanZ2"]),
    ):
        for order in ("asc", "desc"):
            rows = service.walk("/companies", limit=7, sort=sort, order=order)
            there, none = [r for r in rows if key(r) is not None], [r for r in rows if key(r) is None]
            assert len(there) > 3 or sort == ALTMAN, sort  # the invented companies have no Altman Z
            assert rows == there + none
            expected = sorted(there, key=lambda r: (key(r), r["name"], r["entityId"]), reverse=order == "desc")
            assert there == expected
            assert sorted(r["entityId"] for r in rows) == sorted(r["entityId"] for r in every)
    assert service.error("/companies", 400, sort="revenue")["details"]["allowed"] == [
        "name", "ticker", "score", *PILLARS, PIOTROSKI, ALTMAN,
    ]  # fmt: skip


def test_words_are_looked_for_in_every_name_and_ticker(many):
    """`q`: the companies in whose folded name or ticker each word is, wherever in it; of one letter or of many."""
    service, _ = many
    every = service.walk("/companies", limit=500)
    texts = [f"{folded(row['name'])} {(row['ticker'] or '').lower()}" for row in every]
    pieces = {text[at : at + size] for text in texts for at in range(0, len(text), 5) for size in (1, 2, 3, 9, 40)}
    asked = [*sorted(pieces), *(text.upper() for text in texts[:5]), "é a", "zzzz", "z", "1 2", "a a", "acme acme"]
    found = {}
    for q in asked:
        words = folded(q).split()
        found[q] = [
            row for row, text in zip(every, texts, strict=True) if words and all(word in text for word in words)
        ]
        assert service.get("/companies", limit=500, q=q).json()["data"] == found[q], q
    counts = {len(rows) for rows in found.values()}
    assert counts >= {0, 1}
    assert max(counts) > len(every) / 2
    assert len(found) > 150


def test_columns_that_are_remembered_say_what_is_read_anew(tmp_path):
    """A service that answered others before, of other plans and of an older state, gives what one that just began gives."""
    home = tmp_path / "home"
    made = _listed(home, 24)
    # A plan that reaches less far than the eighteen months of a figure of today.
    short = {"PLANS__FREE__HISTORY_MONTHS": "6"}
    asked = [
        *(f"/companies/{one.entity}/profile" for one in made[:6]), "/companies?limit=50&sort=piotroski_f",
        "/companies?limit=50&country=USA", "/equity-screener?filter=revenue_ttm:gt:0&sort=net_margin",
        "/equity-screener?filter=revenue_ttm:gt:0,currency:in:EUR|USD", "/equity-screener?filter=net_margin:lt:1",
        "/equity-screener?filter=net_margin:lt:1&as_of=2026-02-01",
    ]  # fmt: skip

    def told(service, *plans):
        answers = {(path, plan): service.get(path, plan) for plan in plans for path in asked}
        return {key: (one.status_code, one.json().get("data")) for key, one in answers.items()}

    def told_by_others():
        found = {}
        for plan in ("pro", "free"):
            other = Service(home, short)
            found |= told(other, plan)
            other.close()
        return found

    one = Service(home, short)
    try:
        first = told(one, "pro", "free")
        assert first == told(one, "free", "pro") == told_by_others()
        # Of the plan that reaches six months, one request alone is refused: that of a day before them.
        assert [status for status, _ in first.values()].count(200) == len(first) - 1
        db = opening.create(settings(home).home / "data.db")
        with Batch(db, 1, "payload") as batch:
            batch.touch()
            db.execute("UPDATE company SET name = 'A ' || name WHERE cik % 3 = 0")
        db.close()
        second = told(one, "pro", "free")
        assert second != first
        assert second == told(one, "free", "pro") == told_by_others()
    finally:
        one.close()


def test_scores(many):
    """`score` and every percentile among companies are computed at read time: the same as the equity screener's."""
    service, made = many
    rows = {row["entityId"]: row for row in service.walk("/companies", limit=500)}
    screened = service.walk("/equity-screener", filter="score:gte:0", limit=200)
    told = {row["entityId"]: row["values"]["score"] for row in screened}
    assert told == {entity: row["score"] for entity, row in rows.items() if row["score"] is not None}
    assert 10 < len(told) < len(rows)
    tests = {
        row["entityId"]: row["values"]["piotroski_f"]
        for row in service.walk("/equity-screener", filter="piotroski_f:gte:0", limit=200)
    }
    stale = {one.entity for one in made if (one.quarters[-1].end.year, one.quarters[-1].end.month) < (2025, 6)}
    assert tests == {
        entity: row["piotroskiF"]
        for entity, row in rows.items()
        if row["piotroskiF"] is not None and entity not in stale
    }
    for row in rows.values():
        msgspec.json.decode(msgspec.json.encode(row), type=CompanySchema, strict=True)
        pillars = [value for value in row["scores"].values() if value is not None]
        assert 0 <= row["scoreCoverage"] < 1
        if row["score"] is not None:
            assert math.isclose(row["score"], sum(pillars) / len(pillars), abs_tol=0.11)
            assert len(pillars) >= 3
        if row["entityId"] in stale:
            assert (row["score"], pillars, row["scoreCoverage"]) == (None, [], 0)
            # The statement is old, and still the last one there is.
            assert row["lastPeriodEnd"] is not None


def test_a_withheld_measure_takes_no_part_in_scores(many):
    """Withheld values take no part in totals, ranks, percentiles, scores."""
    service, made = many
    rows = {row["entityId"]: row for row in service.walk("/companies", limit=500)}
    shut = {
        one.entity
        for one in made
        if one.shut and set(one.values) & {"net_margin", "return_on_assets"} == {"net_margin"}
    }
    assert shut
    for entity in shut:
        assert rows[entity]["scores"]["profitability"] is None


def test_the_window_of_a_plan(many):
    """Statements and readings that end before the plan's window take no part."""
    service, _ = many
    free = {row["entityId"]: row for row in service.walk("/companies", "free", limit=500)}
    full = {row["entityId"]: row for row in service.walk("/companies", limit=500)}
    assert set(free) == set(full)
    for entity, row in full.items():
        reached = row["lastPeriodEnd"][:10] >= FREE_FROM
        assert free[entity]["lastPeriodEnd"] == (row["lastPeriodEnd"] if reached else None)
    assert service.get("/companies", "free").headers["x-history-from"] == FREE_FROM


@pytest.mark.parametrize("name", LOOKUPS)
def test_look_ups(service, name):
    """idOrLookup: entity id, ticker (today's), CIK padded or not, LEI, slug; case-insensitive."""
    assert service.ok(PROFILE.format(name))["entityId"] == service.ok(FINANCIALS.format(name))["entityId"] == ACME_ID


@pytest.mark.parametrize("path", [PROFILE, FINANCIALS])
@pytest.mark.parametrize("name", ["ZZZ", "9", "company_0000009999", "acme", "Acme Widget Inc.", "country_usa", "JPN"])
def test_an_unknown_company(service, path, name):
    """Unknown → 404. What is merely like a name, and a country, are none of them."""
    error = service.error(path.format(name), 404)
    assert (error["code"], error["details"]["parameter"]) == ("not_found", "idOrLookup")
    assert "/entities/resolve" in error["message"]


def test_profile(service):
    """Returns a company profile: the company row and who it is, what it filed, its figures, its scores, its peers."""
    told = service.ok(PROFILE.format("ACW"))
    msgspec.json.decode(msgspec.json.encode(told), type=Profile, strict=True)
    (row,) = [row for row in service.walk("/companies") if row["entityId"] == ACME_ID]
    assert {key: told[key] for key in row} == row
    assert {key: told[key] for key in set(told) - set(row) - {"latestFilings"}} == {
        "legalName": "Acme Widgets Inc.", "tickers": ["ACW", "ACW-B"], "sic": "3571", "sicDescription": "Electronic Computers",
        "lei": "5493006MHB84DD0ZWV18", "stateOfIncorporation": "CA", "website": "https://acme.example",
        "formerNames": [{"name": "ACME GADGETS CORP", "from": "2001-02-03T00:00:00Z", "to": "2015-06-30T00:00:00Z"}],
        "keyFigures": dict.fromkeys(
            ("revenue", "netIncome", "operatingCashFlow", "freeCashFlow", "grossMargin", "operatingMargin", "netMargin", "fcfMargin")
        ),
        "predecessorOf": None, "successorOf": None, "scoreDetail": {}, "peers": [],
        "scorePeers": {"sector": 1, "all": 2, "measures": 0, "measuresWithinSector": 0},
    }  # fmt: skip
    assert [(f["form"], f["filedAt"], f["periodEnd"]) for f in told["latestFilings"]] == [
        ("8-K", "2026-11-19T00:00:00Z", None), ("10-Q", "2026-10-30T00:00:00Z", "2026-09-30T00:00:00Z"),
        ("10-K", "2026-02-20T00:00:00Z", "2025-12-31T00:00:00Z"), ("10-Q", "2023-11-02T00:00:00Z", "2023-09-30T00:00:00Z"),
    ]  # fmt: skip
    assert told["latestFilings"][1]["url"] == "https://www.sec.gov/Archives/edgar/data/5001/000000500126000003/main.htm"
    assert len(service.ok(PROFILE.format("ACW"), "free")["latestFilings"]) == 3
    assert service.error(PROFILE.format("ACW"), 400, as_of="2026-01-01")["details"]["reason"] == "unknown"


def test_a_company_known_by_name_only(service):
    """A company without statements has a profile and no rows in the list."""
    told = service.ok(PROFILE.format("ZNT"))
    assert (told["name"], told["score"], told["scoreCoverage"], told["lastPeriodEnd"], told["latestFilings"]) == (
        "ZENITH LIMITED",
        None,
        0,
        None,
        [],
    )
    statements = service.ok(FINANCIALS.format("ZNT"))
    assert statements == {
        "entityId": told["entityId"], "ticker": "ZNT", "cik": "0000005004", "currency": None, "asOf": None, "predecessorOf": None, "successorOf": None,
        **{kind: [] for kind in KINDS},
    }  # fmt: skip


def test_key_figures_and_peers(many):
    """keyFigures (ttm) each with value, unit, periodEnd, observedAt; peers ≤ 8 of the same industry, nearest by revenue."""
    service, made = many
    readings = {
        slug: {row["entityId"]: row for row in service.walk("/observations/latest", indicator=slug, limit=500)}
        for slug in ("revenue_ttm", "net_margin")
    }
    told_of = {one["metadata"].get("quality", "ok") for rows in readings.values() for one in rows.values()}
    assert told_of == {"ok", "warning", "failed"}
    figures = older = 0
    rows = {row["entityId"]: row for row in service.walk("/companies", limit=500)}
    since = wire_day(add_months(date.fromisoformat(NOW[:10]), -MONTHS))
    for company in made:
        told = service.ok(PROFILE.format(company.entity))
        for name, slug in (("revenue", "revenue_ttm"), ("netMargin", "net_margin")):
            row = readings[slug].get(company.entity)
            expected = row and {
                "value": row["valueNumeric"], "unit": row["unit"], "currency": row["metadata"].get("currency"), "periodEnd": row["periodEnd"], "observedAt": row["observedAt"],
                "quality": row["metadata"].get("quality", "ok"),
            }  # fmt: skip
            if expected and expected["quality"] == "failed":
                expected["value"] = None
            assert told["keyFigures"][name] == expected
            figures += row is not None
        assert told["keyFigures"]["freeCashFlow"] is None
        peers = told["peers"]
        assert len(peers) <= 8
        by_id = {one.entity: one for one in made}
        assert all(by_id[peer["entityId"]].industry == company.industry != None for peer in peers)  # noqa: E711  (one link of a chain)
        assert company.entity not in {peer["entityId"] for peer in peers}
        own = readings["revenue_ttm"].get(company.entity, {}).get("valueNumeric")
        near = [peer for peer in peers if peer["basis"] == "industry, revenue_ttm"]
        apart = [abs(math.log(readings["revenue_ttm"][peer["entityId"]]["valueNumeric"] / own)) for peer in near]
        assert apart == sorted(apart)
        assert peers[: len(near)] == near
        assert all(by_id[peer["entityId"]].currency == company.currency for peer in near)
        for peer in peers:
            assert (peer["score"], peer["lastPeriodEnd"]) == (
                rows[peer["entityId"]]["score"],
                rows[peer["entityId"]]["lastPeriodEnd"],
            )
        # Those with statements of the last 18 months first, and no other of the industry left out while there is room.
        current = [rows[peer["entityId"]]["lastPeriodEnd"] >= since for peer in peers]
        assert current == sorted(current, reverse=True)
        alike = {
            one.entity for one in made
            if one.industry == company.industry and one.entity != company.entity and rows[one.entity]["lastPeriodEnd"]
        }  # fmt: skip
        assert len(peers) == min(8, len(alike) if company.industry else 0)
        older += current.count(False)
    assert figures > 60
    assert older


def test_score_detail_comes_from_the_formulas(many):
    """scoreDetail (each test of each score: inputs, value, passed), by what the composition hands in."""
    from almanac.api.interface import endpoints
    from almanac.api.server.app import App
    from almanac.api.use.limits import open_limiter
    from almanac.pipeline.explain.macro import Explainer
    from tests.support.service import CATALOG

    service, made = many
    asked = []
    detail = {
        "periodEnd": "2026-09-30T00:00:00Z", "value": 7, "verdict": None, "present": 9, "of": 9, "passed": 7,
        "tests": [{"name": "roa_positive", "inputs": {"net_income": 5.0, "total_assets": None}, "value": 0.1, "passed": True}],
    }  # fmt: skip

    def explain(_view, entity, at, ends_from):
        asked.append((entity, at, ends_from))
        return {"piotroskiF": detail}

    before = service.app
    service.app = App(
        endpoints(Explainer(CATALOG), explain), service.accounts, open_limiter(service.settings), service.reader.view, service.settings,
        clock=service.settings.clock, walltime=lambda: service.real_now,
    )  # fmt: skip
    words = {0: "ok", WARNED: "warning", FAILED: "failed"}
    try:
        told = service.ok(PROFILE.format(made[0].entity))
        service.ok(PROFILE.format(made[0].entity), "free")
        # One that rests on a statement which fails a grave check has its tests, and no value.
        said = {}
        for company in made:
            if company.values.get("piotroski_f") and company.quarters[-1] == invented_companies.QUARTERS[-1]:
                shown = service.ok(PROFILE.format(company.entity))["scoreDetail"]["piotroskiF"]
                quality = said[company.entity] = words[company.marks.get("piotroski_f", 0)]
                assert (shown["quality"], shown["value"]) == (quality, None if quality == "failed" else 7)
        assert set(said.values()) == {"ok", "warning", "failed"}
        asked[2:] = []
    finally:
        service.app = before
    assert told["scoreDetail"] == {"piotroskiF": detail | {"quality": words[made[0].marks.get("piotroski_f", 0)]}}
    msgspec.json.decode(msgspec.json.encode(told), type=Profile, strict=True)
    now = service.settings.clock()
    assert [(entity, at, None if day is None else day.isoformat()) for entity, at, day in asked] == [
        (made[0].entity, now, None), (made[0].entity, now, FREE_FROM),
    ]  # fmt: skip


def ends(told, kind="incomeStatements"):
    return [(s["frequency"], s["periodEnd"][:10]) for s in told[kind]]


def test_financials(service):
    """Returns company financial statements: annual and quarterly together, newest first; one per period."""
    told = service.ok(FINANCIALS.format("ACW"))
    msgspec.json.decode(msgspec.json.encode(told), type=Financials, strict=True)
    assert (told["entityId"], told["ticker"], told["cik"], told["currency"]) == (ACME_ID, "ACW", "0000005001", "USD")
    assert ends(told) == [("quarterly", "2026-09-30"), ("annual", "2025-12-31"), ("quarterly", "2023-09-30")]
    assert ends(told, "balanceSheets") == ends(told)
    # A statement that was withdrawn is not there any more.
    assert ends(told, "cashFlowStatements") == ends(told)[1:]
    year = told["incomeStatements"][1]
    assert year == {
        "frequency": "annual", "fiscalYear": 2025, "fiscalPeriod": "FY", "calendarYear": 2025, "calendarQuarter": None,
        "periodStart": "2025-01-01T00:00:00Z", "periodEnd": "2025-12-31T00:00:00Z", "filedAt": "2026-05-05T00:00:00Z",
        "observedAt": wire(AMENDED), "form": "10-K/A", "accession": ACCESSIONS[YEAR], "sourceUrl": f"https://archive.example/{ACCESSIONS[YEAR]}",
        "currency": "USD", "revisionStatus": "revised", "basis": "mixed", "items": {"revenue": 390, "gross_profit": 100},
        "derivedItems": {"gross_profit": {"method": "formula", "derivedFrom": [f"sec:{ACME_ID}:us_gaap_revenues:A"]}},
        "quality": {"status": "ok", "checks": [{"name": "identity", "status": "passed", "detail": None}]},
    }  # fmt: skip
    assert told["balanceSheets"][0]["periodStart"] is None
    # A key that was not reported is absent, never zero.
    assert told["incomeStatements"][0]["items"] == {"revenue": 120}
    # Without an asked moment, the latest knowledge time among the rows used.
    assert told["asOf"] == wire(KNOWN[QUARTER])


def test_frequency_and_limit_of_financials(service):
    """Frequency restriction: annual or quarterly. Statements per type, newest first: integer 1 to 100."""
    path = FINANCIALS.format("ACW")
    assert ends(service.ok(path, frequency="annual")) == [("annual", "2025-12-31")]
    assert ends(service.ok(path, frequency="QUARTERLY")) == [("quarterly", "2026-09-30"), ("quarterly", "2023-09-30")]
    assert service.ok(path, frequency="annual")["asOf"] == wire(AMENDED)
    assert ends(service.ok(path, limit=2)) == [("quarterly", "2026-09-30"), ("annual", "2025-12-31")]
    # The limit counts statements that are there: one that was withdrawn takes no place.
    assert ends(service.ok(path, limit=1), "cashFlowStatements") == [("annual", "2025-12-31")]
    assert ends(service.ok(path, limit=100)) == ends(service.ok(path))
    assert service.error(path, 400, frequency="monthly")["details"]["allowed"] == ["annual", "quarterly"]
    for bad in ("0", "101", "-1", "ten", "1.5"):
        error = service.error(path, 400, limit=bad)
        assert error["message"].startswith("'limit' ")
        assert error["details"]["allowed"] == {"minimum": 1, "maximum": 100}


def test_as_of_of_financials(service):
    """Knowledge-time cutoff (timestamp): statements are assembled from the latest vintage known on or before it."""
    path = FINANCIALS.format("ACW")
    before = service.ok(path, as_of="2026-05-05T11:59:59Z")
    assert [s["items"] for s in before["incomeStatements"]] == [{"revenue": 400}, {"revenue": 70}]
    assert before["asOf"] == "2026-05-05T11:59:59Z"
    after = service.ok(path, as_of="2026-05-05T12:00:00Z")
    assert after["incomeStatements"][0]["items"]["revenue"] == 390
    assert after["balanceSheets"] == before["balanceSheets"]
    # The cash flow statement of the quarter was known for a day.
    assert ends(service.ok(path, as_of=wire(KNOWN[QUARTER])), "cashFlowStatements")[0] == ("quarterly", "2026-09-30")
    assert ends(service.ok(path, as_of=wire(KNOWN[EARLIER] - 1))) == []
    assert service.error(path, 400, as_of="2026-11-22")["details"]["reason"] == "future"
    for moment in (KNOWN[EARLIER], KNOWN[YEAR], AMENDED, KNOWN[QUARTER]):
        told = service.ok(path, as_of=wire(moment))
        assert all(s["observedAt"] <= wire(moment) for kind in KINDS for s in told[kind])
        assert any(s["observedAt"] == wire(moment) for kind in KINDS for s in told[kind])


def test_the_window_of_financials(service):
    """Statements are clipped on `periodEnd`; an `as_of` before the window is 403."""
    path = FINANCIALS.format("ACW")
    assert ends(service.ok(path, "free")) == [("quarterly", "2026-09-30"), ("annual", "2025-12-31")]
    assert service.get(path, "free").headers["x-history-from"] == FREE_FROM
    assert service.error(path, 403, "free", as_of="2023-12-31")["details"]["parameter"] == "as_of"


@pytest.mark.parametrize(
    ("as_of", "told"),
    [
        ("0987-06-05", "0987-06-05T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z"),
    ],
)
def test_an_early_moment_is_told_with_four_digits(service, as_of, told):
    """RFC 3339: a year has four digits; a moment that a zone leads before the year 1 is its first."""
    found = service.ok(FINANCIALS.format("ACW"), as_of=as_of)
    assert (found["asOf"], ends(found)) == (told, [])


def test_statements_of_a_withheld_source(own):
    """Only public values are sent: statements of a withheld source keep their place, without items, and say why."""
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        row = world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = 'sec'").get
        told = msgspec.json.decode(row)
        told["rights"] |= {"exposure": 2, "reason": "An invented reason."}
        world.db.execute(
            "UPDATE record SET body = ? WHERE kind = 'source' AND id = 'sec'", (msgspec.json.encode(told).decode(),)
        )
        set_meta(world.db, "reference", str(batch.version))
    answer = own.get(FINANCIALS.format("ACW"))
    found = answer.json()["data"]
    msgspec.json.decode(msgspec.json.encode(found), type=Financials, strict=True)
    assert ends(found) == [("quarterly", "2026-09-30"), ("annual", "2025-12-31"), ("quarterly", "2023-09-30")]
    for kind in KINDS:
        for statement in found[kind]:
            assert (statement["items"], statement["derivedItems"]) == ({}, {})
            assert statement["quality"] == {
                "status": "withheld", "checks": [{"name": "rights", "status": "withheld", "detail": "An invented reason."}],
            }  # fmt: skip
    for number in ("390", "400", "120"):
        assert f":{number}" not in answer.text
    assert own.ok(PROFILE.format("ACW"))["scoreDetail"] == {}


def test_statements_that_were_closed(own):
    """Statements are those of the newest data version; rows closed since are served no more."""
    path = FINANCIALS.format("BOLT")
    assert ends(own.ok(path)) == [("annual", "2025-12-31")]
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        write(world.db, batch.version, BOLT_ID, {})
    assert ends(own.ok(path)) == []


@pytest.mark.parametrize("path", [FINANCIALS, PROFILE])
def test_a_name_that_is_none_s_alone_tells_whose_it_may_be(service, path):
    """Companies whose name begins with the words are candidates; where there are none, there is no such field."""
    assert "candidates" not in service.error(path.format("nobody-at-all"), 404)["details"]
    told = service.error(path.format("zenith"), 404)
    assert [one["name"] for one in told["details"]["candidates"]] == ["ZENITH LIMITED", "Zenith Ltd"]
    assert all(f"{one['name']} ({one['slug']})" in told["message"] for one in told["details"]["candidates"])
    acme = service.error(path.format("acme"), 404)["details"]["candidates"]
    assert acme == [{"entityId": ACME_ID, "name": "Acme Widgets Inc.", "slug": "acme-widgets-inc"}]
