"""
Companies: what payloads say of one, put together into the record that is served.

Payloads arrive in any order; what is held after all of them is the same. Names and tickers are in `almanac.store.companies.aliases`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from almanac.domain.companies import CompanyRecord, Listing
from almanac.domain.names import normal, slugify
from almanac.store.companies import aliases
from almanac.store.companies.tickers import LISTING, Claim, contest, listed, seen
from almanac.store.engine.protocol import Database

#: Which kind of payload is believed where several speak of one field.
PARTS = ("submissions", "facts", "tickers", "datasets", "currency")
#: A data set that has no amount of a company's own does not tell its currency: the newest that does is kept beside it.
_DATASETS, _CURRENCY = "datasets", "currency"
#: From a standard industrial classification code: sector, industry, template.
Classify = Callable[[str | None], tuple[str, str | None, str]]
#: Fields that are put together by a rule of their own.
_SPECIAL = frozenset({"cik", "part", "listings"})
#: What a company is and where, which a past quarter's data set states of the company of that name.
_OF_ITS_NAME = frozenset({"sic", "sic_description", "country", "state_of_incorporation"})


class Part(msgspec.Struct, frozen=True):
    """What the newest payload of one kind said, and when it was fetched (unix seconds)."""

    record: CompanyRecord
    source: str
    fetched_at: int


def put_part(db: Database, record: CompanyRecord, source: str, fetched_at: int, sha256: str) -> bool:
    """
    Keep what one payload says of a company, where it is the newest of its kind by (`fetched_at`, `sha256`).

    Tickers of one that is not are kept as seen on its day. Returns whether anything was written: then the company wants
    `settle_company`.
    """
    written = _put(db, record, source, fetched_at, sha256)
    if record.part == _DATASETS and record.currency is not None:
        money = CompanyRecord(cik=record.cik, part=_CURRENCY, name=record.name, currency=record.currency)
        written |= _put(db, money, source, fetched_at, sha256)
    return written


def _put(db: Database, record: CompanyRecord, source: str, fetched_at: int, sha256: str) -> bool:
    body = msgspec.json.encode(record).decode()
    held = db.execute(
        "SELECT fetched_at, sha256, body FROM company_part WHERE entity = ? AND part = ?", (record.entity, record.part)
    ).fetchone()
    if held is not None:
        if (held[0], held[1], held[2]) == (fetched_at, sha256, body):
            return False
        if (held[0], held[1]) > (fetched_at, sha256):
            return record.part in LISTING and seen(db, record.entity, record.listings, source, fetched_at)
        if record.part in LISTING:
            before = msgspec.json.decode(held[2], type=CompanyRecord).listings
            still = {listing.ticker for listing in record.listings}
            seen(db, record.entity, [one for one in before if one.ticker not in still], source, held[0])
    db.execute(
        "INSERT INTO company_part VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(entity, part) DO UPDATE SET"
        " fetched_at = excluded.fetched_at, sha256 = excluded.sha256, source = excluded.source, body = excluded.body",
        (record.entity, record.part, fetched_at, sha256, source, body),
    )
    return True


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
        """Whether a place goes by this slug."""
        return slug in self._slugs


class _Place(msgspec.Struct):
    """What is read of the record of a place."""

    slug: str
    iso2: str | None = None


def settle_company(db: Database, entity: str, classify: Classify, places: Places | None = None) -> bool:
    """
    Put the parts of a company together: its row, its slug, its names. Returns whether anything served changed.

    `places`: those of the catalogue as they are in this transaction; None: to be read.

    Field by field the first of `PARTS` that speaks of it wins; listings are those of the newest payload that lists them.
    Industry and country come from a payload that calls the company by the name it has: what was stated of another name
    years ago does not stand beside the one of today. How its statements are read follows from any that states an industry.
    Companies that share a slug or a ticker are told apart anew with it. A company without parts is left alone.
    """
    parts = _parts(db, entity)
    if not parts:
        return False
    places = places or Places(db)
    claim = _claim(parts)
    record = _merged(parts, claim)
    row = _row(db, record, parts, classify, places)
    source, base = row["source"], row["base"]
    before = _read_row(db, entity, list(row))
    changed = before != row
    if before is None:
        _insert(db, entity, row)
    elif changed:
        db.execute(
            f"UPDATE company SET {', '.join(f'{name} = ?' for name in row)} WHERE entity = ?", (*row.values(), entity)
        )
    if before is not None and before["base"] != base:
        db.execute("UPDATE company SET slug = ? WHERE entity = ?", (_placeholder(entity), entity))
    for shared in {base, before["base"] if before is not None else base}:
        changed |= _tell_apart(db, shared, places)
    names = {part.record.name for kind, part in parts.items() if kind not in {_DATASETS, _CURRENCY}}
    changed |= aliases.put_names(db, entity, record, sorted(names), source)
    return contest(db, entity, claim, source, _claim_of) or changed


def unlike(db: Database, entity: str, classify: Classify, places: Places) -> list[tuple[str, Any, Any]]:
    """Return what the row of a company has otherwise than its parts give it: name of the column, what is there, and what they give."""
    parts = _parts(db, entity)
    if not parts:
        return []
    wanted = _row(db, _merged(parts, _claim(parts)), parts, classify, places)
    held = _read_row(db, entity, list(wanted)) or dict.fromkeys(wanted)
    return [(name, held[name], wanted[name]) for name in wanted if held[name] != wanted[name]]


def has_part(db: Database, entity: str, part: str) -> bool:
    """Whether a payload of that kind ever spoke of a company."""
    return db.execute("SELECT 1 FROM company_part WHERE entity = ? AND part = ?", (entity, part)).get is not None


def reports(db: Database, entity: str) -> bool:
    """Whether a company has a statement."""
    return db.execute("SELECT 1 FROM statement WHERE entity = ? LIMIT 1", (entity,)).get is not None


def mark_reports(db: Database, entity: str) -> bool:
    """Note on a company that it has statements, or has none any more, after they were written. Returns whether that is new."""
    found = int(reports(db, entity))
    return db.update("UPDATE company SET reports = ? WHERE entity = ? AND reports <> ?", (found, entity, found)) > 0


# -- putting together ---------------------------------------------------------------------------------------------------


def _parts(db: Database, entity: str) -> dict[str, Part]:
    found = db.execute("SELECT part, body, source, fetched_at FROM company_part WHERE entity = ?", (entity,))
    return {kind: Part(msgspec.json.decode(body, type=CompanyRecord), source, at) for kind, body, source, at in found}


def _claim_of(db: Database, entity: str) -> Claim:
    return _claim(_parts(db, entity))


def _claim(parts: Mapping[str, Part]) -> Claim:
    """One list of tickers comes without exchanges: another payload's word for the same ticker fills in."""
    claim = listed({kind: (part.record.listings, part.fetched_at) for kind, part in parts.items()})
    ranked = [parts[kind].record for kind in PARTS if kind in parts]
    known = {one.ticker: one.exchange for record in reversed(ranked) for one in record.listings if one.exchange}
    told = tuple(Listing(one.ticker, one.exchange or known.get(one.ticker)) for one in claim.listings)
    return replace(claim, listings=told)


