-- Who asks which publisher now, and when each is asked next. No payload tells it, so a rebuild keeps it.
-- `asked_at` and `retry_at` are the data's clock; `expires_at`, the end of the owner's lease, is real time.
CREATE TABLE turn(
  source TEXT PRIMARY KEY, asked_at INTEGER, failures INTEGER NOT NULL, retry_at INTEGER,
  owner TEXT, expires_at INTEGER) WITHOUT ROWID, STRICT;
