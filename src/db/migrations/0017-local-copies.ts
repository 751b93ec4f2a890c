// Which mailboxes here have their copy of a message that was sent from here, and which deliveries the operator wants tried at once.

import { statements } from '../migrate.ts'

export const localCopyTables = statements(
  17,
  'local-copies',
  `
CREATE TABLE local_copies (
  account INTEGER NOT NULL,
  email_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  delivered_at INTEGER NOT NULL,
  PRIMARY KEY (account, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX local_copies_age ON local_copies (delivered_at);

ALTER TABLE queue ADD COLUMN is_urgent INTEGER NOT NULL DEFAULT 0;
`,
)
