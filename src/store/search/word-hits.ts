// Messages whose texts contain words, by number: for searches of mail programs in large folders.

import type { DbReads } from '../../db/db.ts'
import { matching } from './hits.ts'
import { expression, matchOf } from './match.ts'
import type { Leaf } from './terms.ts'
import { tokensOf } from './words.ts'

/**
 * The numbers of the messages of an account with these words side by side, in the body or in any text; the last word may be the beginning
 * of one. In the scan thread.
 * @returns null when the text has no words
 */
export async function messagesWithWords(
  db: DbReads,
  account: number,
  { part, text }: { part: 'any' | 'body'; text: string },
): Promise<Set<number> | null> {
  const tokens = tokensOf(text)
  if (tokens.length === 0) return null
  const leaf: Leaf = { kind: 'words', part, tokens, prefix: true }
  const { sql, values } = matching({ account, match: expression(account, matchOf(leaf)!) })
  const rows = await db.scan.all<{ rowid: number }>(sql, values)
  return new Set(rows.map(({ rowid }) => rowid))
}
