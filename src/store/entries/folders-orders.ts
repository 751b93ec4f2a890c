// Folders in the order of SORT, and what THREAD needs of their messages, by the keys of stored headers.

import type { Reader } from '../../db/db.ts'

/** What a folder can be ordered by, in the order of the criteria. */
export interface OrderCriterion {
  key: keyof typeof ORDER_COLUMNS
  isReverse: boolean
}

const ORDER_COLUMNS = {
  arrival: 'e.received_at',
  size: 'e.size_bytes',
  date: 'coalesce(h.sent_at, e.received_at)',
  subject: 'h.subject_key',
  from: 'h.from_key',
  to: 'h.to_key',
  cc: 'h.cc_key',
}

export function isOrderKey(key: string): key is OrderCriterion['key'] {
  return Object.hasOwn(ORDER_COLUMNS, key)
}

/**
 * The UIDs of a folder in order, equal ones ascending.
 * @returns null when a message of an earlier version has no keys, which are to be computed then
 */
export function uidsInOrder(
  reader: Reader,
  folder: number,
  criteria: readonly OrderCriterion[],
): Uint32Array<ArrayBuffer> | null {
  const order = criteria.map(({ key, isReverse }) => `${ORDER_COLUMNS[key]} ${isReverse ? 'DESC' : 'ASC'}, `).join('')
  const needsKeys = criteria.some(({ key }) => ORDER_COLUMNS[key].includes('h.'))
  const from = needsKeys
    ? '(h.subject_key IS NOT NULL) * e.uid AS uid FROM message_folders e LEFT JOIN message_headers h ON h.message = e.message'
    : 'e.uid FROM message_folders e'
  const rows = reader.all<{ uid: number }>(`SELECT ${from} WHERE e.folder = ? ORDER BY ${order} e.uid`, [folder])
  const uids = Uint32Array.from(rows, ({ uid }) => uid)
  return uids.includes(0) ? null : uids
}

/** What THREAD needs of a message. */
export interface ThreadRow {
  uid: number
  /** Date field, or the internal date, ms. */
  date: number
  /** See `HeaderKeys`; null for a message of an earlier version without keys. */
  subject: string | null
  isReply: number
  threadIds: string
}

/** Rows that are read at once: those of a whole folder would outlive young collections of garbage. */
const THREAD_ROWS = 1000

/** Messages of a folder by ascending UID. */
export function* threadRows(
  reader: Reader,
  folder: number,
  { first, last }: { first: number; last: number },
): Generator<ThreadRow> {
  for (let from = first; from <= last; ) {
    const rows = reader.all<ThreadRow>(
      `SELECT e.uid, coalesce(h.sent_at, e.received_at) AS date, h.subject_key AS subject, h.is_reply AS isReply,
         h.thread_ids AS threadIds
       FROM message_folders e LEFT JOIN message_headers h ON h.message = e.message
       WHERE e.folder = ? AND e.uid BETWEEN ? AND ? ORDER BY e.uid LIMIT ?`,
      [folder, from, last, THREAD_ROWS],
    )
    yield* rows
    if (rows.length < THREAD_ROWS) return
    from = rows.at(-1)!.uid + 1
  }
}
