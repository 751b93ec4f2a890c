// What messages were before a change that can be undone.

import { statements } from '../migrate.ts'

// edits: JSON, the keywords and folders of each message before and after the change.
export const undoRecords = statements(
  67,
  'undo records',
  `
CREATE TABLE undo_records (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL,
  edits TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX undo_records_account ON undo_records (account, n);
CREATE INDEX undo_records_age ON undo_records (created_at);
`,
)
