// The action `vacation` (RFC 5230): its arguments, and the ids under which senders are remembered.

import { hash } from 'node:crypto'
import { parseMailbox } from '../mime/address.ts'
import { quotedSubject } from '../mime/one-line.ts'
import type { ArgumentValue, ParsedArguments, ScriptChecker, TagRule } from './arguments.ts'
import { textOf } from './encoded.ts'
import type { ScriptVacation, SieveStep } from './script.ts'

/** RFC 5230 §4.1: at least one day; what is remembered longer takes the place of others. */
const DAYS_DEFAULT = 7
const DAYS_MAX = 30
const SUBJECT_MAX = 255
/** Characters of a subject with values of variables. */
const QUOTED_MAX = 120
const REASON_MAX = 65_536
const ADDRESSES_MAX = 100
/** Characters of a digest, in hexadecimal. */
const DIGEST_LENGTH = 32

export const VACATION_TAGS: Readonly<Record<string, TagRule>> = {
  days: { group: 'days', takes: 'number' },
  subject: { group: 'subject', takes: 'string' },
  from: { group: 'from', takes: 'string' },
  addresses: { group: 'addresses', takes: 'strings' },
  mime: { group: 'mime' },
  handle: { group: 'handle', takes: 'string' },
}

/** @returns null when something is wrong, which was reported to the checker */
export function vacationStep({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const reason = textIn(positional[0]!, REASON_MAX, 'The text of the answer', checker)
  const written = tags.has('subject') ? textIn(tags.get('subject')!, SUBJECT_MAX, 'The subject', checker) : null
  // Values of variables are the words of strangers: a subject of ours has no links of theirs.
  const subject = written !== null && checker.isExpanded ? quotedSubject(written, QUOTED_MAX) : written
  const author = tags.get('from')
  const from = author === undefined ? null : (parseMailbox(addressIn(author.strings[0]!))?.email ?? undefined)
  if (from === undefined) checker.wrong(author!.at, 'The author (":from") is not an address.')
  const addresses = (tags.get('addresses')?.strings ?? []).map((text) => addressIn(text).toLowerCase())
  if (addresses.length > ADDRESSES_MAX) {
    checker.wrong(tags.get('addresses')!.at, `"vacation" takes at most ${ADDRESSES_MAX} addresses.`)
    return null
  }
  if (reason === null || from === undefined || (tags.has('subject') && subject === null)) return null
  const isMime = tags.has('mime')
  const handle = tags.get('handle')?.strings[0] ?? JSON.stringify([subject, from, isMime, reason])
  const days = Math.min(Math.max(tags.get('days')?.number ?? DAYS_DEFAULT, 1), DAYS_MAX)
  const vacation = { days, subject, from, addresses, isMime, reason, handle: digest(handle) }
  return { do: 'vacation', vacation }
}

/** The ids under which the senders of a message are remembered, in hexadecimal. @param senders lower-case */
export function vacationIds({ handle, days }: ScriptVacation, senders: readonly string[]) {
  return senders.map((sender) => ({ id: digest(`vacation ${handle} ${sender}`), seconds: days * 86_400 }))
}

/** Replies of scripts to one sender in a day. */
export const REPLIES_PER_DAY = 10

/** Ids of the replies that scripts may send to the senders of a message in a day, as {@link vacationIds}: each is used once. */
export function replySlots(senders: readonly string[]) {
  return Array.from({ length: REPLIES_PER_DAY }, (_, slot) =>
    senders.map((sender) => ({ id: digest(`vacation reply ${slot} ${sender}`), seconds: 86_400 })),
  )
}

/** `Ana <ana@shop.example>` as well, as editors write it. */
function addressIn(text: string): string {
  return /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text.trim()
}

function textIn({ strings, at }: ArgumentValue, most: number, what: string, checker: ScriptChecker): string | null {
  const text = textOf(strings[0]!)
  if (text !== null && text.length <= most) return text
  checker.wrong(at, text === null ? `${what} is not UTF-8.` : `${what} has more than ${most} characters.`)
  return null
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, DIGEST_LENGTH)
}
