// What a person may not have meant, asked once before a message is sent.

import type { TypedAddress } from '../../base/address-list.ts'
import { compose as words } from '../../words/en/compose.ts'

export type Doubt =
  | { kind: 'noSubject' | 'noFile' }
  /** A domain that is one letter away from one that the mailbox writes to. */
  | { kind: 'domain'; domain: string; known: string }
  /** People in a reply to several to whom the mailbox has never written. */
  | { kind: 'strangers'; people: string }

/** The parts of a message that are checked. */
export interface SentFields {
  to: readonly TypedAddress[]
  cc: readonly TypedAddress[]
  bcc: readonly TypedAddress[]
  subject: string
  attachments: readonly unknown[]
  /** Quotation of the answered message. */
  quote?: object | null
}

export interface DoubtFacts {
  fields: SentFields
  /** Text of the message. */
  text: string
  /** People to whom the mailbox has written. */
  contacts: readonly TypedAddress[]
  /** Address of the mailbox. */
  own: string
}

const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

/** Everything to ask about, the most important first. */
export function doubtsOf(facts: DoubtFacts): Doubt[] {
  const { fields, text } = facts
  const lower = text.toLowerCase()
  const speaksOfFile = words.attachedWords.some((word) => lower.includes(word))
  return [
    ...domainDoubts(facts),
    ...strangerDoubts(facts),
    ...(fields.subject.trim() === '' ? [{ kind: 'noSubject' } as const] : []),
    ...(speaksOfFile && fields.attachments.length === 0 ? [{ kind: 'noFile' } as const] : []),
  ]
}

const peopleOf = ({ to, cc, bcc }: SentFields) => [...to, ...cc, ...bcc]

function domainDoubts({ fields, contacts, own }: DoubtFacts): Doubt[] {
  const domains = new Set([own, ...contacts.map(({ email }) => email)].map(domainOf))
  const unknown = new Set(peopleOf(fields).map(({ email }) => domainOf(email)))
  return [...unknown].flatMap((domain) => {
    if (domains.has(domain)) return []
    const near = [...domains].find((familiar) => isOneLetterAway(domain, familiar))
    return near === undefined ? [] : [{ kind: 'domain', domain, known: near } as const]
  })
}

/** In an answer to several people only: a new message is to whom one names. */
function strangerDoubts({ fields, contacts, own }: DoubtFacts): Doubt[] {
  const people = peopleOf(fields)
  if (fields.quote === null || fields.quote === undefined || people.length < 2) return []
  const addresses = new Set([own, ...contacts.map(({ email }) => email)].map((email) => email.toLowerCase()))
  const ownDomain = domainOf(own)
  // The first recipient is who is answered.
  const strangers = people
    .slice(1)
    .filter(({ email }) => !addresses.has(email.toLowerCase()) && domainOf(email) !== ownDomain)
  return strangers.length === 0 ? [] : [{ kind: 'strangers', people: strangers.map(({ email }) => email).join(', ') }]
}

/** Whether one text becomes the other with one letter more, less, other or changed places with the next. */
export function isOneLetterAway(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const [a, b] = [one.slice(start), other.slice(start)]
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || (a.length > 1 && isSwapped)
}
