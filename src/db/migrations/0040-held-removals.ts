// Removals that were made here and are held back at the server, messages that a server named without their heads, and folders whose
// messages are being compared.

import { statements } from '../migrate.ts'

// remote_accounts.removal: gone at the server, kept here; removal_there: deleted here, kept at the server. Both are JSON or null.
// remote_folders.erased: messages deleted here that were removed there since erased_at: many small removals are one large one.
// remote_folders.compare_after: messages of the folder here above this UID are to be compared, as the server has the folder now.
// remote_messages.state: 3 is known by its UID only, 4 was deleted here and is to be removed there.
export const heldRemovals = statements(
  40,
  'held removals',
  `
ALTER TABLE remote_accounts ADD COLUMN removal_there TEXT;
ALTER TABLE remote_folders ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
ALTER TABLE remote_folders ADD COLUMN erased_at INTEGER;
ALTER TABLE remote_folders ADD COLUMN compare_after INTEGER;
`,
)
