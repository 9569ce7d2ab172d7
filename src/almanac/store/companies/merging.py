"""
The register of companies: what payloads say of each, put together into the record and the names that are served.

Payloads arrive in any order; what is stored after all of them is the same. A payload that says nothing new of a company
changes nothing but the time of its part.

A list of tickers says who has them when it is fetched, not since when. So a ticker that is listed today has no dates, and
one that no longer is ended with the day it was last seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import CompanyRecord, Listing
from almanac.domain.names import normal, slugify
from almanac.domain.times import day_at
from almanac.store.companies.rows import AliasRow, Company
from almanac.store.engine.protocol import Database

#: Which kind of payload is believed where several speak of one field.
PARTS = ("submissions", "facts", "tickers", "datasets", "currency")
#: Kinds of payload that list tickers. Submissions always do: an empty list there is the end of all listings.
_LISTING = ("submissions", "tickers")
#: A data set that has no amount of a company's own does not state its currency: the newest that does is kept beside it.
_DATASETS, _CURRENCY = "datasets", "currency"
#: From a standard industrial classification code: sector, industry, template.
Classify = Callable[[str | None], tuple[str, str | None, str]]
#: Fields that are put together by a rule of their own.
_SPECIAL = frozenset({"cik", "part", "listings"})
#: What a company is and where, which a past quarter's data set states of the company of that name.
_OF_ITS_NAME = frozenset({"sic", "sic_description", "country", "state_of_incorporation"})


class Part(msgspec.Struct, frozen=True):
    """The record of the newest payload of one kind, its source, and when it was fetched (unix seconds)."""

    record: CompanyRecord
    source: str
    fetched_at: int
    sha256: str


#: A company of which anything served changed: what it was before (None: it is new) and what it is now.
Changed = tuple[Company | None, Company]
#: A company's parts by kind.
Parts = Mapping[str, Part]


class Claim(NamedTuple):
    """The tickers of a company's newest list, the main one first, and when that was fetched (unix seconds)."""

    listings: tuple[Listing, ...] = ()
    at: int = 0
    #: Ticker → moment, of the older list.
    older: Mapping[str, int] = {}

    @property
    def by_norm(self) -> dict[str, Listing]:
        """Return the listings by the normal form of their tickers, the first of each, in their order."""
        listings: dict[str, Listing] = {}
        for listing in self.listings:
            listings.setdefault(normal(listing.ticker, "ticker"), listing)
        return listings


class Summary(NamedTuple):
    """The merged parts of a company, as far as rows of other tables follow from them."""

    record: CompanyRecord
    claim: Claim
    names: frozenset[AliasRow]
    source: str
    #: The industry by which its statements are read: that of any payload that states one.
    sic: str | None


class Places(NamedTuple):
    """Countries of the catalogue by their ISO-2 codes, and the slugs of all places."""

    countries: Mapping[str, str]
    slugs: frozenset[str]


class _Place(msgspec.Struct):
    """What is read of the record of a place."""

    slug: str
    iso2: str | None = None


def places_of(db: Database) -> Places:
    """Return the places of the catalogue: read once for many companies."""
    rows = db.execute("SELECT id, body FROM record WHERE kind = 'entity' ORDER BY id DESC")
    places = {entity: msgspec.json.decode(body, type=_Place) for entity, body in rows}
    countries = {place.iso2: entity for entity, place in places.items() if place.iso2 is not None}
    return Places(countries, frozenset(place.slug for place in places.values()))


