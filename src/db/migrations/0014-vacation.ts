// Vacation responses, and whom they have been sent to.

import { statements } from '../migrate.ts'

export const vacationTables = statements(14, 'vacation', '')
