// Reads the searchable fields of stored messages, to index them again.

import type { Reader } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import type { CorrespondentsByField, SearchableMessage } from '../search/text.ts'
import type { StoredAddresses } from './rows.ts'

/** A message with its searchable fields, except the text of its body. */
export interface IndexableMessage {
  n: number
  id: string
  account: number
  message: Omit<SearchableMessage, 'searchText'>
  people: CorrespondentsByField
  blob: Uint8Array
  sizeBytes: number
  root: Part | null
}

interface SearchedRow {
  n: number
  id: string
  account: number
  subject: string
  addresses: string
  people: string
  internet_message_id: string | null
  blob: Uint8Array
  size_bytes: number
  structure: string
}

/** The next messages of all accounts with numbers above `after` up to `last`, in ascending order. */
export async function searchableMessagesAfter(
  reader: Reader,
  { after, last }: { after: number; last: number },
  limit: number,
): Promise<IndexableMessage[]> {
  const rows = reader.all<SearchedRow>(
    `SELECT n, id, account, subject, addresses, people, internet_message_id, blob, size_bytes, structure FROM messages
     WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
    [after, last, limit],
  )
  return Promise.all(
    rows.map(async (row) => {
      const { from, to, cc, bcc } = JSON.parse(row.addresses) as StoredAddresses
      const { root } = JSON.parse(row.structure) as { root: Part | null }
      const attachments = reader.all<{ filename: string }>(
        'SELECT filename FROM attachments WHERE message = ? ORDER BY n',
        [row.n],
      )
      const { n, id, account, subject, internet_message_id: messageId, blob, size_bytes: sizeBytes } = row
      const message = { subject, from, to, cc, bcc, messageId, attachments }
      return { n, id, account, message, people: JSON.parse(row.people) as CorrespondentsByField, blob, sizeBytes, root }
    }),
  )
}

/** Whether a message still exists. */
export function messageExists(reader: Reader, { n, id }: Pick<IndexableMessage, 'n' | 'id'>): boolean {
  return reader.get('SELECT 1 FROM messages WHERE n = ? AND id = ?', [n, id]) !== undefined
}
