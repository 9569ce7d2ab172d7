-- People beside programs: roles, passwords, web sessions, one-time links, and what operators did.
-- No password and no token is in it, only digests. Times are unix seconds.

ALTER TABLE account ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK(role IN ('user', 'operator'));
ALTER TABLE account ADD COLUMN disabled INTEGER; -- since when
ALTER TABLE account ADD COLUMN password_set INTEGER;
ALTER TABLE account ADD COLUMN signed_in INTEGER; -- the last time

-- A key that was rotated lives on until it expires; this names the one that took its place.
ALTER TABLE api_key ADD COLUMN replaced_by TEXT;

DROP TRIGGER account_changed;
CREATE TRIGGER account_changed AFTER UPDATE OF id, plan, disabled ON account
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;
-- A key that was made after a backup must not be remembered once that is restored.
CREATE TRIGGER api_key_made AFTER INSERT ON api_key
  BEGIN UPDATE state SET value = randomblob(16) WHERE name = 'mark'; END;

CREATE TABLE web_session(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  digest BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, last_seen INTEGER NOT NULL,
  agent TEXT NOT NULL, address TEXT NOT NULL) STRICT;
CREATE INDEX web_session_account ON web_session(account_id);
CREATE INDEX web_session_age ON web_session(last_seen);

CREATE TABLE invitation(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL UNIQUE,
  email TEXT NOT NULL, email_key TEXT NOT NULL, plan TEXT NOT NULL, role TEXT NOT NULL,
  made_by TEXT, -- the operator; null: whoever has the address asked for it
  created INTEGER NOT NULL, expires INTEGER NOT NULL) STRICT;
CREATE INDEX invitation_email ON invitation(email_key);

CREATE TABLE password_reset(
  digest BLOB PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
  created INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE INDEX password_reset_account ON password_reset(account_id);

-- Tries to sign in that did not succeed. Who and whence are digests: what is typed into the wrong field is not kept.
-- An empty `who` counts an address over all accounts, an empty `whence` an account over all addresses.
CREATE TABLE sign_in_try(
  who BLOB NOT NULL, whence BLOB NOT NULL, failures INTEGER NOT NULL, since INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY(who, whence)) WITHOUT ROWID, STRICT;
CREATE INDEX sign_in_try_age ON sign_in_try(last);

-- Addresses an account was signed in from.
CREATE TABLE known_address(
  account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE, whence BLOB NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY(account_id, whence)) WITHOUT ROWID, STRICT;

CREATE TABLE form_number(number BLOB PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE INDEX form_number_age ON form_number(expires);

-- Kept when an account goes, so it names accounts by their addresses as they were.
CREATE TABLE deed(
  n INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, subject TEXT NOT NULL,
  detail TEXT NOT NULL) STRICT;
