// The people to whom a mailbox has written, those it writes to most and latest first.

import { DAY_MS } from '../../base/durations.ts'
import type { AnyReader } from '../../db/db.ts'

/** Newest messages of Sent that are read. */
const SENT_MAX = 2000
/** A message that is this old counts half as much as a new one. */
const HALF_MS = 60 * DAY_MS

export interface Contact {
  email: string
  /** As the latest message names them; "" when it does not. */
  name: string
  /** Messages among those looked at. */
  messages: number
  /** Time of the latest one, ms. */
  lastWrittenAt: number
}

/** @param sent number of the folder Sent */
export function readContacts(
  reader: AnyReader,
  sent: number,
  now: number,
  limit: number,
): Contact[] | Promise<Contact[]> {
  // Of the rows of a group SQLite takes the bare columns from the row with max().
  return reader.all<Contact>(
    `WITH sent AS MATERIALIZED (
       SELECT m.addresses, e.received_at AS at FROM message_folders e JOIN messages m ON m.n = e.message
       WHERE e.folder = ? AND m.draft = 0 ORDER BY e.received_at DESC LIMIT ${SENT_MAX}
     )
     SELECT p.value ->> 'email' AS email, p.value ->> 'name' AS name, count(*) AS messages, max(at) AS lastWrittenAt
     FROM sent, json_each('["to","cc","bcc"]') field, json_each(sent.addresses, '$.' || field.value) p
     GROUP BY lower(p.value ->> 'email')
     ORDER BY sum(1.0 / (1 + max(0, ? - at) / ${HALF_MS}.0)) DESC, lastWrittenAt DESC, email LIMIT ?`,
    [sent, now, limit],
  )
}
