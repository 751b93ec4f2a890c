// Correspondents of an account: the distinct names and addresses in its messages, for filters by part of a name or address.

import type { Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import type { Fragment } from '../folders.ts'
import type { CorrespondentField, CorrespondentsByField } from '../search/text.ts'

/** At most this many addresses of From, To and Cc together are recorded per message. */
export const CORRESPONDENTS_PER_MESSAGE = 250
/** A filter that matches more correspondents than this is evaluated on every message instead. */
export const CORRESPONDENTS_PER_FILTER = 100

/** Records the correspondents of a message. @returns their numbers by header field */
export function recordCorrespondents(tx: Tx, account: number, { from, to, cc }: ParsedMessage): CorrespondentsByField {
  const distinct = new Set([...from, ...to, ...cc].map(foldedAddress))
  const keys = [...distinct].slice(0, CORRESPONDENTS_PER_MESSAGE)
  const numbers = knownCorrespondents(tx, account, keys)
  for (const folded of keys) {
    if (!numbers.has(folded)) numbers.set(folded, tx.insert('correspondents', { account, folded }))
  }
  const numbersOf = (addresses: Address[]) => [
    ...new Set(addresses.flatMap((address) => numbers.get(foldedAddress(address)) ?? [])),
  ]
  return { from: numbersOf(from), to: numbersOf(to), cc: numbersOf(cc) }
}

function knownCorrespondents(tx: Tx, account: number, keys: readonly string[]): Map<string, number> {
  if (keys.length === 0) return new Map()
  const rows = tx.all<{ n: number; folded: string }>(
    `SELECT n, folded FROM correspondents WHERE account = ? AND folded IN (${placeholders(keys)})`,
    [account, ...keys],
  )
  return new Map(rows.map(({ n, folded }) => [folded, n]))
}

/**
 * Correspondents whose address or name contains `text`, ignoring letter case.
 * @returns null if there are more than PEOPLE_PER_FILTER
 */
export function correspondentsLike(reader: Reader, account: number, text: string): number[] | null {
  const rows = reader.all<{ n: number }>(
    'SELECT n FROM correspondents WHERE account = ? AND instr(folded, ?) > 0 LIMIT ?',
    [account, fold(text), CORRESPONDENTS_PER_FILTER + 1],
  )
  return rows.length > CORRESPONDENTS_PER_FILTER ? null : rows.map((row) => row.n)
}

/** Condition: a correspondent of the message in one of the fields contains `text`. */
export function hasCorrespondentLike(alias: string, fields: readonly CorrespondentField[], text: string): Fragment {
  const conditions = fields.map(
    (field) => `EXISTS (SELECT 1 FROM json_each(${alias}.people, '$.${field}') j CROSS JOIN correspondents c
      WHERE c.n = j.value AND instr(c.folded, ?) > 0)`,
  )
  return { sql: `(${conditions.join(' OR ')})`, values: fields.map(() => fold(text)) }
}

// Separated by a line break, which the searched text never contains: no match spans both.
function foldedAddress({ email, name }: Address): string {
  return `${fold(email)}\n${fold(name)}`
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()
}
