// Random tokens of the last two heartbeats, which show whether mail.db and blobs.db have the same history.

import { statements } from '../migrate.ts'

// Counts alone are equal in two copies of a data folder that were both in use. NULL: an earlier version wrote the heartbeat.
export const heartbeatTokens = statements(
  20,
  'heartbeat-tokens',
  `
ALTER TABLE appliance RENAME COLUMN beat TO generation;
ALTER TABLE appliance ADD COLUMN token TEXT;
ALTER TABLE appliance ADD COLUMN previous_token TEXT;
`,
)
