// The indexes of the inbound log in ascending order: lists read them backwards, and new rows are added at their ends.

import { statements } from '../migrate.ts'

// At the beginning of an index SQLite splits full pages in halves: twice the pages to write and to keep.
export const inboundLogOrder = statements(
  46,
  'inbound log order',
  `
DROP INDEX inbound_log_team;
CREATE INDEX inbound_log_team ON inbound_log (team_id, created_at, n);
DROP INDEX inbound_log_mailbox;
CREATE INDEX inbound_log_mailbox ON inbound_log (mailbox_id, created_at, n) WHERE mailbox_id IS NOT NULL;
`,
)
