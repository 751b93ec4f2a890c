// The result code of a sender authentication check.

import { Words } from '../../http/schema.ts'

/** RFC 8601 §2.7; an unknown result is reported as `permerror`. */
export const AuthResult = Words(['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'])
