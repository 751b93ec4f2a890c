// An outside account remembers that sign-in links to its address arrive in it; messages that were carried are counted.

import { statements } from '../migrate.ts'

// links_at: when one was revoked because it had arrived, ms; from then on none are mailed to the address.
// remote_totals.direction: `in` from outside accounts, `out` to them.
export const outsideTotals = statements(
  37,
  'outside totals',
  `
ALTER TABLE remote_accounts ADD COLUMN links_at INTEGER;
CREATE TABLE remote_totals (direction TEXT PRIMARY KEY, messages INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO remote_totals (direction, messages) VALUES ('in', 0), ('out', 0);
`,
)
