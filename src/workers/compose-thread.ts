// Worker thread of composer.ts.

import { readFileSync } from 'node:fs'
import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { transferred } from '../base/thread-pool.ts'
import {
  type ComposedContent,
  composeContent,
  type RawContent,
  rawContent,
  type UncheckedDraft,
} from '../mime/compose/outgoing-content.ts'
import type { RawDraftRules } from '../mime/compose/raw-draft.ts'

/** The bytes of a submitted message, or the file that has them. */
export type RawSource = { bytes: Uint8Array } | { file: string }

export type ComposeTask = { isRead: boolean } & (
  | { draft: UncheckedDraft }
  | { source: RawSource; rules: RawDraftRules }
)

export type ComposeResult = { written: ComposedContent } | { raw: RawContent } | { refused: PlainError }

/** The task of the pool. */
export default function composeTask(task: ComposeTask): ComposeResult {
  try {
    const result: { written: ComposedContent } | { raw: RawContent } =
      'draft' in task ? { written: composeContent(task.draft, task.isRead) } : { raw: readRaw(task) }
    const { chunks } = 'raw' in result ? result.raw.written : result.written
    // The buffers under the chunks belong to this message alone, so they can be transferred.
    return transferred(
      result,
      chunks.map(({ data }) => data.buffer),
    )
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    return { refused: plainError(error) }
  }
}

function readRaw({ source, rules, isRead }: Extract<ComposeTask, { rules: unknown }>): RawContent {
  return rawContent('file' in source ? readFileSync(source.file) : source.bytes, rules, isRead)
}
