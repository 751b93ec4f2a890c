// Figures: money, and hourly counts of mail.

import { statements } from '../migrate.ts'

export const figureTables = statements(6, 'figures', '')
