// Writes changed flags and keywords of many messages, one statement for each column and direction.

import type { Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import type { Account, Flags } from '../records.ts'
import type { EditRow } from './edit-rows.ts'
import { FLAG_KEYWORDS, labelsOf } from './keywords.ts'

/** A message and its keywords after the edit, those of the flags included. */
export interface KeywordEdit {
  row: EditRow
  keywords: readonly string[]
}

const FLAGS = Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]

/** Columns that do not change are not written, because each written column updates its indexes. */
export function writeKeywordEdits(tx: Tx, account: Account, edits: readonly KeywordEdit[]): void {
  for (const flag of FLAGS) {
    const keyword = FLAG_KEYWORDS[flag]
    const changed = edits.filter(({ row, keywords }) => keywords.includes(keyword) !== row.keywords.includes(keyword))
    for (const on of [true, false]) {
      const numbers = changed.filter(({ keywords }) => keywords.includes(keyword) === on).map(({ row }) => row.n)
      if (numbers.length === 0) continue
      tx.run(`UPDATE messages SET ${flag} = ? WHERE n IN (SELECT value FROM json_each(?))`, [
        on,
        JSON.stringify(numbers),
      ])
    }
  }
  writeLabels(tx, account.n, edits)
}

function writeLabels(tx: Tx, account: number, edits: readonly KeywordEdit[]): void {
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
