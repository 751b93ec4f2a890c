// Replies that a script has asked for carry their own text.

import { statements } from '../migrate.ts'

export const scriptVacations = statements(60, 'script vacations', 'ALTER TABLE vacation_due ADD COLUMN script TEXT;')
