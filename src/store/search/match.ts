// Terms as expressions of FTS5. Only tokens of letters and digits get into one, each in quotes: no syntax leaks in.

import type { Leaf, TextPart } from './terms.ts'
import { accountKey, addressKey, domainKey, messageIdKey, type PeoplePart, personKey } from './text.ts'

/** What must match and what must not; both sides are expressions. */
export interface Match {
  yes: string[]
  no: string[]
}

const COLUMNS: Record<TextPart, string> = {
  any: '{subject from_text to_text cc_text body filenames}',
  from: '{from_text}',
  to: '{to_text}',
  cc: '{cc_text}',
  bcc: '{bcc_text}',
  subject: '{subject}',
  body: '{body}',
  filename: '{filenames}',
}

/** Words, an exact address or a Message-ID as a match; null for other terms. */
export function matchOf(leaf: Leaf): Match | null {
  switch (leaf.kind) {
    case 'words':
      return one(`${COLUMNS[leaf.part]} : "${leaf.tokens.join(' ')}"${leaf.prefix ? ' *' : ''}`)
    case 'address':
      return one(key(addressKey(leaf.part, leaf.email)))
    case 'domain':
      return one(key(domainKey(leaf.part, leaf.domain)))
    case 'messageId':
      return one(key(messageIdKey(leaf.id)))
    default:
      return null
  }
}

/** Any of these people in any of the parts. */
export function matchPeople(parts: readonly PeoplePart[], people: readonly number[]): Match {
  return one(parts.flatMap((part) => people.map((person) => key(personKey(part, person)))).join(' OR '))
}

export function matchAll(matches: readonly Match[]): Match {
  return { yes: matches.flatMap((match) => match.yes), no: matches.flatMap((match) => match.no) }
}

export function matchAny(account: number, matches: readonly Match[]): Match {
  return one(matches.map((match) => expression(account, match)).join(' OR '))
}

export function matchNot(account: number, match: Match): Match {
  return match.yes.length === 0 && match.no.length === 1
    ? { yes: match.no, no: [] }
    : { yes: [], no: [expression(account, match)] }
}

/** The whole expression. FTS5 can only take away from something: where nothing must match, from all of the account. */
export function expression(account: number, { yes, no }: Match): string {
  const wanted = yes.length === 0 ? key(accountKey(account)) : yes.map(grouped).join(' AND ')
  return no.length === 0 ? wanted : `(${wanted}) NOT (${no.map(grouped).join(' OR ')})`
}

function key(token: string): string {
  return `{keys} : "${token}"`
}

function one(expression: string): Match {
  return { yes: [expression], no: [] }
}

function grouped(expression: string): string {
  return `(${expression})`
}
