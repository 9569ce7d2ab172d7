"""
Invented companies as they stand in the store after their filings were taken in: names, filings, statements, events.

Everything is made up. They are written through the store's own functions; how filings become statements is tested elsewhere.
"""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from almanac.domain.companies import CompanyRecord, Filing, FormerName, Listing, company_id
from almanac.domain.events import EventState, event_id
from almanac.domain.periods import Period
from almanac.store.companies import filings
from almanac.store.companies.merging import mark_reports, put_records
from almanac.store.companies.statements import BALANCE, CASH_FLOW, INCOME, Key, pack
from almanac.store.engine import opening, sqlite
from almanac.store.events import events
from almanac.store.observations.writing.batch import Batch

ACME, BOLT, ZENITH, TWIN = 5001, 5002, 5003, 5004
#: SIC → sector, industry, template, as a table of the catalogue would say.
CLASSES = {
    "3571": ("Technology", "Electronic Computers", "industrial"),
    "6022": ("Financials", "State Commercial Banks", "bank"),
}
RECORDS = [
    CompanyRecord(
        cik=ACME, part="submissions", name="Acme Widgets Inc.", sic="3571", sic_description="Electronic Computers",
        fiscal_year_end="0930", listings=(Listing("ACW", "Nasdaq"), Listing("ACW-B", "Nasdaq")), lei="5493006MHB84DD0ZWV18",
        former_names=(FormerName("ACME GADGETS CORP", "2001-02-03", "2015-06-30"),), state_of_incorporation="CA", country="US",
        website="https://acme.example", entity_type="operating",
    ),
    CompanyRecord(cik=ACME, part="facts", name="Acme Widgets, Incorporated", currency="USD"),
    CompanyRecord(cik=BOLT, part="tickers", name="Bolt Bank Corp", listings=(Listing("BOLT"), Listing("USA"))),
    CompanyRecord(cik=BOLT, part="facts", name="Bolt Bank Corp", sic="6022", currency="JPY", country="JP"),
    # Delisted, with a namesake that never reported.
    CompanyRecord(cik=ZENITH, part="tickers", name="Zenith Ltd", listings=(Listing("ZEN"),)),
    CompanyRecord(cik=ZENITH, part="submissions", name="Zenith Ltd", sic="3571"),
    CompanyRecord(cik=TWIN, part="tickers", name="ZENITH LIMITED", listings=(Listing("ZNT"),)),
]  # fmt: skip
#: Statement periods, with when each was filed.
YEAR, QUARTER, EARLIER = Period.parse("2025"), Period.parse("2026-Q3"), Period.parse("2023-Q3")
ACCESSIONS = {YEAR: "0000005001-26-000001", QUARTER: "0000005001-26-000003", EARLIER: "0000005001-23-000009"}
FORMS = {YEAR: "10-K", QUARTER: "10-Q", EARLIER: "10-Q"}


def at(text: str) -> int:
    """Unix seconds of a time in UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


#: When each filing was known; the year's accounts were amended once.
KNOWN = {YEAR: at("2026-02-20T21:30:00"), QUARTER: at("2026-10-30T20:00:00"), EARLIER: at("2023-11-02T20:00:00")}
AMENDED = at("2026-05-05T12:00:00")


def body(kind: int, period: Period, known: int, items: dict[str, float], currency: str = "USD", **more: Any) -> bytes:
    """A statement as the derivation writes it."""
    annual = period == YEAR
    told = {
        "frequency": "annual" if annual else "quarterly", "fiscalYear": period.end.year, "fiscalPeriod": "FY" if annual else "Q3",
        "calendarYear": period.end.year, "calendarQuarter": None if annual else 3,
        "periodStart": None if kind == BALANCE or period.start is None else f"{period.start}T00:00:00Z",
        "periodEnd": f"{period.end}T00:00:00Z", "filedAt": wire(known)[:10] + "T00:00:00Z", "observedAt": wire(known),
        "form": FORMS[period], "accession": ACCESSIONS[period], "sourceUrl": f"https://archive.example/{ACCESSIONS[period]}",
        "currency": currency, "revisionStatus": "initial", "basis": "reported", "items": items, "derivedItems": {},
        "quality": {"status": "ok", "checks": [{"name": "identity", "status": "passed", "detail": None}]},
    }  # fmt: skip
    return pack(msgspec.json.encode({**told, **more}))


def wire(seconds: int) -> str:
    """A moment as the wire writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def statements() -> dict[Key, list[tuple[int, bytes]]]:
    """Acme's statements: each period's three, the year's income statement restated, one statement withdrawn."""
    found: dict[Key, list[tuple[int, bytes]]] = {}
    for period, revenue in ((EARLIER, 70), (YEAR, 400), (QUARTER, 120)):
        frequency = "A" if period == YEAR else "Q"
        known = KNOWN[period]
        found[Key(INCOME, frequency, period.key)] = [(known, body(INCOME, period, known, {"revenue": revenue}))]
        instant = Period(None, period.end).key
        found[Key(BALANCE, frequency, instant)] = [(known, body(BALANCE, period, known, {"total_assets": revenue * 3}))]
        found[Key(CASH_FLOW, frequency, period.key)] = [
            (known, body(CASH_FLOW, period, known, {"net_change_in_cash": 1.5}))
        ]
    restated = body(
        INCOME, YEAR, AMENDED, {"revenue": 390, "gross_profit": 100}, revisionStatus="revised", form="10-K/A", basis="mixed",
        derivedItems={"gross_profit": {"method": "formula", "derivedFrom": [f"sec:{company_id(ACME)}:us_gaap_revenues:A"]}},
    )  # fmt: skip
    found[Key(INCOME, "A", YEAR.key)].append((AMENDED, restated))
    found[Key(CASH_FLOW, "Q", QUARTER.key)].append((KNOWN[QUARTER] + 86_400, b""))
    return found


