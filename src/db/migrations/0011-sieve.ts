// Sieve scripts.

import { statements } from '../migrate.ts'

// The mailbox names the script that is run over its mail, so that one without costs nothing.
export const sieveTables = statements(
  11,
  'sieve',
  `
CREATE TABLE sieve_scripts (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  mailbox_id TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  asks_for TEXT NOT NULL,
  is_active INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sieve_scripts_name ON sieve_scripts (mailbox_id, name);
CREATE UNIQUE INDEX sieve_scripts_active ON sieve_scripts (mailbox_id) WHERE is_active = 1;

ALTER TABLE mailboxes ADD COLUMN script_key TEXT;
`,
)
