-- What the store holds of companies beside their numbers, which are vintages like all others. Rebuilt from raw payloads.
-- Days are ordinals (date.toordinal()), instants unix seconds.

-- What each kind of payload said last of a company itself; `company` is put together from these.
CREATE TABLE company_part(
  entity TEXT NOT NULL, part TEXT NOT NULL, fetched_at INTEGER NOT NULL, sha256 TEXT NOT NULL, source TEXT NOT NULL,
  body TEXT NOT NULL,                        -- domain.companies.CompanyRecord as JSON
  PRIMARY KEY(entity, part)) WITHOUT ROWID, STRICT;

CREATE TABLE company(
  entity TEXT PRIMARY KEY,                   -- company_0000320193
  cik INTEGER NOT NULL, source TEXT NOT NULL,
  base TEXT NOT NULL,                        -- the name as a slug, before others of that name are told apart
  slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, ticker TEXT, exchange TEXT, country TEXT, currency TEXT,
  sector TEXT NOT NULL, industry TEXT,       -- today's: the regulator's code is not dated
  template TEXT NOT NULL,                    -- industrial, bank, broker, manager, insurer, reit, fund: which items and scores apply
  reports INTEGER NOT NULL,                  -- 1: has statements
  body TEXT NOT NULL) WITHOUT ROWID, STRICT; -- domain.companies.CompanyRecord as JSON, parts put together
CREATE INDEX company_base ON company(base);
CREATE INDEX company_name ON company(name, entity);
CREATE INDEX company_country ON company(country);

-- Names of entities that are no records of the catalogue. `norm` is what a look-up compares (domain.names.normal).
CREATE TABLE alias(
  entity TEXT NOT NULL, scheme TEXT NOT NULL, alias TEXT NOT NULL, norm TEXT NOT NULL, main INTEGER NOT NULL,
  valid_from INTEGER, valid_to INTEGER, source TEXT,
  seen INTEGER) STRICT;                      -- of a ticker: the last day on which a list had it
CREATE INDEX alias_norm ON alias(norm);
CREATE INDEX alias_entity ON alias(entity);

CREATE TABLE filing(
  entity TEXT NOT NULL, accession TEXT NOT NULL, form TEXT NOT NULL, filed INTEGER NOT NULL,
  known_at INTEGER NOT NULL,                 -- when the public could read it; the end of the filing day where only that is known
  exact INTEGER NOT NULL,                    -- 1: from the acceptance time
  report_date INTEGER, fiscal_year INTEGER, fiscal_period TEXT, items TEXT NOT NULL, document TEXT, description TEXT,
  source TEXT NOT NULL, payload INTEGER NOT NULL,
  PRIMARY KEY(entity, known_at, accession)) WITHOUT ROWID, STRICT;  -- a company has an accession once

-- Statements as they stood after each filing that changed one: rendered and packed once, when written
-- (almanac.store.companies.statements).
CREATE TABLE statement(
  entity TEXT NOT NULL, kind INTEGER NOT NULL,       -- 0 income, 1 balance, 2 cash flow
  frequency TEXT NOT NULL,                           -- A, Q or S
  period INTEGER NOT NULL,                           -- key, as everywhere
  known_at INTEGER NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  body BLOB NOT NULL,                                -- the statement as JSON, zstd; empty: there is none any more
  PRIMARY KEY(entity, kind, frequency, period, known_at, from_version)) WITHOUT ROWID, STRICT;

-- Official events and their states. The id never depends on the date, so a move is a new state, not a new event.
CREATE TABLE event(
  event TEXT NOT NULL, known_at INTEGER NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL, category TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL,
  source TEXT NOT NULL, entity TEXT, country TEXT, indicator TEXT, period TEXT,
  body BLOB NOT NULL,                                -- the rest of the record as JSON (almanac.store.events.events)
  PRIMARY KEY(event, known_at, from_version)) WITHOUT ROWID, STRICT;
CREATE INDEX event_time ON event(occurred_at, event);
CREATE INDEX event_entity ON event(entity, occurred_at);
CREATE INDEX event_category ON event(category, occurred_at, event);
CREATE INDEX event_source ON event(source, occurred_at, event);
CREATE INDEX event_country ON event(country, occurred_at, event) WHERE country IS NOT NULL;
CREATE INDEX event_indicator ON event(indicator, occurred_at, event) WHERE indicator IS NOT NULL;
CREATE INDEX event_status ON event(status, occurred_at, event) WHERE status <> 'released';
-- Releases that are out, by when they were: of a day the last second (almanac.store.events.releases).
CREATE INDEX event_out ON event(occurred_at, event)
  WHERE category = 'macro_release' AND status IN ('released', 'revised');
CREATE INDEX event_ahead ON event(occurred_at, event) WHERE known_at < occurred_at;  -- announced before they happen
