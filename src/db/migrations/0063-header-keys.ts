// Keys of stored headers, by which folders are sorted, threaded and searched: once for each message instead of at each request.

import { headerKeys } from '../../mime/header-keys.ts'
import { unpackHeaders } from '../../mime/message-headers.ts'
import type { Fill, Migration } from '../migrate.ts'
import { statements } from '../migrate.ts'

// subject_key IS NULL stands for a header without keys: until `fill` has reached it, and where fields of it were too long to be kept.
const schema = statements(
  63,
  'header-keys',
  `
ALTER TABLE message_headers ADD COLUMN subject_text TEXT;
ALTER TABLE message_headers ADD COLUMN subject_key TEXT;
ALTER TABLE message_headers ADD COLUMN is_reply INTEGER;
ALTER TABLE message_headers ADD COLUMN from_key TEXT;
ALTER TABLE message_headers ADD COLUMN to_key TEXT;
ALTER TABLE message_headers ADD COLUMN cc_key TEXT;
ALTER TABLE message_headers ADD COLUMN sent_at INTEGER;
ALTER TABLE message_headers ADD COLUMN thread_ids TEXT;
`,
)

const HEADERS_PER_PIECE = 1000

const fill: Fill = {
  total: (reader) =>
    reader.get<{ n: number }>('SELECT count(*) AS n FROM message_headers WHERE subject_key IS NULL')!.n,
  piece(tx, after) {
    const [message = 0] = after ?? []
    const rows = tx.all<{ message: number; packed: Uint8Array }>(
      'SELECT message, packed FROM message_headers WHERE message > ? AND subject_key IS NULL ORDER BY message LIMIT ?',
      [message, HEADERS_PER_PIECE],
    )
    const last = rows.at(-1)
    if (last === undefined) return null
    for (const row of rows) {
      const { fields, isCut } = unpackHeaders(row.packed)
      if (isCut) continue
      const { subjectText, subject, from, to, cc, sentAt, threadIds } = headerKeys(fields)
      tx.run(
        `UPDATE message_headers SET subject_text = ?, subject_key = ?, is_reply = ?, from_key = ?, to_key = ?, cc_key = ?, sent_at = ?,
           thread_ids = ? WHERE message = ?`,
        [subjectText, subject.key, subject.isReply, from, to, cc, sentAt, threadIds, row.message],
      )
    }
    return { after: [last.message], rows: rows.length }
  },
}

export const messageHeaderKeys: Migration = { ...schema, fill }
