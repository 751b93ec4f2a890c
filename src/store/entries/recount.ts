// Recomputes a thread from its messages after some of them were moved or deleted.

import type { Tx } from '../../db/db.ts'
import type { Address } from '../../mime/message.ts'
import { mergeParticipants } from './join-threads.ts'

/** The fields of a message that a recount needs. */
export interface CountedThreadMessage {
  n: number
  receivedAt: number
  listed: boolean
  seen: boolean
  hasAttachments: boolean
  /** From, To and Cc, as stored. */
  addresses: string
}

/**
 * Recomputes and writes a thread. Counts and flags cover the messages outside Trash and Junk, or all messages if there are none outside
 * (docs/design/mailbox.md §5).
 * @param messages all messages of the thread, at least one, oldest first
 * @returns its sort time, ms
 */
export function recountThread(tx: Tx, thread: number, messages: readonly CountedThreadMessage[]): number {
  const outside = messages.filter(({ listed }) => listed)
  const counted = outside.length > 0 ? outside : messages
  const last = counted.reduce((newest, message) => (message.receivedAt >= newest.receivedAt ? message : newest))
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
      JSON.stringify(participantsOf(counted)),
      thread,
    ],
  )
  return last.receivedAt
}

/** Messages of a thread have often the same addresses: each text is read once. */
function participantsOf(messages: readonly CountedThreadMessage[]): Address[] {
  let merged: Address[] = []
  for (const addresses of new Set(messages.map((message) => message.addresses))) {
    const { from, to, cc } = JSON.parse(addresses) as Record<'from' | 'to' | 'cc', Address[]>
    merged = mergeParticipants(merged, [...from, ...to, ...cc])
  }
  return merged
}

/** Deletes threads that have no messages any more. */
export function deleteThreads(tx: Tx, threads: readonly number[]): void {
  if (threads.length === 0) return
  const list = [JSON.stringify(threads)]
  tx.run('DELETE FROM thread_refs WHERE thread IN (SELECT value FROM json_each(?))', list)
  tx.run('DELETE FROM threads WHERE n IN (SELECT value FROM json_each(?))', list)
}
