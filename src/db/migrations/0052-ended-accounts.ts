// Outside accounts that were ended while their messages stayed: their folders and messages stay known until they are attached again.

import { statements } from '../migrate.ts'

// remote: the number that remote_accounts had, and remote_folders have. carried: columns of remote_accounts, JSON.
export const endedAccounts = statements(
  52,
  'ended outside accounts',
  `
CREATE TABLE remote_ended (
  remote INTEGER PRIMARY KEY,
  mailbox_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  email TEXT NOT NULL,
  imap_host TEXT,
  imap_username TEXT,
  carried TEXT NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX remote_ended_mailbox ON remote_ended (mailbox_id);
`,
)
