// Copies of messages by UID that have not ended: what a crash leaves of them is taken back at the next start.

import { statements } from '../migrate.ts'

// One row for each range of UIDs that a copy added to a folder.
// copy: distinguishes copies. erases: the entries are second messages, which are erased; other messages stay in at least one folder.
export const unfinishedCopies = statements(
  51,
  'unfinished copies',
  `
CREATE TABLE unfinished_copies (
  n INTEGER PRIMARY KEY,
  copy TEXT NOT NULL,
  account INTEGER NOT NULL,
  folder INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  erases INTEGER NOT NULL
) STRICT;
CREATE INDEX unfinished_copies_copy ON unfinished_copies (copy);
`,
)
