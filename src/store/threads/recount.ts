// Recomputes a thread from its messages after some of them were changed or deleted.

import type { Tx } from '../../db/db.ts'
import type { Address } from '../../mime/message.ts'
import { mergeParticipants } from './join.ts'

/** The fields of a message that a recount needs. */
export interface CountedThreadMessage {
  n: number
  receivedAt: number
  listed: boolean
  seen: boolean
  hasAttachments: boolean
  /** From, To and Cc. */
  people: readonly Address[]
}

/** `isDeleted`: no message is left. */
export interface RecountedThread {
  id: string
  isDeleted: boolean
  lastReceivedAt: number
}

/**
 * Recomputes and writes a thread, or deletes it without messages. Counts and flags cover the messages outside Trash and Junk, or all
 * messages if there are none outside (decisions §10.5).
 * @param messages all messages of the thread, oldest first
 */
export function recountThread(tx: Tx, thread: number, messages: readonly CountedThreadMessage[]): RecountedThread {
  const row = tx.get<{ id: string }>('SELECT id FROM threads WHERE n = ?', [thread])
  if (row === undefined) throw new Error(`Thread ${thread} does not exist.`)
  if (messages.length === 0) {
    tx.run('DELETE FROM thread_refs WHERE thread = ?', [thread])
    tx.run('DELETE FROM threads WHERE n = ?', [thread])
    return { id: row.id, isDeleted: true, lastReceivedAt: 0 }
  }
  const outside = messages.filter(({ listed }) => listed)
  const counted = outside.length > 0 ? outside : messages
  const last = counted.reduce((newest, message) => (message.receivedAt >= newest.receivedAt ? message : newest))
  const participants = counted.reduce<Address[]>((merged, { people }) => mergeParticipants(merged, people), [])
  tx.run(
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
  return { id: row.id, isDeleted: false, lastReceivedAt: last.receivedAt }
}
