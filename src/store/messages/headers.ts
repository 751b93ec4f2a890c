// The kept header fields of messages, packed (see mime/message-headers.ts).

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'

/** Packed headers by message number; messages of earlier versions have none until they are outlined. */
export function packedHeaders(reader: Reader, messages: readonly number[]): Map<number, Uint8Array> {
  const rows = reader.all<{ message: number; packed: Uint8Array }>(
    'SELECT message, packed FROM message_headers WHERE message IN (SELECT value FROM json_each(?))',
    [JSON.stringify(messages)],
  )
  return new Map(rows.map(({ message, packed }) => [message, packed]))
}

/** Stores or replaces them. */
export function putHeaders(tx: Tx, message: number, packed: Uint8Array): void {
  tx.run('INSERT OR REPLACE INTO message_headers (message, packed) VALUES (?, ?)', [message, packed])
}

export function deleteHeaders(tx: Tx, messages: readonly number[]): void {
  tx.run(`DELETE FROM message_headers WHERE message IN (${placeholders(messages)})`, messages)
}
