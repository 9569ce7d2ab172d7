-- What people watch and the screens they keep: names of things, never values. Times are unix seconds.

CREATE TABLE watched(
  n INTEGER PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK(kind IN ('series', 'company', 'indicator')), what TEXT NOT NULL, added INTEGER NOT NULL,
  UNIQUE(account_id, kind, what)) STRICT;

CREATE TABLE saved_screen(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  screener TEXT NOT NULL CHECK(screener IN ('macro', 'equity')),
  name TEXT NOT NULL, query TEXT NOT NULL, added INTEGER NOT NULL,
  UNIQUE(account_id, screener, query)) STRICT;