def put_records(
    db: Database,
    records: Iterable[CompanyRecord],
    source: str,
    fetched_at: int,
    sha256: str,
    classify: Classify,
) -> dict[str, Changed]:
    """
    Enter what one payload says of companies, and return those of which anything served changed.

    A record counts where it is the newest of its kind by (`fetched_at`, `sha256`). Tickers of one that is not were seen on
    its day.

    Field by field the first of `PARTS` that speaks of it wins; listings are those of the newest payload that lists them.
    Industry and country come from a payload that calls the company by the name it has: what was stated of another name
    years ago does not stand beside the one of today. How its statements are read follows from any that states an industry.
    Companies that share a slug or a ticker are told apart anew with it.
    """
    listed = [each for record in records for each in _with_currency(record)]
    stored = _parts(db, {record.entity for record in listed})
    parts = {entity: dict(stored[entity]) for entity in dict.fromkeys(record.entity for record in listed)}
    seen: dict[str, dict[str, int]] = defaultdict(dict)
    for record in listed:
        of_company, part = parts[record.entity], Part(record, source, fetched_at, sha256)
        known = of_company.get(record.part, part)
        older, newest = sorted((known, part), key=attrgetter("fetched_at", "sha256"))
        of_company[record.part] = newest
        if record.part in _LISTING and older is not newest:
            moments = seen[record.entity]
            for listing in older.record.listings:
                moments[listing.ticker] = max(moments.get(listing.ticker, 0), older.fetched_at)
    written = [
        (entity, kind, part.fetched_at, part.sha256, part.source, msgspec.json.encode(part.record).decode())
        for entity, of_company in parts.items()
        for kind, part in of_company.items()
        if stored[entity].get(kind) != part
    ]
    if written:
        db.executemany(_PUT_PART, written)
    changed = {}
    for entity, of_company in parts.items():
        summary = _summary(of_company)
        if not stored[entity] or seen[entity] or summary != _summary(stored[entity]):
            changed[entity] = summary
    return _settle(db, changed, seen, classify, places_of(db)) if changed else {}


def _with_currency(record: CompanyRecord) -> list[CompanyRecord]:
    if record.part != _DATASETS or record.currency is None:
        return [record]
    return [record, CompanyRecord(cik=record.cik, part=_CURRENCY, name=record.name, currency=record.currency)]


def _settle(
    db: Database,
    companies: Mapping[str, Summary],
    seen: Mapping[str, Mapping[str, int]],
    classify: Classify,
    places: Places,
) -> dict[str, Changed]:
    """
    Write the rows and names of companies by what their parts say together. Returns all of which anything served changed.

    Written anew are also companies that share a slug with one of them, and all that list a ticker which one of them lists
    or listed: of several the one whose list is newest has it, the others had it until the day of theirs.
    """
    stored = _rows(db, "entity", companies)
    rows = {entity: _row(summary, stored.get(entity), classify, places) for entity, summary in companies.items()}
    stored |= _rows(db, "base", {row.base for row in (*stored.values(), *rows.values())})
    rows = {**stored, **rows}
    slugs = _tell_apart(rows.values(), places)

    claims = {entity: summary.claim for entity, summary in companies.items()}
    before = _aliases(db, "entity", {*slugs, *claims})
    norms = {row.norm for row in before if row.scheme == "ticker" and row.entity in claims}
    for entity, claim in claims.items():
        norms.update(claim.by_norm, (normal(ticker, "ticker") for ticker in (*claim.older, *seen.get(entity, ()))))
    rivals = {row.entity for row in _aliases(db, "norm", norms) if row.scheme == "ticker"} - claims.keys()
    before |= _aliases(db, "entity", rivals)
    claims |= {entity: _claim(parts) for entity, parts in _parts(db, rivals).items()}
    stored |= _rows(db, "entity", rivals - rows.keys())
    rows = {**stored, **rows}

    newest: dict[str, int] = defaultdict(int)
    for claim in claims.values():
        for norm in norms.intersection(claim.by_norm):
            newest[norm] = max(newest[norm], claim.at)
    aliases: dict[str, dict[str, AliasRow]] = defaultdict(dict)
    for alias in before:
        if alias.scheme == "ticker":
            aliases[alias.entity][alias.norm] = alias
    replaced = {"slug": slugs.keys(), "ticker": claims.keys()}
    after = {row for row in before if row.entity not in replaced.get(row.scheme, companies.keys())}
    after.update(*(summary.names for summary in companies.values()))
    for entity, claim in claims.items():
        tickers, main = _tickers(rows[entity], claim, aliases[entity], seen.get(entity, {}), newest)
        after.update(tickers)
        rows[entity] = rows[entity]._replace(
            ticker=None if main is None else main.ticker, exchange=None if main is None else main.exchange
        )
    for entity, slug in slugs.items():
        rows[entity] = rows[entity]._replace(slug=slug)
        after.add(AliasRow(entity, "slug", slug, slug, 1, source=rows[entity].source))
    _write_rows(db, stored, rows)
    _write_aliases(db, before, after)
    moved = {entity for entity, row in rows.items() if stored.get(entity) != row}
    moved |= {row[0] for row in {row[:7] for row in before} ^ {row[:7] for row in after}}
    return {entity: (stored.get(entity), row) for entity, row in rows.items() if entity in moved}


