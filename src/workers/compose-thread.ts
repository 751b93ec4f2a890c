// The thread in which large mails are composed.

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { type RoughDraft, type Written, write } from '../mime/compose/outgoing-content.ts'

export interface ComposeTask {
  draft: RoughDraft
  isRead: boolean
}

export type Composing = { written: Written } | { refused: PlainError }

/** The task of the pool. */
export default function composeTask({ draft, isRead }: ComposeTask): Composing {
  try {
    const written = write(draft, isRead)
    // The stretches lie in memory of this mail alone, all in the same one or each in its own.
    const buffers = new Set(written.chunks.map(({ data }) => data.buffer as ArrayBuffer))
    const moved = { [transferableSymbol]: [...buffers], [valueSymbol]: { written } }
    return move(moved as never) as unknown as Composing
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    return { refused: plainError(error) }
  }
}
