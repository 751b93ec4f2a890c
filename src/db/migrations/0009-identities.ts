// Identities, and the limits people set themselves.

import { statements } from '../migrate.ts'

export const identityTables = statements(9, 'identities', '')
