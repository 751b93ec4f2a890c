// Validates addresses, subjects and bodies of a draft at the API (docs/design/sending.md §11).

import { invalid, ProductError } from '../../base/errors.ts'
import { MAILBOX_MAX, parseMailbox } from '../address.ts'
import type { Address } from '../message.ts'

/** Characters (code points, as the schemas count) of a display name and of a subject. */
export const NAME_MAX = 255
export const SUBJECT_MAX = 998
/** Characters of one body. */
export const BODY_MAX = 10_485_760

/** An address as given in the request; an empty name counts as absent. */
export interface GivenAddress {
  email: string
  name?: string | null
}

/**
 * One address of the message: a recipient, the sender, or where replies go.
 * @param field its path in the request, such as `to` or `cc.3`
 * @returns the domain in lower-case A-labels, the local part as it was, `name` "" where there is none
 * @throws ProductError validation_error on `<field>.email` or `<field>.name`
 */
export function checkRecipient(field: string, given: GivenAddress): Address {
  return { email: checkEmail(`${field}.email`, given.email), name: checkName(`${field}.name`, given.name ?? '') }
}

/**
 * Checks an address without a name, such as `return_path`. Characters that a lenient parser could read as the end of the
 * address or as a second one are refused, even where RFC 5321 allows them in quotes.
 * @throws ProductError validation_error on `field`
 */
export function checkEmail(field: string, email: string): string {
  const wrong = (message: string) => invalid(field, 'invalid_format', message)
  if (email.length > MAILBOX_MAX) throw invalid(field, 'too_big', `An address has at most ${MAILBOX_MAX} characters.`)
  refuseBreaks(field, 'An address', email)
  const mailbox = parseMailbox(email)
  if (mailbox === null) throw wrong('This is not an address such as name@example.com.')
  const { local } = mailbox
  if (/[^\x00-\x7f]/.test(local))
    throw wrong('In front of the @ only ASCII is possible; the domain may have any letters.')
  const problem = routingProblem(mailbox)
  if (problem !== null) throw wrong(problem)
  return mailbox.email
}

/** Why no message is sent to an address, although it may be valid; null when there is no reason. */
export function routingProblem({ local, domain }: { local: string; domain: string }): string | null {
  // Some mobile carriers assigned `"john..doe"@example.com`; with "@", "<", "," or spaces in quotes, parsers disagree on its end.
  if (!/^"?[\w!#$%&'*+./=?^`{|}~\-\u0080-\u{10ffff}]+"?$/u.test(local))
    return 'The quoted local part of the address has characters that are not supported.'
  if (domain.startsWith('[')) return 'An address must name a domain, not an IP address.'
  // RFC 7085: dotless domains do not receive mail; this is an incomplete domain.
  if (!domain.includes('.')) return 'The domain of an address needs a dot, as in example.com.'
  if (/\.[0-9]+$/.test(domain)) return 'The domain of an address does not end in a number.'
  return null
}

/** @throws ProductError validation_error on `field` */
export function checkName(field: string, name: string): string {
  if (isLonger(name, NAME_MAX)) throw invalid(field, 'too_big', `A name has at most ${NAME_MAX} characters.`)
  refuseBreaks(field, 'A name', name)
  return withoutControls(name)
}

/** @throws ProductError validation_error on `field` */
export function checkSubject(field: string, subject: string): string {
  if (subject === '') throw invalid(field, 'too_small', 'The subject must not be empty.')
  if (isLonger(subject, SUBJECT_MAX))
    throw invalid(field, 'too_big', `A subject has at most ${SUBJECT_MAX} characters.`)
  refuseBreaks(field, 'The subject', subject)
  return withoutControls(subject)
}

/**
 * The bodies of a message; an empty one counts as absent.
 * @param mayLack an unsent message may have none: its text is then empty
 * @throws ProductError missing_parameter when there is none, validation_error on `text_body` or `html_body`
 */
export function checkBodies(
  given: { text?: string | null; html?: string | null },
  mayLack = false,
): { textBody: string | null; htmlBody: string | null } {
  const textBody = checkBody('text_body', given.text)
  const htmlBody = checkBody('html_body', given.html)
  if (textBody === null && htmlBody === null) {
    if (mayLack) return { textBody: '', htmlBody: null }
    const message = 'A message needs a text_body or an html_body.'
    throw new ProductError('missing_parameter', message, {
      issues: [{ field: 'html_body', code: 'required', message }],
    })
  }
  return { textBody, htmlBody }
}

function checkBody(field: string, body: string | null | undefined): string | null {
  if (body === null || body === undefined || body === '') return null
  if (isLonger(body, BODY_MAX)) throw invalid(field, 'too_big', `A body has at most ${BODY_MAX} characters.`)
  return body
}

/** Refuses CR, LF and NUL, which would allow header injection; they are never replaced silently. */
export function refuseBreaks(field: string, what: string, text: string): void {
  if (/[\r\n\0]/.test(text)) throw invalid(field, 'invalid_format', `${what} must not contain CR, LF or NUL.`)
}

/** Replaces harmless control characters by spaces and lone surrogates by U+FFFD. */
export function withoutControls(text: string): string {
  return text.toWellFormed().replace(/[\x01-\x1f\x7f]/g, ' ')
}

/** True when the text has more than `max` code points; counts only when necessary. */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false
  if (text.length > max * 2) return true
  let pairs = 0
  for (const _pair of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs++
  return text.length - pairs > max
}
