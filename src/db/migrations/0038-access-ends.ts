// When the sessions of a member ended for their team, and sending limits of single agents.

import { statements } from '../migrate.ts'

// members.signed_out_at: sessions opened at or before this time, ms, do not open the team.
// agent_registrations.send_hourly, send_daily: recipients, set by the operator; null for the limits of the settings.
export const accessEnds = statements(
  38,
  'access ends',
  `
ALTER TABLE members ADD COLUMN signed_out_at INTEGER;
ALTER TABLE agent_registrations ADD COLUMN send_hourly INTEGER;
ALTER TABLE agent_registrations ADD COLUMN send_daily INTEGER;
`,
)
