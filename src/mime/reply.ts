// Replies and forwards (RFC 5322 §3.6.2 to §3.6.5): whom a reply goes to, and its subject.

import { checkRecipient, NAME_MAX, SUBJECT_MAX, withoutControls } from './compose/draft-rules.ts'
import type { Address } from './message.ts'
import { normaliseSubject } from './references.ts'

/** The fields of a message that a reply needs. */
export interface ReplySource {
  from: Address
  replyTo: readonly Address[]
  to: readonly Address[]
  cc: readonly Address[]
  /** The value of List-Post (RFC 2369); null without one. */
  listPost: string | null
}

/** Whom a reply goes to: the author, all recipients of the message, or its mailing list. */
export type ReplyAudience = 'sender' | 'all' | 'list'

export interface ReplyRecipients {
  to: Address[]
  cc: Address[]
}

/**
 * The recipients of a reply, each once, without the mailbox's own addresses. A reply to an own message goes to its recipients. A Reply-To
 * that a mailing list set to itself names no author: then the reply goes to From, and the list is one of all recipients.
 * @param isOwn whether an address is the mailbox's own
 * @returns null for `list` without a List-Post address
 */
export function replyRecipients(
  source: ReplySource,
  audience: ReplyAudience,
  isOwn: (email: string) => boolean,
): ReplyRecipients | null {
  const list = listAddress(source.listPost)
  if (audience === 'list') return list === null ? null : { to: [{ email: list, name: '' }], cc: [] }
  const isList = ({ email }: Address) => email.toLowerCase() === list?.toLowerCase()
  const [from, replyTo, to, cc] = [[source.from], source.replyTo, source.to, source.cc].map(usableAddresses)
  const named = replyTo!.filter((address) => !isList(address))
  const authors = named.length > 0 ? named : from!
  const isMine = authors.length > 0 && authors.every(({ email }) => isOwn(email))
  const others = (addresses: readonly Address[]) => addresses.filter(({ email }) => !isOwn(email))
  const first = distinct(isMine ? others(to!) : others(authors))
  // A message to oneself.
  const answered = first.length > 0 ? first : distinct(authors)
  if (audience === 'sender') return { to: answered, cc: [] }
  const known = new Set(answered.map(({ email }) => email.toLowerCase()))
  const more = others([...(isMine ? [] : to!), ...cc!, ...replyTo!.filter(isList)])
  return { to: answered, cc: distinct(more).filter(({ email }) => !known.has(email.toLowerCase())) }
}

/** The address of `List-Post: <mailto:…>`; null for another form, and for `NO`. */
function listAddress(value: string | null): string | null {
  const written = /<mailto:([^>?]{1,320})/i.exec(value ?? '')?.[1]
  if (written === undefined) return null
  try {
    return checkRecipient('', { email: decodeURIComponent(written) }).email
  } catch {
    return null
  }
}

/** The addresses that a message can be sent to, with names that fit a header field. */
export function usableAddresses(addresses: readonly Address[]): Address[] {
  return addresses.flatMap(({ email, name }) => {
    try {
      return checkRecipient('', { email, name: headerText(name, NAME_MAX) })
    } catch {
      return []
    }
  })
}

function distinct(addresses: readonly Address[]): Address[] {
  const first = new Map<string, Address>()
  for (const address of addresses) {
    const key = address.email.toLowerCase()
    if (!first.has(key)) first.set(key, address)
  }
  return [...first.values()]
}

/** The subject of a reply: `Re: ` in front, unless it is there already in any language. */
export function replySubject(subject: string): string {
  const isReply = normaliseSubject(subject).isReply && !isForward(subject)
  return headerText(isReply ? subject : `Re: ${subject}`, SUBJECT_MAX)
}

export function forwardSubject(subject: string): string {
  return headerText(isForward(subject) ? subject : `Fwd: ${subject}`, SUBJECT_MAX)
}

function isForward(subject: string): boolean {
  return /^\s*(?:fwd?|wg)\s*:/i.test(subject)
}

/** Decoded text of another message in one line: encoded words can contain line breaks. @param max code points */
function headerText(text: string, max: number): string {
  const line = withoutControls(text.replace(/[\r\n\0]+/g, ' ')).trim()
  return line.length <= max ? line : [...line.slice(0, max * 2)].slice(0, max).join('')
}
