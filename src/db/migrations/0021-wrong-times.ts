// The times a wrong clock showed, so that what was dated by it can be found when it is right again.

import { statements } from '../migrate.ts'

// One row per span, written with the last-seen time (store/appliance/). since: when the clock was last right. All in ms.
export const wrongTimeTable = statements(
  21,
  'wrong-times',
  `
CREATE TABLE wrong_times (
  since INTEGER NOT NULL,
  from_at INTEGER NOT NULL,
  until_at INTEGER NOT NULL
) STRICT;
`,
)
