// The kept header fields of messages, packed (see mime/message-headers.ts).

import type { Reader, Tx } from '../../db/db.ts'

/** Packed headers of messages; those of earlier versions have none until they are outlined. */
export function packedHeaders(reader: Reader, messages: readonly number[]): { message: number; packed: Uint8Array }[] {
  return reader.all<{ message: number; packed: Uint8Array }>(
    'SELECT message, packed FROM message_headers WHERE message IN (SELECT value FROM json_each(?))',
    [JSON.stringify(messages)],
  )
}

/** Stores or replaces them. */
export function putHeaders(tx: Tx, message: number, packed: Uint8Array): void {
  tx.run('INSERT OR REPLACE INTO message_headers (message, packed) VALUES (?, ?)', [message, packed])
}

export function deleteHeaders(tx: Tx, messages: readonly number[]): void {
  tx.run('DELETE FROM message_headers WHERE message IN (SELECT value FROM json_each(?))', [JSON.stringify(messages)])
}
