// Everybody a mailbox has exchanged mail with, once each: what the participant filter looks through instead of all messages.

import type { Reader, Tx } from '../../db/db.ts'
import type { Address, ParsedMail } from '../../mail/mail.ts'

/** A message with more people in From, To and Cc is found by the first ones only. */
export const CORRESPONDENTS_PER_MESSAGE = 250
/** How many people a participant filter may stand for before every message is asked instead. */
export const CORRESPONDENTS_PER_FILTER = 100

/** Notes the people of a mail. @returns their numbers, each once, in the order of From, To, Cc */
export async function noteCorrespondents(tx: Tx, account: number, mail: ParsedMail): Promise<number[]> {
  const numbers = new Set<number>()
  for (const person of peopleOf(mail)) numbers.add(await note(tx, account, person))
  return [...numbers]
}

/**
 * The people whose address or name contains `part`, letter case aside.
 * @returns null when there are more than CORRESPONDENTS_PER_FILTER
 */
export async function correspondentsLike(reader: Reader, account: number, part: string): Promise<number[] | null> {
  const rows = await reader.all<{ n: number }>(
    'SELECT n FROM correspondents WHERE account = ? AND instr(folded, ?) > 0 LIMIT ?',
    [account, foldPart(part), CORRESPONDENTS_PER_FILTER + 1],
  )
  return rows.length > CORRESPONDENTS_PER_FILTER ? null : rows.map((row) => row.n)
}

/** Condition: one of the people in a JSON array of their numbers contains `part`. */
export function anyCorrespondentLike(column: string, part: string): { sql: string; values: string[] } {
  const sql = `EXISTS (SELECT 1 FROM json_each(${column}) AS j JOIN correspondents c ON c.n = j.value WHERE instr(c.folded, ?) > 0)`
  return { sql, values: [foldPart(part)] }
}

function peopleOf(mail: ParsedMail): Address[] {
  const people = new Map<string, Address>()
  for (const person of [...mail.from, ...mail.to, ...mail.cc]) {
    if (people.size >= CORRESPONDENTS_PER_MESSAGE) break
    people.set(foldPerson(person), person)
  }
  return [...people.values()]
}

async function note(tx: Tx, account: number, person: Address): Promise<number> {
  const folded = foldPerson(person)
  const known = await tx.get<{ n: number }>('SELECT n FROM correspondents WHERE account = ? AND folded = ?', [
    account,
    folded,
  ])
  return known ? known.n : tx.insert('correspondents', { account, folded })
}

// Two lines: a part that is asked for never holds a line break, so it cannot match across the two.
function foldPerson({ email, name }: Address): string {
  return `${fold(email)}\n${fold(name)}`
}

function foldPart(part: string): string {
  return fold(part.trim())
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')
}
