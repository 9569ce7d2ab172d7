"""
An invented store of companies: statements, and readings of a few fields, with all that a screen must tell apart.

Everything is made up. Readings are derived rows with a lineage of their own, as the pipeline writes them. Of the fields,
`secret_margin` is computed from a series whose owner allows no redistribution; of some companies `net_margin` is.
"""

import random
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from almanac.domain.companies import company_id
from almanac.domain.observations import FAILED, INITIAL, REVISED, WARNED, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import Entity, Indicator, Provider, SeriesSpec, Source, Unit
from almanac.domain.rights import Exposure, Rights
from almanac.domain.times import end_of_day
from almanac.store.companies.statements import pack
from almanac.store.engine import opening, sqlite
from almanac.store.observations.writing.batch import Batch
from almanac.store.summary import records
from tests.support.service import make_accounts, settings

SOURCE, CLOSED = "sec", "closed-feed"
WHY = "The invented owner of this feed allows no redistribution."
#: Field → unit of its indicator (None: that of the series; a score has none), frequency is quarterly throughout.
FIELDS: dict[str, str | None] = {
    "revenue_ttm": None, "earnings_per_share_basic_ttm": None, "total_assets": None, "shares_outstanding": "shares",
    "net_margin": "ratio", "current_ratio": "ratio", "return_on_assets": "ratio", "revenue_growth_yoy": "ratio",
    "debt_to_equity": "ratio", "asset_turnover": "ratio", "piotroski_f": "score", "secret_margin": "ratio",
}  # fmt: skip
#: What the macro field of texts says, and from which feed.
CYCLES = {
    "country_usa": (SOURCE, "Cutting"), "country_jpn": (SOURCE, 'hiking, "slowly"'), "region_euro_area": (CLOSED, "on_hold"),
    "region_world": (SOURCE, "cutting"),
}  # fmt: skip
INSTANTS = {"total_assets", "shares_outstanding"}
SECTORS = {
    "Technology": ["Software", "Semiconductors, Parts"],
    "Financials": ["Fire, Marine & Casualty Insurance", "State Commercial Banks"],
    "Énergie": ['Crude "Sweet" Petroleum', None],
}
#: Quarters from 2023-Q3 to 2026-Q3.
QUARTERS = [Period.parse(f"{year}-Q{quarter}") for year in range(2023, 2027) for quarter in range(1, 5)][2:15]


class Made(NamedTuple):
    """One company. `quarters` are those it reported on; a value is None where the company has none."""

    cik: int
    name: str
    ticker: str | None
    sector: str
    industry: str | None
    currency: str | None
    country: str | None
    quarters: list[Period]
    #: Field → quarter → values in the order in which they came to be known.
    values: dict[str, dict[Period, list[float]]]
    #: Net margin is computed from a withheld series.
    shut: bool
    #: Field → WARNED or FAILED: what checks say of its values.
    marks: dict[str, int]

    @property
    def entity(self) -> str:
        return company_id(self.cik)


def known(quarter: Period, revision: int) -> int:
    """When the value of a quarter was filed: forty days after its end; revised a hundred days later."""
    return end_of_day(date.fromordinal(quarter.end.toordinal() + 40 + 100 * revision))


def companies(count: int, seed: int = 7) -> list[Made]:
    """That many companies, the same every time. Few different values, so that ties are common."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        sector = rng.choice(list(SECTORS))
        currency = rng.choice(["USD", "USD", "USD", "EUR", "JPY", None])
        # Some were listed late, some stopped long ago.
        first, last = rng.choice([0, 0, 0, 6]), rng.choice([len(QUARTERS)] * 5 + [4, 7])
        quarters = QUARTERS[first:last]
        values: dict[str, dict[Period, list[float]]] = {}
        for field in FIELDS:
            if rng.random() < 0.85:
                values[field] = {
                    quarter: [
                        rng.choice(_STEPS[field]) for _ in range(1 + (quarter != QUARTERS[-1] and rng.random() < 0.3))
                    ]
                    for quarter in quarters
                    if rng.random() < 0.9
                }
        made.append(
            Made(
                1000 + number,
                f"{rng.choice(['Acme', 'Bolt', 'Zeta', 'acme', 'Éclair'])} {number % 17}",
                None if rng.random() < 0.1 else f"{rng.choice('ABC')}{number}",
                sector, rng.choice(SECTORS[sector]), currency, rng.choice(["country_usa", None]), quarters, values,
                rng.random() < 0.2, _marks(number),
            )
        )  # fmt: skip
    return made


def _marks(number: int) -> dict[str, int]:
    rng = random.Random(number)
    return {field: mark for field in FIELDS if (mark := rng.choice([0] * 8 + [WARNED, FAILED]))}


_STEPS: dict[str, list[float]] = {
    **{field: [-0.25, 0.0, 0.05, 0.1, 0.125, 0.3, 1.5] for field in FIELDS},
    "revenue_ttm": [1e6, 2.5e8, 1e9, 1e9, 7.5e10],
    "earnings_per_share_basic_ttm": [-1.25, 0.0, 0.5, 4.0],
    "total_assets": [1e7, 1e9, 2e11],
    "shares_outstanding": [1e6, 1e9],
    "piotroski_f": [3.0, 5.0, 9.0],
}


def unit_of(field: str, currency: str | None) -> str | None:
    """Unit of a company's series."""
    if FIELDS[field] is not None:
        return None if FIELDS[field] == "score" else FIELDS[field]
    money = (currency or "USD").lower()
    return f"{money}_per_share" if field.startswith("earnings") else money


def build(home: Path, made: list[Made]) -> None:
    """A home with these companies in it, and accounts."""
    chosen = settings(home)
    home.mkdir(parents=True, exist_ok=True)
    db = opening.create(chosen.home / "data.db")
    fill(db, made)
    db.close()
    make_accounts(chosen)


