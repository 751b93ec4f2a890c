// Threads that wait to be seen again.

import { statements } from '../migrate.ts'

// held_in, back_to: ids of folders.
export const snoozes = statements(
  75,
  'snoozes',
  `
CREATE TABLE snoozes (
  thread INTEGER PRIMARY KEY,
  account INTEGER NOT NULL,
  held_in TEXT NOT NULL,
  back_to TEXT NOT NULL,
  until INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX snoozes_account ON snoozes (account);
CREATE INDEX snoozes_until ON snoozes (until);
`,
)