def classify(sic: str | None) -> tuple[str, str | None, str]:
    return CLASSES.get(sic or "", ("Unclassified", None, "industrial"))


def event_markers() -> list[EventState]:
    """Events of every kind the filters tell apart: of companies, of countries, moved, withheld, to come."""
    release = {"category": "macro_release", "type": "release", "source": "fred", "country": "country_usa", "precision": "minute",
               "time_zone": "America/New_York", "indicator": "cpi_index", "period": "2026-10", "unit": "percent"}  # fmt: skip
    filing = {"category": "issuer_filing", "source": "sec", "precision": "minute", "time_zone": "America/New_York", "status": "released",
              "entity": company_id(ACME)}  # fmt: skip
    cpi, yields = event_id("fred", "cpi", "2026-10"), event_id("us-treasury-par", "auction", "2026-11")
    return [
        EventState(event=cpi, known_at=at("2026-09-01T00:00:00"), occurred_at=at("2026-11-10T13:30:00"), title="Consumer prices", status="scheduled", **release),
        EventState(event=cpi, known_at=at("2026-11-01T00:00:00"), occurred_at=at("2026-11-13T13:30:00"), title="Consumer prices", status="rescheduled", **release),
        EventState(
            event=cpi, known_at=at("2026-11-13T13:30:00"), occurred_at=at("2026-11-13T13:30:00"), title="Consumer prices", status="released",
            actual=2.5, previous=2.0, revised_previous=2.1, **release,
        ),
        EventState(
            event=yields, known_at=at("2026-10-01T00:00:00"), occurred_at=at("2026-12-01T00:00:00"), title="Auction", status="tentative",
            category="other", type="auction", source="us-treasury-par", precision="day", time_zone="America/New_York", country="country_usa",
        ),
        EventState(
            event=event_id("mof-japan", "meeting", "2026-10"), known_at=at("2026-10-02T00:00:00"), occurred_at=at("2026-10-30T03:00:00"),
            title="Policy meeting", status="released", category="central_bank", type="meeting", source="mof-japan", precision="minute",
            time_zone="Asia/Tokyo", country="country_jpn",
        ),
        *(
            EventState(
                event=event_id("sec", ACCESSIONS[period]), known_at=KNOWN[period], occurred_at=KNOWN[period], type="periodic_report",
                title=f"Acme Widgets Inc.: {FORMS[period]}", form=FORMS[period], accession=ACCESSIONS[period],
                url=f"https://archive.example/{ACCESSIONS[period]}", period=str(period.end), **filing,
            )
            for period in (EARLIER, YEAR, QUARTER)
        ),
        EventState(
            event=event_id("sec", "0000005002-26-000007"), known_at=at("2026-11-05T22:00:00"), occurred_at=at("2026-11-05T22:00:00"),
            title="Bolt Bank Corp: change of auditor", type="auditor_change", category="issuer_disclosure", status="released",
            source="sec", precision="minute", time_zone="America/New_York", entity=company_id(BOLT), form="8-K", accession="0000005002-26-000007",
        ),
    ]  # fmt: skip


def write(db: Any, version: int, entity: str, told: dict[Key, list[tuple[int, bytes]]]) -> None:
    """Statements of a company as part of a data version; those it had are closed."""
    db.execute(
        "UPDATE statement SET to_version = ? WHERE entity = ? AND to_version = ?", (version, entity, sqlite.OPEN)
    )
    for key, versions in told.items():
        for known, text in versions:
            row = (entity, *key, known, version, sqlite.OPEN, text)
            db.execute("INSERT INTO statement VALUES(?, ?, ?, ?, ?, ?, ?, ?)", row)


def fill(db: Any, batch: Batch) -> None:
    """Write all of it as part of one data version."""
    batch.touch()
    for number, record in enumerate(RECORDS):
        put_records(db, [record], "sec", at("2026-11-01T00:00:00") + number, f"{number:064x}", classify)
    acme, bolt = company_id(ACME), company_id(BOLT)
    filed: list[tuple[str, Filing]] = []
    for period, accession in ACCESSIONS.items():
        known = KNOWN[period]
        day = date.fromisoformat(wire(known)[:10]).toordinal()
        filed.append((acme, Filing(accession, FORMS[period], day, known, period.end.toordinal(), document="main.htm")))
    filed.append((acme, Filing("0000005001-26-000099", "8-K", date(2026, 11, 19).toordinal())))
    filings.enter(db, filed, "sec", 0)
    told = statements()
    write(db, batch.version, acme, told)
    yen = {
        Key(INCOME, "A", YEAR.key): [
            (
                KNOWN[YEAR],
                body(
                    INCOME, YEAR, KNOWN[YEAR], {"net_interest_income": 9_000}, "JPY", accession="0000005002-26-000001"
                ),
            )
        ]
    }
    write(db, batch.version, bolt, yen)
    for cik in (ACME, BOLT, ZENITH, TWIN):
        mark_reports(db, company_id(cik))
    events.put(db, batch.version, event_markers())


def add(path: Path) -> None:
    """Write all of it into a data database that has its reference records."""
    db = opening.create(path)
    with Batch(db, 1, "payload") as batch:
        fill(db, batch)
    db.close()
