-- The data database as schema 5 made it: kept as it was, so that a store of it can be made and brought to today's.
CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL, cause TEXT NOT NULL) STRICT;
CREATE TABLE run(
  run TEXT PRIMARY KEY, source TEXT NOT NULL, connector TEXT NOT NULL, connector_version INTEGER NOT NULL,
  started_at INTEGER NOT NULL, finished_at INTEGER, outcome TEXT) WITHOUT ROWID, STRICT;
CREATE TABLE payload(
  payload INTEGER PRIMARY KEY, capture TEXT NOT NULL UNIQUE, source TEXT NOT NULL, url TEXT NOT NULL,
  sha256 TEXT NOT NULL, media_type TEXT NOT NULL, bytes INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL, ingested_at INTEGER NOT NULL, run TEXT NOT NULL,
  state TEXT NOT NULL, reason TEXT) STRICT;
CREATE INDEX payload_source ON payload(source, state);
CREATE TABLE topic(
  topic INTEGER PRIMARY KEY, indicator TEXT NOT NULL, entity TEXT NOT NULL, frequency TEXT NOT NULL, kind TEXT NOT NULL,
  UNIQUE(indicator, entity, frequency)) STRICT;
CREATE INDEX topic_entity ON topic(entity, indicator, frequency);
CREATE TABLE series(
  series INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, topic INTEGER NOT NULL, source TEXT NOT NULL,
  spec TEXT NOT NULL,
  lineage INTEGER NOT NULL,
  exposure INTEGER NOT NULL, reason TEXT,
  folded_at INTEGER, folded_sha TEXT,
  rows INTEGER NOT NULL, vintages INTEGER NOT NULL, first_period INTEGER, last_period INTEGER,
  first_known INTEGER, last_known INTEGER,
  hash INTEGER NOT NULL) STRICT;
