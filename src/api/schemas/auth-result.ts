// The word a check of the sender ends with.

import { Words } from '../../http/schema.ts'

/** RFC 8601 §2.7; what a check did not say explicitly is `permerror`. */
export const AuthResult = Words(['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'])
