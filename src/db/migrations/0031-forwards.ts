// Addresses that mailboxes and aliases forward to, refusals by their owners, and the confirmations that were requested.

import { statements } from '../migrate.ts'

// alias: lower-case, '' for everything the mailbox receives. email: as written; folded: lower-case.
// token_hash: SHA-256 of the token in the link that the receiver has. Refusals and requests are forgotten with time.
export const forwardTables = statements(
  31,
  'forwards',
  `
CREATE TABLE forwards (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  mailbox_id TEXT NOT NULL,
  alias TEXT NOT NULL,
  email TEXT NOT NULL,
  folded TEXT NOT NULL,
  keeps_copy INTEGER NOT NULL,
  state TEXT NOT NULL,
  token_hash BLOB NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  confirmed_at INTEGER,
  ended_at INTEGER,
  UNIQUE (mailbox_id, alias, folded)
) STRICT;

CREATE TABLE forward_refusals (
  team_id TEXT NOT NULL,
  folded TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (team_id, folded)
) STRICT, WITHOUT ROWID;

CREATE TABLE forward_requests (
  n INTEGER PRIMARY KEY,
  team_id TEXT NOT NULL,
  folded TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX forward_requests_at ON forward_requests (at);
`,
)
