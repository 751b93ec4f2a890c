// Identities, quotas of the mail model, submissions.

import { statements } from '../migrate.ts'

export const identityTables = statements(9, 'identities', '')
