// Domains keep the findings of their last check.

import { statements } from '../migrate.ts'

export const domainChecks = statements(
  34,
  'domain-checks',
  `
ALTER TABLE domains ADD COLUMN checks TEXT;
ALTER TABLE domains ADD COLUMN checked_at INTEGER;
`,
)
