// The members of a message a client can set: keywords and folders.

import { Type } from 'typebox'
import { Id } from '../../http/schema.ts'
import { MAILBOX_LIMITS } from './limits.ts'

const FOLDERS_MAX = 10
/** Most keywords of a message. */
export const KEYWORDS_MAX = 100

// Decisions §10.3: converted to lower case; RFC 9051 atoms.
const Keyword = Type.String({ minLength: 1, maxLength: 255, pattern: "^[!#$&'+-Z\\[^-z|}~]+$", examples: ['$seen'] })

export function Keywords(description: string, max: number = MAILBOX_LIMITS.keywords_per_update_max) {
  return Type.Array(Keyword, { maxItems: max, description })
}

export function FolderIds(description: string, min = 0) {
  return Type.Array(Id('folder'), { minItems: min, maxItems: FOLDERS_MAX, uniqueItems: true, description })
}

/** Keywords in the form they are stored in. */
export function lower(keywords: readonly string[]): string[] {
  return keywords.map((keyword) => keyword.toLowerCase())
}
