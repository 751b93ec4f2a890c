// The message an answer is to: what of it the answer has to name, and the mark it bears from then on.

import type { Reader, Tx } from '../../db/db.ts'
import type { Account } from '../records.ts'
import { threadIdsOf } from '../threads/numbers.ts'

/** A message somebody answers. */
export interface Original {
  n: number
  id: string
  thread: { n: number; id: string }
  /** Message-ID without angle brackets; null where it has none. */
  internetMessageId: string | null
  /** What the References of an answer begin with, its own id left out. */
  references: string[]
}

interface OriginalRow {
  n: number
  thread: number
  internet_message_id: string | null
  in_reply_to: string
  refs: string
}

export async function originalOf(reader: Reader, account: Account, id: string): Promise<Original | undefined> {
  const row = await reader.get<OriginalRow>(
    'SELECT n, thread, internet_message_id, in_reply_to, refs FROM messages WHERE id = ? AND account = ?',
    [id, account.n],
  )
  if (!row) return undefined
  const threads = await threadIdsOf(reader, [row.thread])
  const [references, inReplyTo] = [row.refs, row.in_reply_to].map((text) => JSON.parse(text) as string[])
  return {
    n: row.n,
    id,
    thread: { n: row.thread, id: threads.get(row.thread)! },
    internetMessageId: row.internet_message_id,
    // RFC 5322 3.6.4: without References a single In-Reply-To stands in for them.
    references: references!.length > 0 || inReplyTo!.length !== 1 ? references! : inReplyTo!,
  }
}

/** Marks a message as answered. @returns false when it was already */
export async function markAnswered(tx: Tx, message: number): Promise<boolean> {
  const { changes } = await tx.run('UPDATE messages SET answered = 1 WHERE n = ? AND answered = 0', [message])
  return changes > 0
}
