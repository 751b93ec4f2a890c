// Rows that edits of messages read and write: one statement for each column and value, however many messages there are.

import type { Reader, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { ErasedContent } from '../content/erased-content.ts'
import { deleteHeaders } from '../entries/headers.ts'
import { FLAG_KEYWORDS, keywordsOf, labelsOf } from '../entries/keywords.ts'
import type { CountedThreadMessage } from '../entries/recount.ts'
import { countAttachments } from '../rows/accounts.ts'
import type { Account, Flags } from '../rows/records.ts'
import { unindexMessage } from '../search/text.ts'

/** The fields of a message that edits use. */
export interface EditRow {
  n: number
  id: string
  thread: number
  receivedAt: number
  sizeBytes: number
  listed: boolean
  /** Including those of the flags, sorted. */
  keywords: string[]
}

interface Row {
  n: number
  id: string
  thread: number
  received_at: number
  size_bytes: number
  listed: number
  seen: number
  flagged: number
  draft: number
  answered: number
  keywords: string
}

const FLAGS = Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]

const EDIT_COLUMNS = 'n, id, thread, received_at, size_bytes, listed, seen, flagged, draft, answered, keywords'

/** Messages of an account by public id; unknown ids are left out. */
export function editRows(reader: Reader, account: Account, ids: readonly string[]): Map<string, EditRow> {
  if (ids.length === 0) return new Map()
  // The plus: for many ids SQLite would otherwise read all messages of the account.
  const rows = reader.all<Row>(
    `SELECT ${EDIT_COLUMNS} FROM messages WHERE +account = ? AND id IN (${placeholders(ids)})`,
    [account.n, ...ids],
  )
  return new Map(rows.map((row) => [row.id, editRow(row)]))
}

/** The same by number. */
export function editRowsByNumber(reader: Reader, account: Account, ns: readonly number[]): Map<number, EditRow> {
  const rows = reader.all<Row>(
    `SELECT ${EDIT_COLUMNS} FROM messages WHERE +account = ? AND n IN (SELECT value FROM json_each(?))`,
    [account.n, JSON.stringify(ns)],
  )
  return new Map(rows.map((row) => [row.n, editRow(row)]))
}

function editRow(row: Row): EditRow {
  const { n, id, thread, received_at: receivedAt, size_bytes: sizeBytes } = row
  const flags = Object.fromEntries(FLAGS.map((flag) => [flag, row[flag] === 1])) as unknown as Flags
  const keywords = keywordsOf(flags, JSON.parse(row.keywords) as string[])
  return { n, id, thread, receivedAt, sizeBytes, listed: row.listed === 1, keywords }
}

/** Public ids of messages by number, in the same order. */
export function idsOf(reader: Reader, ns: readonly number[]): string[] {
  if (ns.length === 0) return []
  const sql = 'SELECT n, id FROM messages WHERE n IN (SELECT value FROM json_each(?))'
  const rows = reader.all<{ n: number; id: string }>(sql, [JSON.stringify(ns)])
  const ids = new Map(rows.map(({ n, id }) => [n, id]))
  return ns.flatMap((n) => ids.get(n) ?? [])
}

/** Deletes the rows of messages that belong to no thread or folder. @returns their content, which is still stored */
export function deleteMessageRows(tx: Tx, account: Account, ns: readonly number[]): ErasedContent[] {
  const list = [JSON.stringify(ns)]
  tx.run('DELETE FROM message_keywords WHERE message IN (SELECT value FROM json_each(?))', list)
  deleteHeaders(tx, ns)
  const files = tx.all<{ size_bytes: number }>(
    'DELETE FROM attachments WHERE message IN (SELECT value FROM json_each(?)) RETURNING size_bytes',
    list,
  )
  countAttachments(tx, account.n, 0 - files.reduce((sum, file) => sum + file.size_bytes, 0))
  // At the end of the transaction like indexing, so that it also removes a message indexed in the same transaction.
  for (const n of ns) tx.atEnd((end) => unindexMessage(end, n), n)
  return tx.all<ErasedContent>(
    `DELETE FROM messages WHERE n IN (SELECT value FROM json_each(?))
     RETURNING blob AS hash, size_bytes AS sizeBytes, created_at AS createdAt`,
    list,
  )
}

