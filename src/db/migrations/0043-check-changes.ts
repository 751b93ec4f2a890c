// What the last DNS checks of a domain found otherwise than the checks before them.

import { statements } from '../migrate.ts'

// check_changes: JSON, newest first, or null before the first check.
export const checkChanges = statements(43, 'check changes', 'ALTER TABLE domains ADD COLUMN check_changes TEXT;')
