// What a message can be found by, read back from its rows, for an index that is made anew.

import type { Reader } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import type { People, SearchedMail } from '../search/text.ts'
import type { KeptAddresses } from './rows.ts'

/** A message and everything it can be found by, but for the text of its body. */
export interface SearchedMessage {
  n: number
  id: string
  account: number
  mail: Omit<SearchedMail, 'searchText'>
  people: People
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

/** The next messages of the house behind a number, up to `last`, by their numbers. */
export async function searchedBehind(
  reader: Reader,
  { place, last }: { place: number; last: number },
  limit: number,
): Promise<SearchedMessage[]> {
  const rows = await reader.all<SearchedRow>(
    `SELECT n, id, account, subject, addresses, people, internet_message_id, blob, size_bytes, structure FROM messages
     WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
    [place, last, limit],
  )
  return Promise.all(
    rows.map(async (row) => {
      const { from, to, cc, bcc } = JSON.parse(row.addresses) as KeptAddresses
      const { root } = JSON.parse(row.structure) as { root: Part | null }
      const attachments = await reader.all<{ filename: string }>(
        'SELECT filename FROM attachments WHERE message = ? ORDER BY n',
        [row.n],
      )
      const { n, id, account, subject, internet_message_id: messageId, blob, size_bytes: sizeBytes } = row
      const mail = { subject, from, to, cc, bcc, messageId, attachments }
      return { n, id, account, mail, people: JSON.parse(row.people) as People, blob, sizeBytes, root }
    }),
  )
}

/** Whether a message is still there. */
export async function isThere(reader: Reader, { n, id }: Pick<SearchedMessage, 'n' | 'id'>): Promise<boolean> {
  return (await reader.get('SELECT 1 FROM messages WHERE n = ? AND id = ?', [n, id])) !== undefined
}
