// What decides whether a removal at the server of an outside account is followed: how many were, and whether a folder may have lost messages.

import { statements } from '../migrate.ts'

// remote_accounts.taken: messages taken out here since taken_at because they were gone at the server: many small removals are one large one.
// remote_folders.doubt: 'restored' or 'renumbered' while messages are gone from a folder that its server may have lost.
export const removalCounts = statements(
  48,
  'removal counts',
  `
ALTER TABLE remote_accounts ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE remote_accounts ADD COLUMN taken_at INTEGER;
ALTER TABLE remote_folders ADD COLUMN doubt TEXT;
`,
)
