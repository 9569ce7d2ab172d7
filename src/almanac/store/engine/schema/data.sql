-- The data database. Everything in it can be rebuilt from the raw store and the catalogue.
-- Times are unix seconds; text compares by bytes; a period is one integer (almanac.domain.periods).

CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID, STRICT;

-- One row for each committed write that may change what is served.
CREATE TABLE version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL, cause TEXT NOT NULL) STRICT;

CREATE TABLE run(
  run TEXT PRIMARY KEY, source TEXT NOT NULL, connector TEXT NOT NULL, connector_version INTEGER NOT NULL,
  started_at INTEGER NOT NULL, finished_at INTEGER, outcome TEXT) WITHOUT ROWID, STRICT;

-- Every kept response, in whatever state it ended: folded, quarantined, ignored.
CREATE TABLE payload(
  payload INTEGER PRIMARY KEY, capture TEXT NOT NULL UNIQUE, source TEXT NOT NULL, url TEXT NOT NULL,
  sha256 TEXT NOT NULL, media_type TEXT NOT NULL, bytes INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL, ingested_at INTEGER NOT NULL, run TEXT NOT NULL,
  state TEXT NOT NULL, reason TEXT) STRICT;
CREATE INDEX payload_source ON payload(source, state);

-- (indicator, entity, frequency): what sources compete for. The unique index is the default order of every list.
CREATE TABLE topic(
  topic INTEGER PRIMARY KEY, indicator TEXT NOT NULL, entity TEXT NOT NULL, frequency TEXT NOT NULL, kind TEXT NOT NULL,
  UNIQUE(indicator, entity, frequency)) STRICT;
CREATE INDEX topic_entity ON topic(entity, indicator, frequency);
-- The same order without companies, whose topics are the most by far: lists of all else need not pass them over.
CREATE INDEX topic_countries ON topic(indicator, entity, frequency) WHERE entity NOT BETWEEN 'company_' AND 'company_~';

-- What series are, but for whose: written once for all those that differ in nothing else.
CREATE TABLE spec(
  spec INTEGER PRIMARY KEY, native TEXT NOT NULL, variant TEXT, unit TEXT, exposure INTEGER NOT NULL,
  judged_otherwise INTEGER NOT NULL,         -- 1: fresh or stale not by frequency and newest period alone
  digest INTEGER NOT NULL,
  body TEXT NOT NULL) STRICT;                -- SeriesSpec as JSON, without its entity
CREATE INDEX spec_digest ON spec(digest);

CREATE TABLE series(
  series INTEGER PRIMARY KEY, id TEXT NOT NULL, topic INTEGER NOT NULL, source TEXT NOT NULL,
  spec INTEGER NOT NULL,
  lineage INTEGER NOT NULL,                 -- set of input series all rows share; 0: raw, or lineage per row
  exposure INTEGER NOT NULL, reason TEXT,   -- tightened by the feed's own metadata
  folded INTEGER,                           -- the newest payload folded in: an older one means replay
  rows INTEGER NOT NULL, vintages INTEGER NOT NULL, first_period INTEGER, last_period INTEGER,
  first_known INTEGER, last_known INTEGER,
  checksum INTEGER NOT NULL,                -- the sum of those of its open vintages (almanac.domain.observations.checksum)
  hash INTEGER NOT NULL) STRICT;             -- leads from an id, of the series or of a row, to the series
CREATE INDEX series_hash ON series(hash);
CREATE INDEX series_topic ON series(topic);
CREATE INDEX series_source ON series(source);

-- Which payload spoke of which series; `updated`: of which state of the data, where it says so.
CREATE TABLE series_payload(
  series INTEGER NOT NULL, payload INTEGER NOT NULL, updated INTEGER, PRIMARY KEY(series, payload)) WITHOUT ROWID, STRICT;

-- Sets of input series. A set is found by a digest of it: an index of the sets would be as large as they are.
CREATE TABLE lineage(lineage INTEGER PRIMARY KEY, digest INTEGER NOT NULL, inputs TEXT NOT NULL) STRICT;
CREATE INDEX lineage_digest ON lineage(digest);

-- What rows say beside their value, as a JSON object; many say the same.
CREATE TABLE note(note INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE) STRICT;

-- The truth, and all of it: one row for each published state of each cell of a series. It stood from `known_at` until just
-- before `until`, when the next one was known (NULL: there is none), as the data versions from `from_version` until just
-- before `to_version` have it. One that gets another successor is closed, and written again.
CREATE TABLE vintages(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL, known_at INTEGER NOT NULL, until INTEGER,
  from_version INTEGER NOT NULL, payload INTEGER NOT NULL, to_version INTEGER NOT NULL,
  value REAL, text TEXT, flags INTEGER NOT NULL, released_at INTEGER, ingested_at INTEGER NOT NULL,
  note INTEGER, lineage INTEGER NOT NULL,
  PRIMARY KEY(topic, period, series, known_at, from_version)) WITHOUT ROWID, STRICT;

-- Where cells changed: for each topic and data version the span of their periods. High 4611686018427387904 (WHOLE): all cells of
-- the topic, whose rights, unit or lineage are others (almanac.store.observations.writing.dependents). Never dropped: changes of any age are asked for.
CREATE TABLE change(
  topic INTEGER NOT NULL, version INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
  PRIMARY KEY(topic, version)) WITHOUT ROWID, STRICT;
CREATE INDEX change_version ON change(version);

-- Reference records as JSON, written from the catalogue; and what belongs to a data version.
CREATE TABLE record(kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(kind, id)) WITHOUT ROWID, STRICT;
CREATE TABLE preference(
  indicator TEXT NOT NULL, from_version INTEGER NOT NULL, sources TEXT NOT NULL,
  PRIMARY KEY(indicator, from_version)) WITHOUT ROWID, STRICT;

CREATE TABLE source_state(
  source TEXT PRIMARY KEY, last_attempt_at INTEGER, last_success_at INTEGER, last_ingested_at INTEGER,
  failures INTEGER NOT NULL, last_error TEXT,
  fetched_at INTEGER) WITHOUT ROWID, STRICT;  -- of the newest answer, kept or the same as before
CREATE TABLE unmapped(
  source TEXT NOT NULL, native TEXT NOT NULL, rows INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  PRIMARY KEY(source, native)) WITHOUT ROWID, STRICT;
-- Names met that nobody knows (`unknown`), and mapped series that a response should have had (`missing`).
CREATE TABLE unread(
  source TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, met INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  PRIMARY KEY(source, kind, name)) WITHOUT ROWID, STRICT;
CREATE TABLE release_date(
  source TEXT NOT NULL, native TEXT NOT NULL, day INTEGER NOT NULL, known_at INTEGER NOT NULL, payload INTEGER NOT NULL,
  PRIMARY KEY(source, native, day)) WITHOUT ROWID, STRICT;
-- What each payload of a calendar said of each entry: a move is only seen beside what was said before.
CREATE TABLE calendar_entry(
  source TEXT NOT NULL, native TEXT NOT NULL, uid TEXT NOT NULL, known_at INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL, sha256 TEXT NOT NULL,
  body TEXT NOT NULL,                       -- domain.releases.ReleaseCalendarEntry as JSON
  PRIMARY KEY(source, native, uid, known_at)) WITHOUT ROWID, STRICT;
