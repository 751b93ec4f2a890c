// The header fields that mail programs list messages by, and which messages of earlier versions do not have them yet.

import { statements } from '../migrate.ts'

// A row of outline_progress is an account that is not done: messages with numbers below `before` are left, newest first.
export const messageHeaders = statements(
  25,
  'message-headers',
  `
CREATE TABLE message_headers (
  message INTEGER PRIMARY KEY,
  packed BLOB NOT NULL
) STRICT;
CREATE TABLE outline_progress (
  account INTEGER PRIMARY KEY,
  before INTEGER NOT NULL
) STRICT;
INSERT INTO outline_progress (account, before)
  SELECT n, (n + 1) * 4294967296 FROM accounts WHERE EXISTS (SELECT 1 FROM messages WHERE messages.account = accounts.n);
`,
)
