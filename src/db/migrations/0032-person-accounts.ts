// People sign in with more than links: sessions that can be listed, persons with passkeys, passwords and codes, grants of mailboxes.

import { statements } from '../migrate.ts'

// The cookie has another name, so the sessions of earlier versions end here: people sign in once more.
export const personAccounts = statements(
  32,
  'person-accounts',
  `
DROP TABLE sessions;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  email TEXT NOT NULL,
  team_id TEXT,
  mailbox_id TEXT,
  shown_by TEXT,
  method TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  user_agent TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  confirmed_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_email ON sessions (email);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX sessions_mailbox ON sessions (mailbox_id) WHERE mailbox_id IS NOT NULL;

CREATE TABLE persons (
  email TEXT PRIMARY KEY,
  handle BLOB NOT NULL UNIQUE,
  display_name TEXT,
  locale TEXT,
  time_zone TEXT,
  is_operator INTEGER NOT NULL DEFAULT 0,
  password TEXT,
  password_team_id TEXT,
  preferences TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  team_id TEXT,
  credential_id TEXT NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_email ON passkeys (email);

CREATE TABLE recovery_codes (
  email TEXT NOT NULL,
  hash BLOB NOT NULL,
  team_id TEXT,
  PRIMARY KEY (email, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox_grants (
  mailbox_id TEXT NOT NULL,
  member_id TEXT NOT NULL,
  access TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (mailbox_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailbox_grants_member ON mailbox_grants (member_id);
`,
)
