// Which appliance the file belongs to, when it was last in use, and whether it was closed in order.

import { statements } from '../migrate.ts'

// One row, written by the first start (store/appliance/). `beat` counts the signs of life that are written to both databases: two files
// that differ in it by more than one are not of the same moment. The canary is the id, sealed under the secret of the appliance.
export const applianceTable = statements(
  16,
  'appliance',
  `
CREATE TABLE appliance (
  id TEXT NOT NULL,
  canary BLOB NOT NULL,
  beat INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  is_clock_held INTEGER NOT NULL,
  is_closed INTEGER NOT NULL
) STRICT;
`,
)
