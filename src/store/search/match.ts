// Translates terms to FTS5 expressions. They contain only quoted tokens of letters and digits, so that no FTS5 syntax can be injected.

import type { Leaf, TextPart } from './terms.ts'
import { accountKey, addressKey, type CorrespondentField, correspondentKey, domainKey, messageIdKey } from './text.ts'

/** Expressions that must match, and that must not. */
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

/** The match of a full-text term: words, an exact address, a domain or a Message-ID; null for other terms. */
export function matchOf(leaf: Leaf): Match | null {
  switch (leaf.kind) {
    case 'words':
      return single(`${COLUMNS[leaf.part]} : "${leaf.tokens.join(' ')}"${leaf.prefix ? ' *' : ''}`)
    case 'address':
      return single(key(addressKey(leaf.part, leaf.email)))
    case 'domain':
      return single(key(domainKey(leaf.part, leaf.domain)))
    case 'messageId':
      return single(key(messageIdKey(leaf.id)))
    default:
      return null
  }
}

/** Any of the correspondents in any of the fields. */
export function matchCorrespondents(fields: readonly CorrespondentField[], correspondents: readonly number[]): Match {
  return single(fields.flatMap((field) => correspondents.map((n) => key(correspondentKey(field, n)))).join(' OR '))
}

export function matchAll(matches: readonly Match[]): Match {
  return { yes: matches.flatMap((match) => match.yes), no: matches.flatMap((match) => match.no) }
}

export function matchAny(account: number, matches: readonly Match[]): Match {
  return single(matches.map((match) => expression(account, match)).join(' OR '))
}

export function matchNot(account: number, match: Match): Match {
  return match.yes.length === 0 && match.no.length === 1
    ? { yes: match.no, no: [] }
    : { yes: [], no: [expression(account, match)] }
}

/** The complete expression. FTS5 has no unary NOT: without a positive part, the negation is subtracted from all messages of the account. */
export function expression(account: number, { yes, no }: Match): string {
  const positive = yes.length === 0 ? key(accountKey(account)) : yes.map(parenthesised).join(' AND ')
  return no.length === 0 ? positive : `(${positive}) NOT (${no.map(parenthesised).join(' OR ')})`
}

function key(token: string): string {
  return `{keys} : "${token}"`
}

function single(expression: string): Match {
  return { yes: [expression], no: [] }
}

function parenthesised(expression: string): string {
  return `(${expression})`
}
