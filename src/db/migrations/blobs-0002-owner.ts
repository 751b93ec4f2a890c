// Which appliance the contents belong to; see 0016-appliance.ts.

import { statements } from '../migrate.ts'

export const contentOwnerTable = statements(
  2,
  'owner',
  `
CREATE TABLE content_owner (
  id TEXT NOT NULL,
  beat INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
`,
)
