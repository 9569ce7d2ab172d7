-- The accounts database: who may ask, with which keys, and the secrets of this installation.
-- It cannot be rebuilt from anything else: back it up. Times are unix seconds. No key is in it, only digests.

CREATE TABLE state(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
-- Random, new at each change that a cached key must not outlive. Random, not counted, so that a restored
-- backup never looks like the state a process remembers.
INSERT INTO state VALUES('mark', randomblob(16));

CREATE TABLE secret(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;

CREATE TABLE account(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE, -- folded, so that one address has one account however it is spelt
  plan TEXT NOT NULL, created INTEGER NOT NULL, password_hash TEXT) STRICT;

CREATE TABLE api_key(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  prefix TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
  created INTEGER NOT NULL, last_used INTEGER, expires INTEGER, revoked INTEGER) STRICT;
CREATE INDEX api_key_account ON api_key(account_id);

-- `last_used` is not among the columns: noting a use must not make every process read its keys anew.
CREATE TRIGGER account_changed AFTER UPDATE OF id, plan ON account
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
CREATE TRIGGER account_gone AFTER DELETE ON account
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
CREATE TRIGGER api_key_changed AFTER UPDATE OF id, account_id, prefix, digest, scopes, expires, revoked ON api_key
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
CREATE TRIGGER api_key_gone AFTER DELETE ON api_key
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
CREATE TRIGGER secret_changed AFTER UPDATE ON secret
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
CREATE TRIGGER secret_gone AFTER DELETE ON secret
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
