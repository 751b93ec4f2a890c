// What of an outside account is lastingly not as it is at its server.

import { statements } from '../migrate.ts'

// remote_accounts.differences: JSON, written at the end of each round, or null. remote_folders.read_only: 1 when the server said so last.
export const outsideDifferences = statements(
  50,
  'outside differences',
  `
ALTER TABLE remote_accounts ADD COLUMN differences TEXT;
ALTER TABLE remote_folders ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0;
`,
)
