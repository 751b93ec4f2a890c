// The rows of messages and how they become the records a surface reads.

import type { Flags } from '../records.ts'

/** The system keywords that are kept as flags (decisions §10.3). */
export const FLAG_KEYWORDS = {
  seen: '$seen',
  flagged: '$flagged',
  draft: '$draft',
  answered: '$answered',
} as const satisfies Record<keyof Flags, string>
