// How often a mailbox exchanged messages with an address before one of them: for its readers.

import type { Reader } from '../../db/db.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import { newestWithKeys } from '../search/hits.ts'
import { addressKey } from '../search/text.ts'

/** Messages of each direction that are counted at most. */
export const HISTORY_MAX = 100

export interface Exchange {
  /** Other messages from the address that are not newer. */
  received: number
  /** Messages to the address in Sent. */
  sent: number
  /** When the last one before was received, ms. */
  lastAt: number | null
}

/** @param account its number */
export function senderHistory(
  reader: Reader,
  account: number,
  { id, receivedAt, address }: { id: string; receivedAt: number; address: string },
): Exchange {
  const sender = address.toLowerCase()
  const numbers = newestWithKeys(reader, account, [addressKey('from', sender)], HISTORY_MAX + 1)
  const earlier = reader.all<{ at: number }>(
    `SELECT received_at AS at FROM messages WHERE n IN (SELECT value FROM json_each(?)) AND received_at <= ? AND id <> ?
     ORDER BY received_at DESC`,
    [JSON.stringify(numbers), receivedAt, id],
  )
  const keys = (['to', 'cc', 'bcc'] as const).map((field) => addressKey(field, sender))
  const folders = foldersByMessage(reader, newestWithKeys(reader, account, keys, HISTORY_MAX))
  const sent = [...folders.values()].filter((list) => list.some(({ role }) => role === 'sent')).length
  return { received: Math.min(earlier.length, HISTORY_MAX), sent, lastAt: earlier[0]?.at ?? null }
}
