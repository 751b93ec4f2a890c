// Messages that a submission refers to: the original of a reply, with the fields a reply needs and its `$answered` flag; its copy.

import type { Reader, Tx } from '../../db/db.ts'
import { threadIdsOf } from '../entries/thread-rows.ts'
import type { Account } from '../rows/records.ts'

/** A message that is replied to. */
export interface OriginalMessage {
  n: number
  id: string
  thread: { n: number; id: string }
  /** Message-ID without angle brackets; null if it has none. */
  internetMessageId: string | null
  /** The References of a reply, without the original's own Message-ID. */
  references: string[]
}

interface OriginalRow {
  n: number
  thread: number
  internet_message_id: string | null
  in_reply_to: string
  refs: string
}

export function originalOf(reader: Reader, account: Account, id: string): OriginalMessage | undefined {
  const row = reader.get<OriginalRow>(
    'SELECT n, thread, internet_message_id, in_reply_to, refs FROM messages WHERE id = ? AND account = ?',
    [id, account.n],
  )
  if (!row) return undefined
  const threads = threadIdsOf(reader, [row.thread])
  const [references, inReplyTo] = [row.refs, row.in_reply_to].map((text) => JSON.parse(text) as string[])
  return {
    n: row.n,
    id,
    thread: { n: row.thread, id: threads.get(row.thread)! },
    internetMessageId: row.internet_message_id,
    // RFC 5322 §3.6.4: without References, a single In-Reply-To is used instead.
    references: references!.length > 0 || inReplyTo!.length !== 1 ? references! : inReplyTo!,
  }
}

/** Sets the answered flag. @returns false if it was set already */
export function markAnswered(tx: Tx, message: number): boolean {
  const { changes } = tx.run('UPDATE messages SET answered = 1 WHERE n = ? AND answered = 0', [message])
  return changes > 0
}

/** Those of some messages with a Message-ID, in their order. */
export function messagesNamed(
  reader: Reader,
  numbers: readonly number[],
  internetMessageId: string,
): { id: string; threadId: string }[] {
  const rows = reader.all<{ id: string; thread: number }>(
    `SELECT m.id, m.thread FROM json_each(?) e JOIN messages m ON m.n = e.value
     WHERE m.internet_message_id = ? ORDER BY e.key`,
    [JSON.stringify(numbers), internetMessageId],
  )
  const threads = threadIdsOf(
    reader,
    rows.map(({ thread }) => thread),
  )
  return rows.map(({ id, thread }) => ({ id, threadId: threads.get(thread)! }))
}
