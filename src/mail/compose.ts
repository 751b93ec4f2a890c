// A draft becomes a mail: RFC 5322 and MIME, seven bits, CRLF, every line within bounds.

import type { Draft } from './draft.ts'

export type { Draft, DraftAttachment, DraftHeader } from './draft.ts'

export interface Composed {
  bytes: Buffer
}

/** Writes the mail. The same draft gives the same bytes; nobody in `bcc` is named. */
export function compose(_draft: Draft): Composed {
  throw new Error('not built')
}