def _tickers(
    company: Company,
    claim: Claim,
    stored: Mapping[str, AliasRow],
    seen: Mapping[str, int],
    newest: Mapping[str, int],
) -> tuple[list[AliasRow], Listing | None]:
    """
    Return the tickers that a company has or had, and its main listing of today.

    Stored tickers are `stored`; other lists named some at a moment (`seen`). `newest` says of contested ones when the newest
    list that has it was fetched.
    """
    rows = dict(stored)
    listed = [(listing.ticker, claim.at) for listing in claim.listings]
    for ticker, at in [*claim.older.items(), *seen.items(), *listed]:
        norm, day = normal(ticker, "ticker"), day_at(at)
        row = rows.get(norm) or AliasRow(company.entity, "ticker", ticker, norm, 0, source=company.source, seen=day)
        rows[norm] = row._replace(seen=max(row.seen or day, day))
    by_norm = claim.by_norm
    for ticker, _ in listed:
        norm = normal(ticker, "ticker")
        last = rows[norm].valid_to
        if norm in newest:
            last = None if claim.at == newest[norm] else day_at(claim.at)
        rows[norm] = rows[norm]._replace(alias=ticker, source=company.source, valid_to=last)
    main = next((norm for norm in by_norm if rows[norm].valid_to is None), None)
    return [
        row._replace(main=int(norm == main), valid_to=row.valid_to if norm in by_norm else row.seen)
        for norm, row in rows.items()
    ], None if main is None else by_norm[main]


def unlike(db: Database, entity: str, classify: Classify, places: Places) -> list[tuple[str, Any, Any]]:
    """Return what the row of a company has otherwise than its parts give it: name of the column, what is there, and what they give."""
    parts, held = _parts(db, [entity])[entity], _rows(db, "entity", [entity]).get(entity)
    if not parts or held is None:
        return []
    wanted = _row(_summary(parts), held, classify, places)._replace(reports=int(reports(db, entity)))
    compared = zip(Company._fields, held, wanted, strict=True)
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


def _claim(parts: Parts) -> Claim:
    """
    Return the tickers a company claims. Of two lists the newer one counts; fetched in one second, the submissions: they know
    the exchanges. The other list comes without exchanges: another payload's word for the same ticker fills in.
    """
    lists = [parts[kind] for kind in _LISTING if kind in parts and (parts[kind].record.listings or kind == _LISTING[0])]
    if not lists:
        return Claim()
    newest, *others = sorted(lists, key=attrgetter("fetched_at"), reverse=True)
    ranked = [parts[kind].record for kind in PARTS if kind in parts]
    known = {each.ticker: each.exchange for record in reversed(ranked) for each in record.listings if each.exchange}
    listings = tuple(Listing(each.ticker, each.exchange or known.get(each.ticker)) for each in newest.record.listings)
    older = {each.ticker: part.fetched_at for part in others for each in part.record.listings}
    return Claim(listings, newest.fetched_at, older)


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
    names = _names(record, spelled, ranked[0].source)
    return Summary(record, claim, names, ranked[0].source, next((each.sic for each in records if each.sic), None))


def _names(record: CompanyRecord, spelled: Iterable[str], source: str) -> frozenset[AliasRow]:
    """
    Return the names of a company that follow from what it is called: not its tickers and slug, which are contested.

    A former name has the days the regulator states; so has the name of today, where the list of former ones holds it too.
    `spelled`: its name as each kind of payload spells it.
    """
    today = normal(record.name)
    formers = [(former.name, _day(former.from_), _day(former.to)) for former in record.former_names]
    began = min((day for name, day, _ in formers if day is not None and normal(name) == today), default=None)
    others = [name for name in (record.legal_name, *spelled) if name is not None and name != record.name]
    listed: list[tuple[str, str, int, int | None, int | None]] = [
        ("name", record.name, 1, began, None),
        *(("name", name, 0, began if normal(name) == today else None, None) for name in others),
        *(("former_name", name, 0, first, last) for name, first, last in formers if name != record.name),
        ("cik", f"{record.cik:010d}", 1, None, None),
        ("lei", record.lei or "", 1, None, None),
    ]
    aliases: dict[tuple[str, str, int | None], AliasRow] = {}
    for scheme, alias, main, first, last in listed:
        if norm := normal(alias, scheme):
            row = AliasRow(record.entity, scheme, alias, norm, main, first, last, source)
            aliases.setdefault((scheme, alias, first), row)
    return frozenset(aliases.values())