CREATE INDEX series_hash ON series(hash);
CREATE INDEX series_topic ON series(topic);
CREATE INDEX series_source ON series(source);
CREATE TABLE series_payload(series INTEGER NOT NULL, payload INTEGER NOT NULL, PRIMARY KEY(series, payload)) WITHOUT ROWID, STRICT;
CREATE TABLE lineage(lineage INTEGER PRIMARY KEY, inputs TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE vintages(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL, known_at INTEGER NOT NULL,
  from_version INTEGER NOT NULL, payload INTEGER NOT NULL, to_version INTEGER NOT NULL,
  value REAL, text TEXT, flags INTEGER NOT NULL, released_at INTEGER, ingested_at INTEGER NOT NULL,
  note TEXT, lineage INTEGER NOT NULL, hash INTEGER NOT NULL,
  PRIMARY KEY(topic, period, series, known_at, from_version, payload)) WITHOUT ROWID, STRICT;
CREATE INDEX vintages_hash ON vintages(hash);
CREATE INDEX vintages_known ON vintages(known_at);
CREATE INDEX vintages_end ON vintages((topic >> 3 & 15), (period >> 14));
CREATE TABLE change(
  topic INTEGER NOT NULL, version INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
  PRIMARY KEY(topic, version)) WITHOUT ROWID, STRICT;
CREATE INDEX change_version ON change(version);
CREATE TABLE current(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL,
  from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  known_at INTEGER NOT NULL, released_at INTEGER, ingested_at INTEGER NOT NULL,
  flags INTEGER NOT NULL, lineage INTEGER NOT NULL,
  marked BLOB NOT NULL,
  PRIMARY KEY(topic, period, series, from_version)) WITHOUT ROWID, STRICT;
CREATE INDEX current_known ON current(known_at);
CREATE INDEX current_end ON current((topic >> 3 & 15), (period >> 14));
CREATE INDEX current_ended ON current(to_version) WHERE to_version < 4611686018427387904;
CREATE TABLE record(kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(kind, id)) WITHOUT ROWID, STRICT;
CREATE TABLE preference(
  indicator TEXT NOT NULL, from_version INTEGER NOT NULL, sources TEXT NOT NULL,
  PRIMARY KEY(indicator, from_version)) WITHOUT ROWID, STRICT;
CREATE TABLE source_state(
  source TEXT PRIMARY KEY, last_attempt_at INTEGER, last_success_at INTEGER, last_ingested_at INTEGER,
  failures INTEGER NOT NULL, last_error TEXT,
  fetched_at INTEGER) WITHOUT ROWID, STRICT;
CREATE TABLE unmapped(
  source TEXT NOT NULL, native TEXT NOT NULL, rows INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  PRIMARY KEY(source, native)) WITHOUT ROWID, STRICT;
CREATE TABLE unread(
  source TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, met INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  PRIMARY KEY(source, kind, name)) WITHOUT ROWID, STRICT;
CREATE TABLE release_date(
  source TEXT NOT NULL, native TEXT NOT NULL, day INTEGER NOT NULL, known_at INTEGER NOT NULL, payload INTEGER NOT NULL,
  PRIMARY KEY(source, native, day)) WITHOUT ROWID, STRICT;
CREATE TABLE calendar_entry(
  source TEXT NOT NULL, native TEXT NOT NULL, uid TEXT NOT NULL, known_at INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL, sha256 TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(source, native, uid, known_at)) WITHOUT ROWID, STRICT;
CREATE TABLE company_part(
  entity TEXT NOT NULL, part TEXT NOT NULL, fetched_at INTEGER NOT NULL, sha256 TEXT NOT NULL, source TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(entity, part)) WITHOUT ROWID, STRICT;
CREATE TABLE company(
  entity TEXT PRIMARY KEY,
  cik INTEGER NOT NULL, source TEXT NOT NULL,
  base TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, ticker TEXT, exchange TEXT, country TEXT, currency TEXT,
  sector TEXT NOT NULL, industry TEXT,
  template TEXT NOT NULL,
  reports INTEGER NOT NULL,
  body TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE INDEX company_base ON company(base);
CREATE INDEX company_name ON company(name, entity);
CREATE INDEX company_country ON company(country);
CREATE TABLE alias(
  entity TEXT NOT NULL, scheme TEXT NOT NULL, alias TEXT NOT NULL, norm TEXT NOT NULL, main INTEGER NOT NULL,
  valid_from INTEGER, valid_to INTEGER, source TEXT,
  seen INTEGER) STRICT;
CREATE INDEX alias_norm ON alias(norm);
CREATE INDEX alias_entity ON alias(entity);
CREATE TABLE filing(
  entity TEXT NOT NULL, accession TEXT NOT NULL, form TEXT NOT NULL, filed INTEGER NOT NULL,
  known_at INTEGER NOT NULL,
  exact INTEGER NOT NULL,
  report_date INTEGER, fiscal_year INTEGER, fiscal_period TEXT, items TEXT NOT NULL, document TEXT, description TEXT,
  source TEXT NOT NULL, payload INTEGER NOT NULL,
  PRIMARY KEY(entity, accession)) WITHOUT ROWID, STRICT;
CREATE INDEX filing_known ON filing(entity, known_at);
CREATE TABLE statement(
  entity TEXT NOT NULL, kind INTEGER NOT NULL,
  frequency TEXT NOT NULL,
  period INTEGER NOT NULL,
  known_at INTEGER NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY(entity, kind, frequency, period, known_at, from_version)) WITHOUT ROWID, STRICT;
CREATE TABLE event(
  event TEXT NOT NULL, known_at INTEGER NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL, category TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL,
  source TEXT NOT NULL, entity TEXT, country TEXT, indicator TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY(event, known_at, from_version)) WITHOUT ROWID, STRICT;
CREATE INDEX event_time ON event(occurred_at, event);
CREATE INDEX event_entity ON event(entity, occurred_at);
CREATE INDEX event_category ON event(category, occurred_at, event);
CREATE INDEX event_source ON event(source, occurred_at, event);
CREATE INDEX event_country ON event(country, occurred_at, event) WHERE country IS NOT NULL;
CREATE INDEX event_indicator ON event(indicator, occurred_at, event) WHERE indicator IS NOT NULL;
CREATE INDEX event_status ON event(status, occurred_at, event) WHERE status <> 'released';
CREATE INDEX event_out ON event((occurred_at + iif(json_extract(body, '$.precision') = 'day', 86399, 0)), event)
  WHERE category = 'macro_release' AND status IN ('released', 'revised');
CREATE INDEX event_ahead ON event(occurred_at, event) WHERE known_at < occurred_at;
CREATE TABLE turn(
  source TEXT PRIMARY KEY, asked_at INTEGER, failures INTEGER NOT NULL, retry_at INTEGER,
  owner TEXT, expires_at INTEGER) WITHOUT ROWID, STRICT;