def fill(db, made: list[Made]) -> None:
    """Write reference records, and then the companies in two data versions."""
    with Batch(db, 1, "catalogue") as batch:
        records.sync(db, batch, _records(), {field: [SOURCE] for field in FIELDS})
    with Batch(db, 1, "payload") as batch:
        for entity, (source, text) in CYCLES.items():
            spec = SeriesSpec(
                source=source, native=entity, indicator="invented_cycle", entity=entity, frequency=Frequency.MONTHLY,
                unit="text", name="Invented cycle",
            )  # fmt: skip
            at = end_of_day(date(2026, 10, 31))
            month = Period.parse("2026-10").key
            batch.replace(batch.series(spec, "raw"), {month: [Vintage(at, None, text, 0, at, 1_800_000_000, 0)]})
    for half in (made[: len(made) // 2], made[len(made) // 2 :]):
        with Batch(db, 1, "payload") as batch:
            for company in half:
                _company(db, batch, company)


def _records() -> dict[str, dict[str, object]]:
    public = Rights(license="invented", attribution="Invented")
    closed = Rights(exposure=Exposure.restricted, license="invented", attribution="Invented", reason=WHY)
    units = {name for company in ("USD", "EUR") for field in FIELDS for name in [unit_of(field, company)] if name}
    return {
        "provider": {
            name: Provider(id=name, name=name, kind="regulator", homepage="https://publisher.example", attribution="Invented")
            for name in ("sec", "closed")
        },
        "source": {
            name: Source(
                id=name, provider=provider, name=name, description="Invented.", homepage="https://publisher.example",
                connector="invented", rights=rights, stores_vintages=True,
            )
            for name, provider, rights in ((SOURCE, "sec", public), (CLOSED, "closed", closed))
        },
        "indicator": {
            f"indicator_{field}": Indicator(
                slug=field, name=field.replace("_", " ").capitalize(), description="Invented.", category="fundamentals",
                kind="derived", unit=None if unit == "score" else unit, formula="invented", aliases=("sales",) if field == "revenue_ttm" else (),
            )
            for field, unit in FIELDS.items()
        } | {
            "indicator_net_income": Indicator(
                slug="net_income", name="Net income", description="Invented.", category="fundamentals", kind="derived",
                formula="invented", screenable=False,
            ),
            "indicator_invented_cycle": Indicator(
                slug="invented_cycle", name="Cycle", description="Invented.", category="rates", kind="raw", unit="text",
            ),
        },
        "entity": {
            entity.id: entity
            for entity in (
                Entity(id="country_usa", slug="united-states", name="United States", kind="country", iso2="US", iso3="USA"),
                Entity(id="country_jpn", slug="japan", name="Japan", kind="country", iso2="JP", iso3="JPN"),
                Entity(id="region_euro_area", slug="euro-area", name="Euro area", kind="region", rates_scope="EUR"),
                Entity(id="region_world", slug="world", name="World", kind="region"),
            )
        },
        "consent": {},
        "unit": {name: Unit(id=name, label=name) for name in sorted(units)},
    }  # fmt: skip


def write_readings(batch: Batch, company: Made) -> None:
    """Make the values of a company those of the store, quarter by quarter."""
    open_ = [_raw(batch, company, SOURCE, tag) for tag in ("revenues", "net_income_loss")]
    shut = [open_[0], _raw(batch, company, CLOSED, "closed_fact")]
    for field, by_quarter in company.values.items():
        withheld = field == "secret_margin" or (field == "net_margin" and company.shut)
        lineage = batch.lineage(shut if withheld else open_)
        spec = SeriesSpec(
            source=SOURCE, native=f"{field}:{company.cik}", indicator=field, entity=company.entity,
            frequency=Frequency.QUARTERLY, unit=unit_of(field, company.currency), name=f"Invented {field}",
        )  # fmt: skip
        batch.replace(
            batch.series(spec, "derived"),
            {
                (Period(None, quarter.end) if field in INSTANTS else quarter).key: list(
                    _vintages(quarter, values, lineage, company.marks.get(field, 0))
                )
                for quarter, values in by_quarter.items()
            },
        )


def _company(db, batch: Batch, company: Made) -> None:
    write_readings(batch, company)
    db.execute(
        "INSERT INTO company VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (company.entity, company.cik, SOURCE, f"c{company.cik}", f"c{company.cik}", company.name, company.ticker, None,
         company.country, company.currency, company.sector, company.industry, "industrial", 1, "{}"),
    )  # fmt: skip
    for quarter in company.quarters:
        for kind in (0, 1, 2):
            key = (Period(None, quarter.end) if kind == 1 else quarter).key
            row = (
                company.entity,
                kind,
                "Q",
                key,
                known(quarter, 0),
                batch.version,
                sqlite.OPEN,
                pack(b'{"invented":true}'),
            )
            db.execute("INSERT INTO statement VALUES(?,?,?,?,?,?,?,?)", row)


def _raw(batch: Batch, company: Made, source: str, tag: str) -> str:
    spec = SeriesSpec(
        source=source, native=f"{tag}:{company.cik}", indicator=f"us_gaap_{tag}", entity=company.entity,
        frequency=Frequency.QUARTERLY, unit="usd", name=f"Invented {tag}",
    )  # fmt: skip
    return batch.series(spec, "raw").id


def _vintages(quarter: Period, values: list[float], lineage: int, mark: int) -> Iterator[Vintage]:
    last = None
    for revision, value in enumerate(values):
        if value != last:
            at = known(quarter, revision)
            yield Vintage(
                at, value, None, mark | (REVISED if revision else INITIAL), at, 1_800_000_000, 0, None, lineage
            )
        last = value
