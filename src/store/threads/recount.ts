// What a thread is, counted anew from its messages after some of them were changed or erased.

import type { Tx } from '../../db/db.ts'
import type { Address } from '../../mime/message.ts'
import { withPeople } from './join.ts'

/** What counting needs of a message of the thread, oldest first. */
export interface ThreadMessage {
  n: number
  receivedAt: number
  listed: boolean
  seen: boolean
  hasAttachments: boolean
  /** From, To and Cc. */
  people: readonly Address[]
}

/** A thread after counting; `gone` when no message is left. */
export interface Counted {
  id: string
  gone: boolean
  lastReceivedAt: number
}

/**
 * Writes what the messages of a thread make of it. Counts and flags cover what lies outside Trash and Junk, unless all lies inside
 * (decisions §10.5).
 * @param messages all of the thread's, the oldest first
 */
export async function recountThread(tx: Tx, thread: number, messages: readonly ThreadMessage[]): Promise<Counted> {
  const row = await tx.get<{ id: string }>('SELECT id FROM threads WHERE n = ?', [thread])
  if (row === undefined) throw new Error(`There is no thread ${thread}.`)
  if (messages.length === 0) {
    await tx.run('DELETE FROM thread_refs WHERE thread = ?', [thread])
    await tx.run('DELETE FROM threads WHERE n = ?', [thread])
    return { id: row.id, gone: true, lastReceivedAt: 0 }
  }
  const outside = messages.filter(({ listed }) => listed)
  const counted = outside.length > 0 ? outside : messages
  const last = counted.reduce((newest, message) => (message.receivedAt >= newest.receivedAt ? message : newest))
  const participants = counted.reduce<Address[]>((known, { people }) => withPeople(known, people), [])
  await tx.run(
    `UPDATE threads SET listed = ?, message_count = ?, unread_count = ?, has_attachments = ?, last_message = ?,
       last_received_at = ?, participants = ? WHERE n = ?`,
    [
      outside.length > 0,
      counted.length,
      counted.filter(({ seen }) => !seen).length,
      counted.some(({ hasAttachments }) => hasAttachments),
      last.n,
      last.receivedAt,
      JSON.stringify(participants),
      thread,
    ],
  )
  return { id: row.id, gone: false, lastReceivedAt: last.receivedAt }
}
