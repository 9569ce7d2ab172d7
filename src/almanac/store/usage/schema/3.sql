-- One table instead of counters by minute, hour and day and their sums: all that is asked for is by day, and of each account
-- how many requests of its last minute count towards its limit.

CREATE TABLE day_use(
  account INTEGER NOT NULL, day INTEGER NOT NULL, key INTEGER NOT NULL, endpoint INTEGER NOT NULL, status INTEGER NOT NULL,
  requests INTEGER NOT NULL, micros INTEGER NOT NULL,
  PRIMARY KEY(account, day, key, endpoint, status)) WITHOUT ROWID, STRICT;
CREATE TABLE minute_use(account INTEGER PRIMARY KEY, minute INTEGER NOT NULL, requests INTEGER NOT NULL) STRICT;
INSERT INTO day_use SELECT account, at / 1440, key, endpoint, status, sum(requests), sum(micros) FROM counter
  GROUP BY account, at / 1440, key, endpoint, status;
DROP TABLE counter;
DROP TABLE daily;
