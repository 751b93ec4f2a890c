// Correspondents of an account: the distinct names and addresses in its messages, for filters by part of a name or address.

import type { Reader, Tx } from '../../db/db.ts'
import { inPieces, selectMany } from '../../db/many-rows.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import type { Fragment } from '../rows/folders.ts'
import type { CorrespondentField, CorrespondentsByField } from './text.ts'

/** At most this many addresses of From, To and Cc together are recorded per message. */
export const CORRESPONDENTS_PER_MESSAGE = 250
/** A filter that matches more correspondents than this is evaluated on every message instead. */
export const CORRESPONDENTS_PER_FILTER = 100

/** The author and recipients of a message of an account. */
export type CorrespondingMessage = Pick<ParsedMessage, 'from' | 'to' | 'cc'> & { account: number }

/** Records the correspondents of messages. @returns their numbers by header field, in the order of the messages */
export function recordCorrespondents(tx: Tx, messages: readonly CorrespondingMessage[]): CorrespondentsByField[] {
  const keys = new Map<string, readonly [number, string]>()
  for (const { account, from, to, cc } of messages) {
    const distinct = new Set([...from, ...to, ...cc].map(foldedAddress))
    for (const folded of [...distinct].slice(0, CORRESPONDENTS_PER_MESSAGE))
      keys.set(keyOf(account, folded), [account, folded])
  }
  const numbers = numbersOfCorrespondents(tx, keys)
  return messages.map(({ account, from, to, cc }) => {
    const numbersOf = (addresses: Address[]) => [
      ...new Set(addresses.flatMap((address) => numbers.get(keyOf(account, foldedAddress(address))) ?? [])),
    ]
    return { from: numbersOf(from), to: numbersOf(to), cc: numbersOf(cc) }
  })
}

interface CorrespondentRow {
  n: number
  account: number
  folded: string
}

/** Reads the numbers of correspondents, and inserts those that are new. */
function numbersOfCorrespondents(tx: Tx, keys: ReadonlyMap<string, readonly [number, string]>): Map<string, number> {
  const numbers = new Map<string, number>()
  const add = (rows: readonly CorrespondentRow[]) => {
    for (const { n, account, folded } of rows) numbers.set(keyOf(account, folded), n)
  }
  const known = (marks: string) =>
    `WITH wanted (account, folded) AS (VALUES ${marks}) SELECT c.n, c.account, c.folded
     FROM wanted w CROSS JOIN correspondents c ON c.account = w.account AND c.folded = w.folded`
  add(selectMany<CorrespondentRow>(tx, [...keys.values()], known))
  const missing = [...keys].flatMap(([key, row]) => (numbers.has(key) ? [] : [row]))
  inPieces(missing, (marks, values) => {
    const sql = `INSERT INTO correspondents (account, folded) VALUES ${marks} RETURNING n, account, folded`
    add(tx.all<CorrespondentRow>(sql, values))
  })
  return numbers
}

function keyOf(account: number, folded: string): string {
  return `${account}\n${folded}`
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

/** Whether an address (lower-case) occurs in a message of the account, under any name. */
export function hasCorrespondent(reader: Reader, account: number, email: string): boolean {
  // Address and name are separated by a line break, which the next character follows.
  const sql = 'SELECT 1 AS found FROM correspondents WHERE account = ? AND folded >= ? AND folded < ? LIMIT 1'
  return reader.get(sql, [account, `${fold(email)}\n`, `${fold(email)}\v`]) !== undefined
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
