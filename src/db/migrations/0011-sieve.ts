// Sieve scripts.

import { statements } from '../migrate.ts'

export const sieveTables = statements(11, 'sieve', '')
