"""
The register of companies: what payloads say of each, put together into the record that is served.

Payloads arrive in any order; what is stored after all of them is the same. A payload that says nothing new of a company
changes nothing but the time of its part. Names are in `almanac.store.companies.aliases`, tickers in `.tickers`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import CompanyRecord, Listing
from almanac.domain.names import normal, slugify
from almanac.store.companies import aliases, tickers
from almanac.store.companies.aliases import Names
from almanac.store.companies.facts import FilerTraits
from almanac.store.companies.tickers import LISTING, Claim
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
#: Columns of a company's row that follow from its parts alone.
_ROW = ("cik", "source", "base", "name", "country", "currency", "sector", "industry", "template", "body")


class Part(msgspec.Struct, frozen=True):
    """What the newest payload of one kind said, its source, and when it was fetched (unix seconds)."""

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
    """What the parts of a company say together, as far as anything follows from it."""

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
        found = db.execute("SELECT id, body FROM record WHERE kind = 'entity' ORDER BY id")
        self._by_iso2: dict[str, str] = {}
        self._slugs: set[str] = set()
        for entity, body in found:
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
    Write the rows, slugs, names and tickers of companies, whose parts said the first together and now say the second.

    Returns those of which anything served changed.
    """
    rows = {entity: _row(now, classify, places) for entity, (_, now) in companies.items()}
    stored = _read_rows(db, rows)
    db.insert(
        "company",
        [
            (entity, row["cik"], row["source"], row["base"], _placeholder(entity), row["name"], None, None, row["country"],
             row["currency"], row["sector"], row["industry"], row["template"], 0, row["body"])
            for entity, row in rows.items()
            if entity not in stored
        ],
    )  # fmt: skip
    moved = {entity for entity, row in rows.items() if stored.get(entity) != row}
    updates = [(*rows[entity].values(), entity) for entity in rows if entity in moved and entity in stored]
    if updates:
        db.executemany(f"UPDATE company SET {', '.join(f'{name} = ?' for name in _ROW)} WHERE entity = ?", updates)
    renamed = [entity for entity, row in stored.items() if row["base"] != rows[entity]["base"]]
    if renamed:
        slugs = [(_placeholder(entity), entity) for entity in renamed]
        db.executemany("UPDATE company SET slug = ? WHERE entity = ?", slugs)
    moved |= _tell_apart(db, {row["base"] for row in (*rows.values(), *stored.values())}, places)
    names = {
        entity: now.names for entity, (before, now) in companies.items() if before is None or before.names != now.names
    }
    claims = {
        entity: (now.claim, now.names.source)
        for entity, (before, now) in companies.items()
        if before is None or before.claim != now.claim or seen.get(entity)
    }
    moved |= aliases.put_names(db, names)
    moved |= tickers.update(db, claims, seen, lambda others: _claims_of(db, others))
    return {
        entity: Changed(_traits(stored[entity]) if entity in stored else None, _traits(row))
        for entity, row in rows.items()
        if entity in moved
    }


def unlike(db: Database, entity: str, classify: Classify, places: Places) -> list[tuple[str, Any, Any]]:
    """Return what the row of a company has otherwise than its parts give it: name of the column, what is there, and what they give."""
    parts = _parts(db, [entity])[entity]
    if not parts:
        return []
    wanted = {**_row(_summary(parts), classify, places), "reports": int(reports(db, entity))}
    held = _read_rows(db, [entity], list(wanted)).get(entity) or dict.fromkeys(wanted)
    return [(name, held[name], wanted[name]) for name in wanted if held[name] != wanted[name]]


def has_part(db: Database, entity: str, part: str) -> bool:
    """Return whether a payload of that kind ever spoke of a company."""
    return db.execute("SELECT 1 FROM company_part WHERE entity = ? AND part = ?", (entity, part)).get is not None


def reports(db: Database, entity: str) -> bool:
    """Return whether a company has a statement."""
    return db.execute("SELECT 1 FROM statement WHERE entity = ? LIMIT 1", (entity,)).get is not None


def mark_reports(db: Database, entity: str) -> bool:
    """Record on a company whether it has statements, after they were written. Returns whether that is new."""
    found = int(reports(db, entity))
    return db.update("UPDATE company SET reports = ? WHERE entity = ? AND reports <> ?", (found, entity, found)) > 0


# -- putting together ---------------------------------------------------------------------------------------------------


