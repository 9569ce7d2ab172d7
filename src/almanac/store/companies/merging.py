"""
The register of companies: what payloads say of each, put together into the record that is served.

Payloads arrive in any order; what is stored after all of them is the same. A payload that says nothing new of a company
changes nothing but the time of its part. Names are in `almanac.store.companies.aliases`, tickers in `.tickers`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import CompanyRecord, Listing
from almanac.domain.names import normal, slugify
from almanac.store.companies import aliases
from almanac.store.companies.aliases import NAMING, AliasRow, Names
from almanac.store.companies.facts import FilerTraits
from almanac.store.companies.tickers import LISTING, Claim, Tickers, award, newest_list, note_seen
from almanac.store.engine.protocol import Database

#: Which kind of payload is believed where several speak of one field.
PARTS = ("submissions", "facts", "tickers", "datasets", "currency")
#: A data set that has no amount of a company's own does not state its currency: the newest that does is kept beside it.
_DATASETS, _CURRENCY = "datasets", "currency"
#: From a standard industrial classification code: sector, industry, template.
Classify = Callable[[str | None], tuple[str, str | None, str]]
#: Fields that are put together by a rule of their own.
_SPECIAL = frozenset({"cik", "part", "listings"})
#: What a company is and where, which a past quarter's data set states of the company of that name.
_OF_ITS_NAME = frozenset({"sic", "sic_description", "country", "state_of_incorporation"})


class CompanyRow(NamedTuple):
    """One row of `company`. Its slug and its ticker are told apart from those of others."""

    entity: str
    cik: int
    source: str
    base: str
    slug: str
    name: str
    ticker: str | None
    exchange: str | None
    country: str | None
    currency: str | None
    sector: str
    industry: str | None
    template: str
    reports: int
    body: str

    @property
    def traits(self) -> FilerTraits:
        return FilerTraits(self.name, self.source, self.template, self.currency)


class Part(msgspec.Struct, frozen=True):
    """The record of the newest payload of one kind, its source, and when it was fetched (unix seconds)."""

    record: CompanyRecord
    source: str
    fetched_at: int
    sha256: str

    @property
    def order(self) -> tuple[int, str]:
        return self.fetched_at, self.sha256


#: A company's parts by kind.
Parts = Mapping[str, Part]


class Summary(NamedTuple):
    """The merged parts of a company, as far as rows of other tables follow from them."""

    record: CompanyRecord
    claim: Claim
    names: Names
    #: The industry by which its statements are read: that of any payload that states one.
    sic: str | None


class Changed(NamedTuple):
    """A company of which anything served changed: what it was before (None: it is new) and what it is now."""

    before: FilerTraits | None
    after: FilerTraits


class Places:
    """Countries and other places of the catalogue by what companies name them with: read once for many companies."""

    def __init__(self, db: Database) -> None:
        rows = db.execute("SELECT id, body FROM record WHERE kind = 'entity' ORDER BY id")
        self._by_iso2: dict[str, str] = {}
        self._slugs: set[str] = set()
        for entity, body in rows:
            place = msgspec.json.decode(body, type=_Place)
            self._slugs.add(place.slug)
            if place.iso2 is not None:
                self._by_iso2.setdefault(place.iso2, entity)

    def country(self, iso2: str | None) -> str | None:
        """Entity id of a country by its ISO-2 code; None where the catalogue has no such country."""
        return None if iso2 is None else self._by_iso2.get(iso2.upper())

    def has_slug(self, slug: str) -> bool:
        """Return whether a place goes by this slug."""
        return slug in self._slugs


class _Place(msgspec.Struct):
    """What is read of the record of a place."""

    slug: str
    iso2: str | None = None


def put_records(
    db: Database,
    records: Iterable[CompanyRecord],
    source: str,
    fetched_at: int,
    sha256: str,
    classify: Classify,
    places: Places | None = None,
) -> dict[str, Changed]:
    """
    Enter what one payload says of companies, and return those of which anything served changed.

    A record counts where it is the newest of its kind by (`fetched_at`, `sha256`). Tickers of one that is not were seen on
    its day. `places`: those of the catalogue as they are in this transaction; None: to be read.

    Field by field the first of `PARTS` that speaks of it wins; listings are those of the newest payload that lists them.
    Industry and country come from a payload that calls the company by the name it has: what was stated of another name
    years ago does not stand beside the one of today. How its statements are read follows from any that states an industry.
    Companies that share a slug or a ticker are told apart anew with it.
    """
    listed = [each for record in records for each in _with_currency(record)]
    stored = _parts(db, dict.fromkeys(record.entity for record in listed))
    parts = {entity: dict(of) for entity, of in stored.items()}
    seen: dict[str, dict[str, int]] = defaultdict(dict)
    for record in listed:
        own, part = parts[record.entity], Part(record, source, fetched_at, sha256)
        held = own.get(record.part)
        if held is not None and record.part in LISTING:
            older = part if held.order > part.order else held
            current = {listing.ticker for listing in (held if older is part else part).record.listings}
            for listing in older.record.listings:
                if older is part or listing.ticker not in current:
                    at = seen[record.entity].get(listing.ticker, older.fetched_at)
                    seen[record.entity][listing.ticker] = max(at, older.fetched_at)
        if held is None or held.order <= part.order:
            own[record.part] = part
    written = [
        (entity, kind, part.fetched_at, part.sha256, part.source, msgspec.json.encode(part.record).decode())
        for entity, own in parts.items()
        for kind, part in own.items()
        if stored[entity].get(kind) != part
    ]
    if written:
        db.executemany(_PUT_PART, written)
    changed = {}
    for entity, own in parts.items():
        before, now = _summary(stored[entity]) if stored[entity] else None, _summary(own)
        if now != before or seen[entity]:
            changed[entity] = before, now
    return _settle(db, changed, seen, classify, places or Places(db)) if changed else {}


def _with_currency(record: CompanyRecord) -> list[CompanyRecord]:
    if record.part != _DATASETS or record.currency is None:
        return [record]
    return [record, CompanyRecord(cik=record.cik, part=_CURRENCY, name=record.name, currency=record.currency)]


def _settle(
    db: Database,
    companies: Mapping[str, tuple[Summary | None, Summary]],
    seen: Mapping[str, Mapping[str, int]],
    classify: Classify,
    places: Places,
) -> dict[str, Changed]:
    """
    Write the rows and names of companies, whose parts said the first together and now say the second.

    Returns those of which anything served changed.
    """
    stored = _rows(db, "entity", companies)
    rows = {entity: _row(now, stored.get(entity), classify, places) for entity, (_, now) in companies.items()}
    stored |= _rows(db, "base", {row.base for row in (*stored.values(), *rows.values())})
    rows = {**stored, **rows}
    slugs = _tell_apart(rows.values(), places)
    renamed = {entity for entity, (said, now) in companies.items() if said is None or said.names != now.names}
    contested = {
        entity: now
        for entity, (said, now) in companies.items()
        if said is None or said.claim != now.claim or seen.get(entity)
    }
    before = aliases.stored(db, "entity", {*slugs, *renamed, *contested})
    own, claims = _claimants(db, contested, seen, before)
    for entity, now in contested.items():
        note_seen(own[entity], entity, now.claim, seen.get(entity, {}).items(), now.names.source)
    mains = award(own, claims, {norm for entity in contested for norm in own[entity]})
    stored |= _rows(db, "entity", own.keys() - rows.keys())
    rows = {**stored, **rows}
    for entity, main in mains.items():
        ticker, exchange = (None, None) if main is None else (main.ticker, main.exchange)
        rows[entity] = rows[entity]._replace(ticker=ticker, exchange=exchange)
    for entity, slug in slugs.items():
        rows[entity] = rows[entity]._replace(slug=slug)
    replaced = {"slug": slugs.keys(), "ticker": own.keys(), **dict.fromkeys(NAMING, renamed)}
    after = {row for row in before if row.entity not in replaced[row.scheme]}
    after.update(*(companies[entity][1].names.rows() for entity in renamed), *(each.values() for each in own.values()))
    after.update(AliasRow(entity, "slug", slug, slug, 1, source=rows[entity].source) for entity, slug in slugs.items())
    _write_rows(db, stored, rows)
    aliases.write(db, before, after)
    moved = {entity for entity, row in rows.items() if stored.get(entity) != row}
    moved |= {row[0] for row in {row[:7] for row in before} ^ {row[:7] for row in after}}
    return {
        entity: Changed(stored[entity].traits if entity in stored else None, rows[entity].traits)
        for entity in companies
        if entity in moved
    }


def _claimants(
    db: Database, contested: Mapping[str, Summary], seen: Mapping[str, Mapping[str, int]], before: set[AliasRow]
) -> tuple[dict[str, Tickers], dict[str, Claim]]:
    """
    Return the stored tickers and the claims of companies, and of all others that claim a ticker which one of them has, claims or
    claimed in an older list (`seen`).

    `before` holds the stored names of the companies. Those of the others are added to it.
    """
    own: dict[str, Tickers] = {entity: {} for entity in contested}
    norms = {norm for now in contested.values() for norm in now.claim.by_norm}
    for entity, now in contested.items():
        norms.update(normal(ticker, "ticker") for ticker in (*now.claim.older, *seen.get(entity, ())))
    norms |= {row.norm for row in before if row.scheme == "ticker" and row.entity in own}
    holders = [row for row in aliases.stored(db, "norm", norms) if row.scheme == "ticker" and row.entity not in own]
    claims = _claims_of(db, {row.entity for row in holders})
    rivals = {row.entity for row in holders if row.norm in claims[row.entity].by_norm}
    before |= aliases.stored(db, "entity", rivals)
    own |= {entity: {} for entity in rivals}
    for row in before:
        if row.scheme == "ticker" and row.entity in own:
            own[row.entity][row.norm] = row
    return own, claims | {entity: now.claim for entity, now in contested.items()}


def unlike(db: Database, entity: str, classify: Classify, places: Places) -> list[tuple[str, Any, Any]]:
    """Return what the row of a company has otherwise than its parts give it: name of the column, what is there, and what they give."""
    parts, held = _parts(db, [entity])[entity], _rows(db, "entity", [entity]).get(entity)
    if not parts or held is None:
        return []
    wanted = _row(_summary(parts), held, classify, places)._replace(reports=int(reports(db, entity)))
    compared = zip(CompanyRow._fields, held, wanted, strict=True)
    return [(name, stored, given) for name, stored, given in compared if stored != given]


def has_part(db: Database, entity: str, part: str) -> bool:
    """Return whether a payload of that kind ever spoke of a company."""
    return db.execute("SELECT 1 FROM company_part WHERE entity = ? AND part = ?", (entity, part)).get is not None


def reports(db: Database, entity: str) -> bool:
    """Return whether a company has a statement."""
    return db.execute("SELECT 1 FROM statement WHERE entity = ? LIMIT 1", (entity,)).get is not None


def mark_reports(db: Database, entity: str) -> bool:
    """Record on a company whether it has statements, after they were written. Returns whether that is new."""
    count = int(reports(db, entity))
    return db.update("UPDATE company SET reports = ? WHERE entity = ? AND reports <> ?", (count, entity, count)) > 0


# -- putting together ---------------------------------------------------------------------------------------------------


def _parts(db: Database, entities: Iterable[str]) -> dict[str, dict[str, Part]]:
    """Return the stored parts of companies, none for one that no payload spoke of."""
    parts: dict[str, dict[str, Part]] = {entity: {} for entity in entities}
    for entity, kind, body, *more in db.seek(_PARTS_OF, [(entity,) for entity in parts]):
        parts[entity][kind] = Part(msgspec.json.decode(body, type=CompanyRecord), *more)
    return parts


def _claims_of(db: Database, entities: Iterable[str]) -> dict[str, Claim]:
    return {entity: _claim(parts) for entity, parts in _parts(db, entities).items()}


def _claim(parts: Parts) -> Claim:
    """Return the tickers a company claims. One list comes without exchanges: another payload's word for the same ticker fills in."""
    claim = newest_list({kind: (part.record.listings, part.fetched_at) for kind, part in parts.items()})
    ranked = [parts[kind].record for kind in PARTS if kind in parts]
    known = {each.ticker: each.exchange for record in reversed(ranked) for each in record.listings if each.exchange}
    listings = tuple(Listing(each.ticker, each.exchange or known.get(each.ticker)) for each in claim.listings)
    return replace(claim, listings=listings)


