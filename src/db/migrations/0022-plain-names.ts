// Gives three columns and tables names in the terms of the field.

import { statements } from '../migrate.ts'

export const plainNames = statements(
  22,
  'plain-names',
  `
ALTER TABLE events RENAME COLUMN told TO dispatched;
DROP INDEX events_untold;
CREATE INDEX events_pending ON events (n) WHERE dispatched = 0;
ALTER TABLE deliveries RENAME COLUMN delay_told_at TO delay_reported_at;
ALTER TABLE told_facts RENAME TO noticed_facts;
DROP INDEX told_facts_age;
CREATE INDEX noticed_facts_age ON noticed_facts (at);
`,
)
