-- Who asks which publisher now, and when each is asked next. No payload tells it, so a rebuild keeps it.
-- `asked_at` and `retry_at` are the data's clock; `expires_at`, the end of the owner's lease, is real time.
CREATE TABLE turn(
  source TEXT PRIMARY KEY, asked_at INTEGER, failures INTEGER NOT NULL, retry_at INTEGER,
  owner TEXT, expires_at INTEGER) WITHOUT ROWID, STRICT;

-- What a source was asked, and through which planned request, itself or one whose answer led to it; `answered_at`, by the
-- data's clock: when it was last answered well; NULL: that is owed. Of requests that were led to only owed ones are here.
CREATE TABLE request(
  source TEXT NOT NULL, url TEXT NOT NULL, via TEXT NOT NULL, answered_at INTEGER,
  PRIMARY KEY(source, url)) WITHOUT ROWID, STRICT;