def _summary(parts: Parts) -> Summary:
    """Put the parts of a company together. There is at least one."""
    ranked = [parts[kind] for kind in PARTS if kind in parts]
    records = [part.record for part in ranked]
    first = records[0]
    fields: dict[str, Any] = {}
    named = [record for record in records if normal(record.name) == normal(first.name)]
    for field in CompanyRecord.__struct_fields__:
        if field not in _SPECIAL:
            values = (getattr(record, field) for record in (named if field in _OF_ITS_NAME else records))
            fields[field] = next((value for value in values if value not in (None, ())), getattr(first, field))
    claim = _claim(parts)
    record = CompanyRecord(cik=first.cik, part="", listings=claim.listings, **fields)
    spelled = sorted({part.record.name for kind, part in parts.items() if kind not in {_DATASETS, _CURRENCY}})
    names = Names(record, tuple(spelled), ranked[0].source)
    return Summary(record, claim, names, next((each.sic for each in records if each.sic), None))


def _row(summary: Summary, held: CompanyRow | None, classify: Classify, places: Places) -> CompanyRow:
    """Return a company's row as its parts give it. What is told apart from others', and whether it reports, is as it was."""
    record = summary.record
    sector, industry, _ = classify(record.sic)
    _, _, template = classify(summary.sic)
    base = slugify(record.name) or record.entity.replace("_", "-")
    body = msgspec.json.encode(record).decode()
    slug, ticker, exchange, reporting = "", None, None, 0
    if held is not None:
        slug, ticker, exchange, reporting = held.slug, held.ticker, held.exchange, held.reports
    return CompanyRow(
        record.entity, record.cik, summary.names.source, base, slug, record.name, ticker, exchange,
        places.country(record.country), record.currency, sector, industry, template, reporting, body,
    )  # fmt: skip


