// Uploads, and the index from contents to who names them.

import { statements } from '../migrate.ts'

export const uploadTables = statements(10, 'uploads', '')
