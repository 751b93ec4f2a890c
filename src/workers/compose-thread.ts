// Worker thread of composer.ts.

import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { transferred } from '../base/thread-pool.ts'
import { type ComposedContent, composeContent, type UncheckedDraft } from '../mime/compose/outgoing-content.ts'

export interface ComposeTask {
  draft: UncheckedDraft
  isRead: boolean
}

export type ComposeResult = { written: ComposedContent } | { refused: PlainError }

/** The task of the pool. */
export default function composeTask({ draft, isRead }: ComposeTask): ComposeResult {
  try {
    const written = composeContent(draft, isRead)
    // The buffers under the chunks belong to this message alone, so they can be transferred.
    return transferred(
      { written },
      written.chunks.map(({ data }) => data.buffer),
    )
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    return { refused: plainError(error) }
  }
}
