// Deleted mailboxes can be restored: their aliases are remembered, and an erasure that has begun is never undone.

import { statements } from '../migrate.ts'

export const deletedMailboxes = statements(
  57,
  'deleted mailboxes',
  `
CREATE TABLE deleted_aliases (
  id TEXT PRIMARY KEY,
  mailbox_id TEXT NOT NULL,
  domain_id TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_aliases_mailbox ON deleted_aliases (mailbox_id);
CREATE TABLE mailbox_erasures (
  mailbox_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
`,
)
