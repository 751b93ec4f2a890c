// Replies of submission (docs/design/mail-programs.md §3), and what an error of sending becomes in SMTP.

import type { SaslResult } from '../access/access.ts'
import type { ProductError } from '../base/errors.ts'
import { isDiskFull } from '../base/storage-error.ts'
import { clean } from '../mime/one-line.ts'
import { namedAddresses, type OwnAddresses } from '../mime/own-addresses.ts'
import type { RecipientRefusal } from '../outbound/submit/raw-submitter.ts'
import { replies, reply, type SmtpReply } from '../smtp/replies.ts'
import { SUBMITTED_BYTES_MAX } from './limits.ts'

export const submissionReplies = {
  signedIn: reply(235, '2.7.0', 'Signed in'),
  signInFirst: reply(530, '5.7.0', 'Sign in first'),
  signedInAlready: reply(503, '5.5.1', 'AUTH is possible once, and before MAIL'),
  tlsFirst: reply(538, '5.7.11', 'Use TLS first'),
  noMechanism: reply(504, '5.5.4', 'This mechanism is not offered'),
  badAuth: reply(501, '5.5.4', 'AUTH takes a mechanism and an initial response'),
  notBase64: reply(501, '5.5.2', 'The response is not base64'),
  tooManyTries: reply(421, '4.7.0', 'Too many failed sign-ins'),
  tooManyOfMailbox: reply(454, '4.7.0', 'Too many connections of this mailbox'),
  expired: reply(421, '4.7.0', 'The sign-in is no longer valid'),
  suspended: reply(550, '5.7.1', 'The mailbox is suspended'),
  notRoutable: reply(550, '5.1.2', 'The address has no domain that mail can be sent to'),
  manyRecipients: reply(452, '4.5.3', 'Too many recipients'),
  badBytes: reply(550, '5.6.11', 'A line of the message does not end in CRLF, or has a NUL'),
  busy: reply(451, '4.3.2', 'Too many messages at once, try again in a moment'),
  noRoom: reply(452, '4.3.1', 'Insufficient storage at the moment, try again later'),
  noMemory: reply(452, '4.3.1', 'Too many large messages at once, try again in some minutes'),
  failure: reply(451, '4.3.0', 'Temporary local failure, try again later'),
} as const

/** Replies to a recipient that is refused before the content is known. */
export const recipientReplies: Record<RecipientRefusal, SmtpReply> = {
  unknown: reply(550, '5.1.1', 'There is no such mailbox here'),
  suppressed: reply(550, '5.7.1', 'The recipient is on the suppression list of the team'),
  limit: reply(452, '4.3.1', 'The daily limit of the shared sending account is reached'),
  balance: reply(452, '4.3.1', 'The balance of the team does not cover this message'),
}

type SignInProblem = Extract<SaslResult, { accepted: false }>['reason']

/** Replies to a sign-in that failed. */
export const signInReplies: Record<SignInProblem, SmtpReply> = {
  wrong: reply(535, '5.7.8', 'Wrong address or app password'),
  too_many: reply(454, '4.7.0', 'Too many failed sign-ins, try again in ten minutes'),
  not_allowed: reply(535, '5.7.8', 'This credential does not allow sending by SMTP'),
  team_suspended: reply(535, '5.7.13', 'The team of this mailbox is suspended'),
  provisioning: reply(454, '4.7.0', 'The mailbox is being set up, try again in a moment'),
  importing: reply(454, '4.7.0', 'The mailbox is being imported, try again later'),
  filtered_elsewhere: reply(535, '5.7.8', 'This credential does not allow sending by SMTP'),
  malformed: reply(501, '5.5.2', 'The response does not follow the mechanism'),
  cancelled: reply(501, '5.7.0', 'Authentication canceled'),
}

/** Characters of a reply line, its codes not counted (RFC 5321 §4.5.3.1.5). */
const TEXT_MAX = 450

/** The reply to an envelope sender that is no address of the mailbox: devices say `root@host` until a person enters another one. */
export function foreignSender(own: OwnAddresses): SmtpReply {
  const text = `The mailbox may not write as this address. Set the sender to one of: ${namedAddresses(own)}`
  return reply(553, '5.7.1', asciiLine(text))
}

/** The reply for an error of `RawSubmitter`. */
export function replyOf(error: ProductError): SmtpReply {
  switch (error.code) {
    case 'payload_too_large':
      return replies.tooLarge(SUBMITTED_BYTES_MAX)
    case 'rate_limit_exceeded':
    case 'conflict':
      return reply(452, '4.3.1', textOf(error))
    case 'insufficient_permissions':
      return submissionReplies.suspended
    case 'validation_error':
      return refusalOf(error)
    default:
      return isDiskFull(error) ? submissionReplies.noRoom : submissionReplies.failure
  }
}

function refusalOf(error: ProductError): SmtpReply {
  const [issue] = error.issues ?? []
  if (issue?.field === 'attachments') return reply(552, '5.7.0', textOf(error))
  if (issue?.field !== 'message') return reply(550, '5.7.1', textOf(error))
  const enhanced = { loop: '5.4.6', not_utf8: '5.6.7' }[issue.code] ?? '5.6.0'
  return reply(554, enhanced, textOf(error))
}

/** Replies are ASCII: addresses and names of files may not be. */
function textOf({ message }: ProductError): string {
  return asciiLine(message)
}

function asciiLine(text: string): string {
  return clean(text, TEXT_MAX).replace(/[^ -~]/g, '?')
}
