// Everybody a mailbox has exchanged mail with, once each: what filters for a part of a name or address look through.

import type { Reader, Tx } from '../../db/db.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import type { Fragment } from '../folders.ts'
import type { People, PeoplePart } from '../search/text.ts'

/** Of more people in From, To and Cc together the first ones are noted. */
export const PEOPLE_PER_MESSAGE = 250
/** For how many people a filter may stand before it asks every message instead. */
export const PEOPLE_PER_FILTER = 100

/** Notes the people of a mail. @returns their numbers by part */
export async function notePeople(tx: Tx, account: number, mail: ParsedMessage): Promise<People> {
  const known = new Map<string, number>()
  const numbersOf = async (addresses: Address[]) => {
    const numbers = new Set<number>()
    for (const person of addresses) {
      const folded = foldPerson(person)
      if (!known.has(folded) && known.size >= PEOPLE_PER_MESSAGE) break
      const n = known.get(folded) ?? (await note(tx, account, folded))
      known.set(folded, n)
      numbers.add(n)
    }
    return [...numbers]
  }
  return { from: await numbersOf(mail.from), to: await numbersOf(mail.to), cc: await numbersOf(mail.cc) }
}

async function note(tx: Tx, account: number, folded: string): Promise<number> {
  const known = await tx.get<{ n: number }>('SELECT n FROM correspondents WHERE account = ? AND folded = ?', [
    account,
    folded,
  ])
  return known ? known.n : tx.insert('correspondents', { account, folded })
}

/**
 * The people whose address or name contains `text`, letter case aside.
 * @returns null when there are more than PEOPLE_PER_FILTER
 */
export async function peopleLike(reader: Reader, account: number, text: string): Promise<number[] | null> {
  const rows = await reader.all<{ n: number }>(
    'SELECT n FROM correspondents WHERE account = ? AND instr(folded, ?) > 0 LIMIT ?',
    [account, fold(text), PEOPLE_PER_FILTER + 1],
  )
  return rows.length > PEOPLE_PER_FILTER ? null : rows.map((row) => row.n)
}

/** True for a message one of whose people in the parts is like `text`. */
export function hasPersonLike(alias: string, parts: readonly PeoplePart[], text: string): Fragment {
  const tests = parts.map(
    (part) => `EXISTS (SELECT 1 FROM json_each(${alias}.people, '$.${part}') j CROSS JOIN correspondents c
      WHERE c.n = j.value AND instr(c.folded, ?) > 0)`,
  )
  return { sql: `(${tests.join(' OR ')})`, values: parts.map(() => fold(text)) }
}

// A line break between the two, which a text that is asked for never holds: no match reaches across.
function foldPerson({ email, name }: Address): string {
  return `${fold(email)}\n${fold(name)}`
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()
}
