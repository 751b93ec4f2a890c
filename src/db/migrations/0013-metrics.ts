// What happened to mail, counted by the hour.

import { statements } from '../migrate.ts'

export const metricTables = statements(13, 'metrics', '')
