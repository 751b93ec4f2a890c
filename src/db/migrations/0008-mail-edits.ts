// What changing and importing messages needs.

import { statements } from '../migrate.ts'

export const mailEditTables = statements(8, 'mail-edits', '')
