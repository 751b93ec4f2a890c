// What the MTA-STS policy of a domain asks for.

import { statements } from '../migrate.ts'

// mta_sts_mode: testing, enforce or none (RFC 8461 §3.2).
export const mtaStsModes = statements(
  68,
  'MTA-STS modes',
  "ALTER TABLE domains ADD COLUMN mta_sts_mode TEXT NOT NULL DEFAULT 'testing'",
)
