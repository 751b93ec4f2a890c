// Throw-away addresses: aliases that people make for one correspondent, and pause or end when they like.

import { statements } from '../migrate.ts'

// made_for: what it was made for, as the person wrote it; null for aliases that administrators manage. paused_at: mail to it is refused since then.
export const throwAway = statements(
  73,
  'throw-away',
  `
ALTER TABLE aliases ADD COLUMN made_for TEXT;
ALTER TABLE aliases ADD COLUMN paused_at INTEGER;
ALTER TABLE deleted_aliases ADD COLUMN made_for TEXT;
ALTER TABLE deleted_aliases ADD COLUMN paused_at INTEGER;
`,
)