def _rows(db: Database, column: str, values: Iterable[str]) -> dict[str, CompanyRow]:
    """Return the rows of companies whose column, `entity` or `base`, has one of these values."""
    sql = f"SELECT x.{', x.'.join(CompanyRow._fields)} FROM {{keys}}company x WHERE x.{column} = k.column1"
    return {row[0]: CompanyRow._make(row) for row in db.seek(sql, [(value,) for value in sorted(values)])}


def _write_rows(db: Database, stored: Mapping[str, CompanyRow], rows: Mapping[str, CompanyRow]) -> None:
    """Write the rows that differ. A slug must be free before another gets it: meanwhile it is one that no name makes."""
    changed = [row for entity, row in rows.items() if stored.get(entity) != row]
    updated = [row for row in changed if row.entity in stored]
    if updated:
        slugs = [(f"~{row.entity}", row.entity) for row in updated if row.slug != stored[row.entity].slug]
        if slugs:
            db.executemany("UPDATE company SET slug = ? WHERE entity = ?", slugs)
        columns = ", ".join(f"{name} = ?" for name in CompanyRow._fields[1:])
        db.executemany(f"UPDATE company SET {columns} WHERE entity = ?", [(*row[1:], row.entity) for row in updated])
    db.insert("company", [row for row in changed if row.entity not in stored])