def _day(text: str | None) -> int | None:
    """Return the ordinal of a day `YYYY-MM-DD`, whatever follows it."""
    return None if text is None else date.fromisoformat(text[:10]).toordinal()


def _row(summary: Summary, held: Company | None, classify: Classify, places: Places) -> Company:
    """Return a company's row as its parts give it. What is told apart from others', and whether it reports, is as it was."""
    record = summary.record
    sector, industry, _ = classify(record.sic)
    _, _, template = classify(summary.sic)
    base = slugify(record.name) or record.entity.replace("_", "-")
    body = msgspec.json.encode(record).decode()
    slug, ticker, exchange, reporting = "", None, None, 0
    if held is not None:
        slug, ticker, exchange, reporting = held.slug, held.ticker, held.exchange, held.reports
    return Company(
        record.entity, record.cik, summary.source, base, slug, record.name, ticker, exchange,
        places.countries.get((record.country or "").upper()), record.currency, sector, industry, template, reporting, body,
    )  # fmt: skip


def _rows(db: Database, column: str, values: Iterable[str]) -> dict[str, Company]:
    """Return the rows of companies whose column, `entity` or `base`, has one of these values."""
    sql = f"SELECT x.{', x.'.join(Company._fields)} FROM {{keys}}company x WHERE x.{column} = k.column1"
    return {row[0]: Company._make(row) for row in db.seek(sql, [(value,) for value in sorted(values)])}


def _aliases(db: Database, column: str, values: Iterable[str]) -> set[AliasRow]:
    """Return the names whose column, `entity` or `norm`, has one of these values."""
    sql = f"SELECT x.{', x.'.join(AliasRow._fields)} FROM {{keys}}alias x WHERE x.{column} = k.column1"
    return set(map(AliasRow._make, db.seek(sql, [(value,) for value in sorted(values)])))


def _write_aliases(db: Database, before: set[AliasRow], after: set[AliasRow]) -> None:
    """Write the difference between the stored names and those that shall be."""
    gone = sorted((row.norm, row.entity, row.scheme, row.alias, row.valid_from) for row in before - after)
    if gone:
        # Found by what is compared, which few have; by the company there may be thousands of tickers.
        db.executemany(
            "DELETE FROM alias WHERE norm = ? AND entity || '' = ? AND scheme = ? AND alias = ?"
            " AND valid_from IS NOT DISTINCT FROM ?",
            gone,
        )
    db.insert("alias", sorted(after - before, key=repr))


def _write_rows(db: Database, stored: Mapping[str, Company], rows: Mapping[str, Company]) -> None:
    """Write the rows that differ. A slug must be free before another company gets it, so they all go first."""
    changed = [row for entity, row in rows.items() if stored.get(entity) != row]
    if replaced := [(row.entity,) for row in changed if row.entity in stored]:
        db.executemany("DELETE FROM company WHERE entity = ?", replaced)
    db.insert("company", changed)


def _tell_apart(rows: Iterable[Company], places: Places) -> dict[str, str]:
    """
    Return the slugs of companies that get another one. All companies that share a base are among the rows.

    Of these the lowest CIK has the bare base, the others have their CIK behind it. A base that a country has, or that ends
    like a slug with a CIK behind it, is nobody's bare slug.
    """
    sharing: dict[str, list[Company]] = defaultdict(list)
    for row in rows:
        sharing[row.base].append(row)
    moved = {}
    for base, several in sharing.items():
        tail = base.rpartition("-")[2]
        # Behind a base stand at least four digits: `phillips-66` is no company of the base `phillips`.
        nobodys = (tail.isdigit() and (len(tail) > 3 or tail == base)) or base in places.slugs
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
