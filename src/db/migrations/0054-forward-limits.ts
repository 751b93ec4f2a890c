// Requests to confirm a forward are counted by mailbox, and those that were confirmed count less.

import { statements } from '../migrate.ts'

export const forwardLimits = statements(
  54,
  'forward limits',
  `
ALTER TABLE forward_requests ADD COLUMN mailbox_id TEXT NOT NULL DEFAULT '';
ALTER TABLE forward_requests ADD COLUMN is_confirmed INTEGER NOT NULL DEFAULT 0;
`,
)