def _tell_apart(rows: Iterable[CompanyRow], places: Places) -> dict[str, str]:
    """
    Return the slugs of companies that get another one. All companies that share a base are among the rows.

    Of these the lowest CIK has the bare base, the others have their CIK behind it. A base that a country has, or that ends
    like a slug with a CIK behind it, is nobody's bare slug.
    """
    sharing: dict[str, list[CompanyRow]] = defaultdict(list)
    for row in rows:
        sharing[row.base].append(row)
    moved = {}
    for base, several in sharing.items():
        tail = base.rpartition("-")[2]
        # Behind a base stand at least four digits: `phillips-66` is no company of the base `phillips`.
        nobodys = (tail.isdigit() and (len(tail) > 3 or tail == base)) or places.has_slug(base)
        for place, row in enumerate(sorted(several, key=attrgetter("cik"))):
            wanted = base if place == 0 and not nobodys else f"{base}-{row.cik:04d}"
            if wanted != row.slug:
                moved[row.entity] = wanted
    return moved


_PUT_PART = (
    "INSERT INTO company_part VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(entity, part) DO UPDATE SET"
    " fetched_at = excluded.fetched_at, sha256 = excluded.sha256, source = excluded.source, body = excluded.body"
)
_PARTS_OF = "SELECT x.entity, x.part, x.body, x.source, x.fetched_at, x.sha256 FROM {keys}company_part x WHERE x.entity = k.column1"
