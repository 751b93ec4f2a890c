// The header fields of messages that mail programs list by, with the keys that folders are sorted, threaded and searched by.

import type { Reader, Row, Tx } from '../../db/db.ts'
import type { HeaderKeys } from '../../mime/header-keys.ts'

/** The header of a message as it is stored. */
export interface StoredHeader {
  /** See `packHeaders`. */
  keptHeaders: Uint8Array
  headerKeys: HeaderKeys
}

/** Packed headers of messages; those of earlier versions have none until they are outlined. */
export function packedHeaders(reader: Reader, messages: readonly number[]): { message: number; packed: Uint8Array }[] {
  return reader.all<{ message: number; packed: Uint8Array }>(
    'SELECT message, packed FROM message_headers WHERE message IN (SELECT value FROM json_each(?))',
    [JSON.stringify(messages)],
  )
}

/** The row of a message. */
export function headerRow(message: number, { keptHeaders, headerKeys }: StoredHeader): Row {
  const { subjectText, subject, from, to, cc, sentAt, threadIds } = headerKeys
  return {
    message,
    packed: keptHeaders,
    subject_text: subjectText,
    subject_key: subject.key,
    is_reply: subject.isReply,
    from_key: from,
    to_key: to,
    cc_key: cc,
    sent_at: sentAt,
    thread_ids: threadIds,
  }
}

/** Stores or replaces a row. */
export function putHeaders(tx: Tx, message: number, header: StoredHeader): void {
  tx.run('DELETE FROM message_headers WHERE message = ?', [message])
  tx.insert('message_headers', headerRow(message, header))
}

export function deleteHeaders(tx: Tx, messages: readonly number[]): void {
  tx.run('DELETE FROM message_headers WHERE message IN (SELECT value FROM json_each(?))', [JSON.stringify(messages)])
}

/** Condition: the subject of a message has a text, which is bound; NULL where the subject is not kept as text. */
export function hasSubjectText(column: string): string {
  return `(SELECT instr(h.subject_text, ?) > 0 FROM message_headers h WHERE h.message = ${column})`
}
