// People: members of teams, links to sign in with, and sessions.

import { statements } from '../migrate.ts'

export const peopleTables = statements(
  5,
  'people',
  `
CREATE TABLE members (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL REFERENCES teams(id),
  email TEXT NOT NULL,
  display_name TEXT,
  role TEXT NOT NULL,
  invited_at INTEGER NOT NULL,
  joined_at INTEGER,
  last_login_at INTEGER,
  UNIQUE (team_id, email)
) STRICT;
CREATE INDEX members_email ON members (email);

CREATE TABLE sign_in_links (
  hash BLOB PRIMARY KEY,
  email TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_age ON sign_in_links (expires_at);

CREATE TABLE sign_in_mails (
  n INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_mails_email ON sign_in_mails (email, at);
CREATE INDEX sign_in_mails_age ON sign_in_mails (at);

CREATE TABLE sessions (
  hash BLOB PRIMARY KEY,
  email TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_email ON sessions (email);
CREATE INDEX sessions_age ON sessions (expires_at);

CREATE TABLE told_facts (
  fact TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX told_facts_age ON told_facts (at);
`,
)
