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
  hash INTEGER NOT NULL) STRICT;             -- leads from an id, of the series or of a withheld row, to the series
CREATE INDEX series_hash ON series(hash);
CREATE INDEX series_topic ON series(topic);
CREATE INDEX series_source ON series(source);

CREATE TABLE series_payload(series INTEGER NOT NULL, payload INTEGER NOT NULL, PRIMARY KEY(series, payload)) WITHOUT ROWID, STRICT;

-- Sets of input series. A set is found by a digest of it: an index of the sets would be as large as they are.
CREATE TABLE lineage(lineage INTEGER PRIMARY KEY, digest INTEGER NOT NULL, inputs TEXT NOT NULL) STRICT;
CREATE INDEX lineage_digest ON lineage(digest);

-- What rows say beside their value, as a JSON object; many say the same.
CREATE TABLE note(note INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE vintages(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL, known_at INTEGER NOT NULL,
  from_version INTEGER NOT NULL, payload INTEGER NOT NULL, to_version INTEGER NOT NULL,
  value REAL, text TEXT, flags INTEGER NOT NULL, released_at INTEGER, ingested_at INTEGER NOT NULL,
  note INTEGER, lineage INTEGER NOT NULL, hash INTEGER NOT NULL,
  PRIMARY KEY(topic, period, series, known_at, from_version)) WITHOUT ROWID, STRICT;
CREATE INDEX vintages_hash ON vintages(hash);  -- leads from a row's id to the row (almanac.store.observations.id_hashes)
-- Lists by observedAt as of a past moment, and of rows known when they were released by releasedAt: in twice six parts,
-- by how many days after its period's end a row was known (almanac.store.observations.reading.lags). No row is looked at for it.
CREATE INDEX vintages_known ON vintages(
  (CASE WHEN released_at = known_at THEN 6 ELSE 0 END
    + CASE WHEN known_at / 86400 + 719163 - (period >> 14) < 0 THEN 0 WHEN known_at / 86400 + 719163 - (period >> 14) < 32 THEN 1
    WHEN known_at / 86400 + 719163 - (period >> 14) < 128 THEN 2 WHEN known_at / 86400 + 719163 - (period >> 14) < 512 THEN 3
    WHEN known_at / 86400 + 719163 - (period >> 14) < 2048 THEN 4 ELSE 5 END),
  known_at, topic, period, released_at);
-- The few that are not: released at one time, known at another; and those of periods of an odd length, by their first day
-- (almanac.store.observations.reading.walks).
CREATE INDEX vintages_late ON vintages(released_at) WHERE released_at <> known_at;
CREATE INDEX vintages_odd ON vintages((period >> 14) + (period & 16383) - 16382)
  WHERE (period & 16383) < 16383
    AND 16382 - (period & 16383) <> 0
    AND 16382 - (period & 16383) <> 6
    AND 16382 - (period & 16383) NOT BETWEEN 27 AND 30
    AND 16382 - (period & 16383) NOT BETWEEN 88 AND 91
    AND 16382 - (period & 16383) <> 97
    AND 16382 - (period & 16383) NOT BETWEEN 180 AND 183
    AND 16382 - (period & 16383) NOT BETWEEN 272 AND 274
    AND 16382 - (period & 16383) <> 279
    AND 16382 - (period & 16383) NOT BETWEEN 363 AND 365
    AND 16382 - (period & 16383) <> 370;
-- Lists by periodEnd as of a past moment, in sixteen parts, each in order (almanac.store.observations.reading.lists).
CREATE INDEX vintages_end ON vintages((topic >> 3 & 15), (period >> 14));

-- Where cells changed: for each topic and data version the span of their periods. High 4611686018427387904 (WHOLE): all cells of
-- the topic, whose rights, unit or lineage are others (almanac.store.observations.writing.dependents). Never dropped: changes of any age are asked for.
CREATE TABLE change(
  topic INTEGER NOT NULL, version INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
  PRIMARY KEY(topic, version)) WITHOUT ROWID, STRICT;
CREATE INDEX change_version ON change(version);

-- What was ever taken in when: for each moment and topic the span of the periods. And topics with a vintage that lacks
-- a release or a first day (`what`). Both may say more than is left, never less: lists by ingestedAt, releasedAt and
-- periodStart are found by them.
CREATE TABLE ingested(
  at INTEGER NOT NULL, topic INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
  PRIMARY KEY(at, topic)) WITHOUT ROWID, STRICT;
CREATE TABLE lacking(what TEXT NOT NULL, topic INTEGER NOT NULL, PRIMARY KEY(what, topic)) WITHOUT ROWID, STRICT;
-- The same of all vintages of a kind, frequency and source, of companies or not, known when released (at_once) or not: how many
-- there ever were, between which periods, the first day of any, by how many days at most a period ended after its vintage was
-- known, when the first and the last was, and how many days periods that are no instants have between first and last.
CREATE TABLE extent(
  kind TEXT NOT NULL, frequency TEXT NOT NULL, company INTEGER NOT NULL, source TEXT NOT NULL, at_once INTEGER NOT NULL,
  low INTEGER NOT NULL, high INTEGER NOT NULL, vintages INTEGER NOT NULL,
  first_day INTEGER NOT NULL, ahead INTEGER NOT NULL, first_known INTEGER NOT NULL, last_known INTEGER NOT NULL,
  shortest INTEGER NOT NULL, longest INTEGER NOT NULL,
  PRIMARY KEY(kind, frequency, company, source, at_once)) WITHOUT ROWID, STRICT;

-- The latest vintage of each cell, already written for the wire as marked text (almanac.domain.fragments).
-- Companies have no rows here: their cells are many, seldom asked for one by one, and nearly all have one vintage, so
-- what they serve is read from the vintages (almanac.store.observations.reading.states).
CREATE TABLE current(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL,
  from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
  known_at INTEGER NOT NULL, released_at INTEGER, ingested_at INTEGER NOT NULL,
  flags INTEGER NOT NULL, lineage INTEGER NOT NULL,
  marked BLOB NOT NULL,
  PRIMARY KEY(topic, period, series, from_version)) WITHOUT ROWID, STRICT;
CREATE INDEX current_known ON current(
  (CASE WHEN released_at = known_at THEN 6 ELSE 0 END
    + CASE WHEN known_at / 86400 + 719163 - (period >> 14) < 0 THEN 0 WHEN known_at / 86400 + 719163 - (period >> 14) < 32 THEN 1
    WHEN known_at / 86400 + 719163 - (period >> 14) < 128 THEN 2 WHEN known_at / 86400 + 719163 - (period >> 14) < 512 THEN 3
    WHEN known_at / 86400 + 719163 - (period >> 14) < 2048 THEN 4 ELSE 5 END),
  known_at, topic, period, released_at);
CREATE INDEX current_late ON current(released_at) WHERE released_at <> known_at;
CREATE INDEX current_odd ON current((period >> 14) + (period & 16383) - 16382)
  WHERE (period & 16383) < 16383
    AND 16382 - (period & 16383) <> 0
    AND 16382 - (period & 16383) <> 6
    AND 16382 - (period & 16383) NOT BETWEEN 27 AND 30
    AND 16382 - (period & 16383) NOT BETWEEN 88 AND 91
    AND 16382 - (period & 16383) <> 97
    AND 16382 - (period & 16383) NOT BETWEEN 180 AND 183
    AND 16382 - (period & 16383) NOT BETWEEN 272 AND 274
    AND 16382 - (period & 16383) <> 279
    AND 16382 - (period & 16383) NOT BETWEEN 363 AND 365
    AND 16382 - (period & 16383) <> 370;
CREATE INDEX current_end ON current((topic >> 3 & 15), (period >> 14));
CREATE INDEX current_ended ON current(to_version) WHERE to_version < 2147483647;

-- Of the same topics the open vintages that a later one of their cell took the place of, written likewise: each was what was
-- known from `known_at` until just before `until`. With `current`, what a past day is read from at the newest data version.
CREATE TABLE superseded(
  topic INTEGER NOT NULL, period INTEGER NOT NULL, series INTEGER NOT NULL,
  known_at INTEGER NOT NULL, until INTEGER NOT NULL, lineage INTEGER NOT NULL,
  marked BLOB NOT NULL,
  PRIMARY KEY(topic, period, series, known_at)) WITHOUT ROWID, STRICT;

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