def _merged(parts: Mapping[str, Part], claim: Claim) -> CompanyRecord:
    """One record from all parts."""
    ranked = [parts[kind].record for kind in PARTS if kind in parts]
    fields: dict[str, Any] = {}
    named = [record for record in ranked if normal(record.name) == normal(ranked[0].name)]
    for field in CompanyRecord.__struct_fields__:
        if field not in _SPECIAL:
            told = (getattr(record, field) for record in (named if field in _OF_ITS_NAME else ranked))
            fields[field] = next((value for value in told if value not in (None, ())), getattr(ranked[0], field))
    return CompanyRecord(cik=ranked[0].cik, part="", listings=claim.listings, **fields)


def _row(
    db: Database, record: CompanyRecord, parts: Mapping[str, Part], classify: Classify, places: Places
) -> dict[str, Any]:
    """Return a company's row but for its slug, and its ticker, which are told apart from others'."""
    sector, industry, _ = classify(record.sic)
    _, _, template = classify(next((sic for kind in PARTS if kind in parts and (sic := parts[kind].record.sic)), None))
    return {
        "cik": record.cik, "source": next(part.source for kind in PARTS if (part := parts.get(kind)) is not None),
        "base": slugify(record.name) or record.entity.replace("_", "-"), "name": record.name,
        "country": places.country(record.country),
        "currency": record.currency, "sector": sector, "industry": industry, "template": template,
        "reports": int(reports(db, record.entity)), "body": msgspec.json.encode(record).decode(),
    }  # fmt: skip


def _read_row(db: Database, entity: str, columns: Sequence[str]) -> dict[str, Any] | None:
    found = db.execute(f"SELECT {', '.join(columns)} FROM company WHERE entity = ?", (entity,)).fetchone()
    return None if found is None else dict(zip(columns, found, strict=True))


def _placeholder(entity: str) -> str:
    """Return a slug that no name makes: it holds a row's place until all that share its base are told apart."""
    return f"~{entity}"


def _insert(db: Database, entity: str, row: Mapping[str, Any]) -> None:
    columns = {"entity": entity, "slug": _placeholder(entity), **row}
    marks = ", ".join("?" * len(columns))
    db.execute(f"INSERT INTO company({', '.join(columns)}) VALUES({marks})", tuple(columns.values()))


# -- slugs ----------------------------------------------------------------------------------------------------------------


def _tell_apart(db: Database, base: str, places: Places) -> bool:
    """
    Give each company of one base its slug: the lowest CIK the bare one, the others with their CIK behind it.

    A base that a country has, or that ends like a slug with a CIK behind it, is nobody's bare slug.
    """
    held = list(db.execute("SELECT cik, entity, slug, source FROM company WHERE base = ? ORDER BY cik", (base,)))
    tail = base.rpartition("-")[2]
    # Behind a base stand at least four digits: `phillips-66` is no company of the base `phillips`.
    nobodys = (tail.isdigit() and (len(tail) > 3 or tail == base)) or places.has_slug(base)
    moved = []
    for place, (cik, entity, slug, source) in enumerate(held):
        wanted = base if place == 0 and not nobodys else f"{base}-{cik:04d}"
        if wanted != slug:
            moved.append((entity, wanted, source))
    # Those that lose the bare slug go first: it must be free for the one that gets it.
    for entity, slug, source in sorted(moved, key=lambda one: one[1] == base):
        db.execute("UPDATE company SET slug = ? WHERE entity = ?", (slug, entity))
        aliases.put_slug(db, entity, slug, source)
    return bool(moved)
