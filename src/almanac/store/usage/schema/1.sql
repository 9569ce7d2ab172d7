-- Counters of answers. No address, no query, no key: accounts by their ids, keys by their prefixes, paths as templates.
-- It cannot be made anew, and nothing but these figures is lost with it.

-- Names that stand for many rows.
CREATE TABLE name(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- `at`: unix minutes, the first of a minute, an hour or a day; `span`: its length in minutes, 1, 60 or 1440.
-- b0 … b11: how many took at most 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000 ms, or longer.
CREATE TABLE counter(
  account INTEGER NOT NULL, at INTEGER NOT NULL, span INTEGER NOT NULL, key INTEGER NOT NULL, endpoint INTEGER NOT NULL,
  status INTEGER NOT NULL, requests INTEGER NOT NULL, micros INTEGER NOT NULL,
  b0 INTEGER NOT NULL, b1 INTEGER NOT NULL, b2 INTEGER NOT NULL, b3 INTEGER NOT NULL, b4 INTEGER NOT NULL,
  b5 INTEGER NOT NULL, b6 INTEGER NOT NULL, b7 INTEGER NOT NULL, b8 INTEGER NOT NULL, b9 INTEGER NOT NULL,
  b10 INTEGER NOT NULL, b11 INTEGER NOT NULL,
  PRIMARY KEY(account, at, span, key, endpoint, status)) WITHOUT ROWID, STRICT;
-- What is to be folded, over all accounts.
CREATE INDEX counter_age ON counter(span, at);

-- The same, added up by day: in all (`part` 0, `name` 0), by key (1) and by endpoint (2). A page reads these.
CREATE TABLE daily(
  account INTEGER NOT NULL, part INTEGER NOT NULL, day INTEGER NOT NULL, name INTEGER NOT NULL, status INTEGER NOT NULL,
  requests INTEGER NOT NULL, micros INTEGER NOT NULL,
  b0 INTEGER NOT NULL, b1 INTEGER NOT NULL, b2 INTEGER NOT NULL, b3 INTEGER NOT NULL, b4 INTEGER NOT NULL,
  b5 INTEGER NOT NULL, b6 INTEGER NOT NULL, b7 INTEGER NOT NULL, b8 INTEGER NOT NULL, b9 INTEGER NOT NULL,
  b10 INTEGER NOT NULL, b11 INTEGER NOT NULL,
  PRIMARY KEY(account, part, day, name, status)) WITHOUT ROWID, STRICT;
