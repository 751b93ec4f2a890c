// Forwarded messages whose header a script has changed: they leave without the results of their reception.

import { statements } from '../migrate.ts'

// Of messages that wait for their delivery it is not known: those lose the results, too.
export const changedForwards = statements(
  47,
  'changed forwards',
  `
ALTER TABLE emails ADD COLUMN is_changed INTEGER NOT NULL DEFAULT 0;
UPDATE emails SET is_changed = 1 WHERE source = 'forward' AND open_deliveries > 0;
`,
)
