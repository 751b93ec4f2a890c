// Worker thread of composer.ts.

import { readFileSync } from 'node:fs'
import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { freeBytes } from '../base/free-bytes.ts'
import { transferred } from '../base/thread-pool.ts'
import { bytesOf } from '../mime/chunks.ts'
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
    const data = bytesOf('raw' in result ? result.raw.written : result.written)
    if ('draft' in task) freeBytes(filesOf(task.draft), data)
    // The buffers under the chunks belong to this message alone, so they can be transferred.
    return transferred(
      result,
      data.map(({ buffer }) => buffer),
    )
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    return { refused: plainError(error) }
  }
}

function readRaw({ source, rules, isRead }: Extract<ComposeTask, { rules: unknown }>): RawContent {
  const bytes = 'file' in source ? readFileSync(source.file) : source.bytes
  const raw = rawContent(bytes, rules, isRead)
  freeBytes([bytes], bytesOf(raw.written))
  return raw
}

function filesOf({ attachments }: UncheckedDraft): Uint8Array[] {
  return attachments.map(({ content }) => content)
}
