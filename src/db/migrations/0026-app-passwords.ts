// App passwords of mailboxes, and the record of sign-ins by mail programs.

import { statements } from '../migrate.ts'

// hash: SHA-256 of the stored form. scram: StoredKey and ServerKey of RFC 5802 for the secret and for its grouped spelling, 32 bytes each.
// source: address without a port. at: time of the first of `times` equal sign-ins.
export const appPasswords = statements(
  26,
  'app-passwords',
  `
CREATE TABLE app_passwords (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  mailbox_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  name TEXT NOT NULL,
  permissions TEXT NOT NULL,
  protocols TEXT NOT NULL,
  saves_sent INTEGER NOT NULL,
  hash BLOB NOT NULL UNIQUE,
  scram BLOB NOT NULL,
  last4 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  last_used_from TEXT,
  last_used_client TEXT,
  revoked_at INTEGER
) STRICT;
CREATE INDEX app_passwords_mailbox ON app_passwords (mailbox_id, created_at DESC, n DESC);

CREATE TABLE sign_ins (
  n INTEGER PRIMARY KEY,
  mailbox_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  protocol TEXT NOT NULL,
  mechanism TEXT NOT NULL,
  outcome TEXT NOT NULL,
  source TEXT NOT NULL,
  credential_id TEXT,
  client TEXT,
  times INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_ins_mailbox ON sign_ins (mailbox_id, n DESC);
CREATE INDEX sign_ins_age ON sign_ins (at);
`,
)