/** The messages of threads, oldest first; threads without messages are left out. */
export function threadMessages(tx: Tx, threads: readonly number[]): Map<number, CountedThreadMessage[]> {
  const rows = tx.all<Row & { has_attachments: number; addresses: string }>(
    `SELECT n, thread, received_at, listed, seen, has_attachments, addresses FROM messages
     WHERE thread IN (SELECT value FROM json_each(?)) ORDER BY thread, received_at, n`,
    [JSON.stringify(threads)],
  )
  const messages = new Map<number, CountedThreadMessage[]>()
  for (const row of rows) {
    const list = messages.get(row.thread) ?? []
    if (list.length === 0) messages.set(row.thread, list)
    list.push({
      n: row.n,
      receivedAt: row.received_at,
      listed: row.listed === 1,
      seen: row.seen === 1,
      hasAttachments: row.has_attachments === 1,
      addresses: row.addresses,
    })
  }
  return messages
}

/** A message after an edit. */
export interface EditedMessage {
  /** The message before it. */
  row: EditRow
  /** Those of the flags included. */
  keywords: readonly string[]
  listed: boolean
}

/** Columns that do not change are not written, because each written column updates its indexes. */
export function writeEdits(tx: Tx, account: Account, edits: readonly EditedMessage[]): void {
  for (const flag of FLAGS) {
    const keyword = FLAG_KEYWORDS[flag]
    writeColumn(tx, flag, edits, ({ keywords }) => keywords.includes(keyword))
  }
  writeColumn(tx, 'listed', edits, ({ listed }) => listed)
  writeLabels(tx, account.n, edits)
}

function writeColumn(
  tx: Tx,
  column: keyof Flags | 'listed',
  edits: readonly EditedMessage[],
  columnValue: (message: EditRow | EditedMessage) => boolean,
): void {
  const changed = Map.groupBy(
    edits.filter((edited) => columnValue(edited) !== columnValue(edited.row)),
    columnValue,
  )
  for (const [value, group] of changed) {
    tx.run(`UPDATE messages SET ${column} = ? WHERE n IN (SELECT value FROM json_each(?))`, [
      value,
      JSON.stringify(group.map(({ row }) => row.n)),
    ])
  }
}

function writeLabels(tx: Tx, account: number, edits: readonly EditedMessage[]): void {
  const lists: [n: number, labels: string][] = []
  const added: { account: number; keyword: string; message: number }[] = []
  const dropped: [keyword: string, message: number][] = []
  for (const { row, keywords } of edits) {
    const [before, after] = [labelsOf(row.keywords), labelsOf(keywords)]
    const more = after.filter((keyword) => !before.includes(keyword))
    const fewer = before.filter((keyword) => !after.includes(keyword))
    if (more.length + fewer.length === 0) continue
    lists.push([row.n, JSON.stringify(after)])
    added.push(...more.map((keyword) => ({ account, keyword, message: row.n })))
    for (const keyword of fewer) dropped.push([keyword, row.n])
  }
  if (lists.length === 0) return
  tx.run('UPDATE messages SET keywords = j.value ->> 1 FROM json_each(?) j WHERE messages.n = j.value ->> 0', [
    JSON.stringify(lists),
  ])
  insertMany(tx, 'message_keywords', added)
  if (dropped.length === 0) return
  tx.run(
    `DELETE FROM message_keywords WHERE (account, keyword, message) IN
       (SELECT ?, value ->> 0, value ->> 1 FROM json_each(?))`,
    [account, JSON.stringify(dropped)],
  )
}