def _parts(db: Database, entities: Iterable[str]) -> dict[str, dict[str, Part]]:
    """Return the stored parts of companies, none for one that no payload spoke of."""
    found: dict[str, dict[str, Part]] = {entity: {} for entity in entities}
    for entity, kind, body, *more in db.seek(_PARTS_OF, [(entity,) for entity in found]):
        found[entity][kind] = Part(msgspec.json.decode(body, type=CompanyRecord), *more)
    return found


def _claims_of(db: Database, entities: Iterable[str]) -> dict[str, Claim]:
    return {entity: _claim(parts) for entity, parts in _parts(db, entities).items()}


def _claim(parts: Parts) -> Claim:
    """Return the tickers a company claims. One list comes without exchanges: another payload's word for the same ticker fills in."""
    claim = tickers.newest_list({kind: (part.record.listings, part.fetched_at) for kind, part in parts.items()})
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
    names = Names(
        record.cik, record.name, record.legal_name, record.former_names, record.lei, tuple(spelled), ranked[0].source
    )
    return Summary(record, claim, names, next((each.sic for each in records if each.sic), None))


def _row(summary: Summary, classify: Classify, places: Places) -> dict[str, Any]:
    """Return a company's row but for its slug, its ticker, which are told apart from others', and whether it reports."""
    record = summary.record
    sector, industry, _ = classify(record.sic)
    _, _, template = classify(summary.sic)
    base = slugify(record.name) or record.entity.replace("_", "-")
    return {
        "cik": record.cik, "source": summary.names.source, "base": base, "name": record.name,
        "country": places.country(record.country), "currency": record.currency, "sector": sector, "industry": industry,
        "template": template, "body": msgspec.json.encode(record).decode(),
    }  # fmt: skip


def _traits(row: Mapping[str, Any]) -> FilerTraits:
    return FilerTraits(*(row[name] for name in FilerTraits._fields))


def _read_rows(db: Database, entities: Iterable[str], columns: Sequence[str] = _ROW) -> dict[str, dict[str, Any]]:
    selected = ", ".join(f"x.{name}" for name in columns)
    sql = f"SELECT x.entity, {selected} FROM {{keys}}company x WHERE x.entity = k.column1"
    return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in db.seek(sql, [(key,) for key in entities])}


def _placeholder(entity: str) -> str:
    """Return a slug that no name makes: it holds a row's place until all that share its base are told apart."""
    return f"~{entity}"


# -- slugs ----------------------------------------------------------------------------------------------------------------


def _tell_apart(db: Database, bases: Iterable[str], places: Places) -> set[str]:
    """
    Give each company of these bases its slug: the lowest CIK the bare one, the others with their CIK behind it.

    A base that a country has, or that ends like a slug with a CIK behind it, is nobody's bare slug. Returns the companies
    that got another slug.
    """
    sharing: dict[str, list[tuple[int, str, str, str]]] = defaultdict(list)
    for base, *row in db.seek(_OF_BASE, [(base,) for base in sorted(bases)]):
        sharing[base].append((row[0], row[1], row[2], row[3]))
    moved = []
    for base, several in sharing.items():
        tail = base.rpartition("-")[2]
        # Behind a base stand at least four digits: `phillips-66` is no company of the base `phillips`.
        nobodys = (tail.isdigit() and (len(tail) > 3 or tail == base)) or places.has_slug(base)
        for place, (cik, entity, slug, source) in enumerate(sorted(several)):
            wanted = base if place == 0 and not nobodys else f"{base}-{cik:04d}"
            if wanted != slug:
                moved.append((wanted == base, entity, wanted, source))
    if moved:
        # Those that lose the bare slug go first: it must be free for the one that gets it.
        moved.sort()
        db.executemany("UPDATE company SET slug = ? WHERE entity = ?", [(slug, entity) for _, entity, slug, _ in moved])
        aliases.put_slugs(db, [(entity, slug, source) for _, entity, slug, source in moved])
    return {entity for _, entity, _, _ in moved}


_PUT_PART = (
    "INSERT INTO company_part VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(entity, part) DO UPDATE SET"
    " fetched_at = excluded.fetched_at, sha256 = excluded.sha256, source = excluded.source, body = excluded.body"
)
_PARTS_OF = "SELECT x.entity, x.part, x.body, x.source, x.fetched_at, x.sha256 FROM {keys}company_part x WHERE x.entity = k.column1"
_OF_BASE = "SELECT x.base, x.cik, x.entity, x.slug, x.source FROM {keys}company x WHERE x.base = k.column1"
