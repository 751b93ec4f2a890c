// Writes edited messages: one statement for each column and value, however many messages there are.

import type { Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import { FLAG_KEYWORDS, labelsOf } from '../entries/keywords.ts'
import type { Account, Flags } from '../rows/records.ts'
import type { EditRow } from './edit-rows.ts'

/** A message after an edit. */
export interface EditedMessage {
  /** The message before it. */
  row: EditRow
  /** Those of the flags included. */
  keywords: readonly string[]
  listed: boolean
}

const FLAGS = Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]

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
