// Parses events and notifications of Amazon SES about a message into outcomes of deliveries.

import { parseAddressList } from '../../../mime/address.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import { shown, textAt, valueAt } from '../../model/api-client.ts'
import type { BounceSubType, BounceType, FeedbackType, Outcome, RemoteReply } from '../../model/records.ts'
import { SES_TAG } from './ses.ts'

export interface SesEvent {
  /** Our message tag: present in events of a configuration set, absent in notifications of an identity. */
  emailId: string | null
  /** The id that SES assigned to the message. */
  messageId: string
  /** The outcome for each recipient. */
  outcomes: { recipient: string; outcome: Outcome }[]
}

/** Maximum number of recipients per event: those of one call to SES, plus a margin. */
export const RECIPIENTS_MAX = 100
const REPLY_MAX = 300
const AGENT_MAX = 200
const MTA_MAX = 255
const MESSAGE_ID = /^[\w-]{1,128}$/

/**
 * @param message the JSON text from SES
 * @param now ms, for events without a timestamp
 * @returns null if it is not an event about a message, or one without an effect on deliveries (opened, clicked, delayed)
 */
export function readSesEvent(message: string, now: number): SesEvent | null {
  const event = jsonOf(message)
  const messageId = textAt(event, 'mail', 'messageId') ?? ''
  if (!MESSAGE_ID.test(messageId)) return null
  const outcomes = outcomesOf(event, now)
  if (outcomes === null) return null
  return { emailId: textAt(event, 'mail', 'tags', SES_TAG, 0), messageId, outcomes: outcomes.slice(0, RECIPIENTS_MAX) }
}

function outcomesOf(event: unknown, now: number): SesEvent['outcomes'] | null {
  switch (textAt(event, 'eventType') ?? textAt(event, 'notificationType')) {
    case 'Bounce':
      return bounces(valueAt(event, 'bounce'), now)
    case 'Complaint':
      return complaints(valueAt(event, 'complaint'), now)
    case 'Delivery':
      return deliveries(valueAt(event, 'delivery'))
    case 'Reject':
      return rejections(event, now)
    default:
      return null
  }
}

const TYPES = new Map<string, BounceType>([
  ['Permanent', 'permanent'],
  ['Transient', 'transient'],
  ['Undetermined', 'undetermined'],
])
const SUB_TYPES = new Map<string, BounceSubType>([
  ['NoEmail', 'no_such_user'],
  ['Suppressed', 'suppressed_by_provider'],
  ['OnAccountSuppressionList', 'suppressed_by_provider'],
  ['UnsubscribedRecipient', 'suppressed_by_provider'],
  ['MailboxFull', 'mailbox_full'],
  ['MessageTooLarge', 'content_rejected'],
  ['ContentRejected', 'content_rejected'],
  ['AttachmentRejected', 'content_rejected'],
])

function bounces(bounce: unknown, now: number): SesEvent['outcomes'] {
  const type = TYPES.get(textAt(bounce, 'bounceType') ?? '') ?? 'undetermined'
  const word = textAt(bounce, 'bounceSubType') ?? ''
  const mta = /^\w+;\s*(.+)$/.exec(textAt(bounce, 'reportingMTA') ?? '')?.[1]
  return listAt(bounce, 'bouncedRecipients').flatMap((entry) => {
    const reply = replyOf(entry, word)
    const outcome: Outcome = {
      kind: 'bounced',
      reply,
      type,
      subType: SUB_TYPES.get(word) ?? classifyReply(reply).subType,
      reportingMta: mta === undefined ? null : shown(mta, MTA_MAX),
      afterAccept: true,
      // docs/design/sending.md §8: trust SES that the bounce is permanent.
      dead: type === 'permanent',
      occurredAt: timeOf(bounce, now),
    }
    return addressed(textAt(entry, 'emailAddress'), outcome)
  })
}

const FEEDBACK = new Map<string, FeedbackType>([
  ['abuse', 'abuse'],
  ['fraud', 'fraud'],
  ['not-spam', 'not_spam'],
  ['virus', 'virus'],
])

/** If SES cannot identify the complainant, it lists every recipient at that provider; all of them count as complaints. */
function complaints(complaint: unknown, now: number): SesEvent['outcomes'] {
  const word = textAt(complaint, 'complaintFeedbackType')
  const agent = textAt(complaint, 'userAgent')
  const outcome: Outcome = {
    kind: 'complained',
    // Most complaints without a type are abuse.
    feedbackType: word === null ? 'abuse' : (FEEDBACK.get(word) ?? 'other'),
    userAgent: agent === null ? null : shown(agent, AGENT_MAX),
    occurredAt: timeOf(complaint, now),
  }
  return listAt(complaint, 'complainedRecipients').flatMap((entry) => addressed(textAt(entry, 'emailAddress'), outcome))
}

/** Needed when the response of SES was lost or is not stored yet. */
function deliveries(delivery: unknown): SesEvent['outcomes'] {
  const said = shown(textAt(delivery, 'smtpResponse') ?? 'Amazon SES delivered the message.', REPLY_MAX)
  const { smtpCode, enhancedCode } = codesIn(said)
  const reply = { smtpCode, enhancedCode, text: said }
  return listAt(delivery, 'recipients').flatMap((recipient) => {
    const outcome: Outcome = { kind: 'sent', reply, confirmation: 'recipient_mx' }
    return addressed(typeof recipient === 'string' ? recipient : null, outcome)
  })
}

/** SES accepted the message, found a virus and discarded it. */
function rejections(event: unknown, now: number): SesEvent['outcomes'] {
  const said = shown(textAt(event, 'reject', 'reason') ?? 'no reason given', REPLY_MAX)
  const reply = { smtpCode: null, enhancedCode: '5.6.0', text: `Amazon SES rejected the message: ${said}` }
  const fact = { type: 'permanent', subType: 'content_rejected', reportingMta: null, afterAccept: true } as const
  return listAt(valueAt(event, 'mail'), 'destination').flatMap((recipient) => {
    const outcome: Outcome = { kind: 'bounced', reply, ...fact, occurredAt: now }
    return addressed(typeof recipient === 'string' ? recipient : null, outcome)
  })
}

function replyOf(recipient: unknown, word: string): RemoteReply {
  const diagnostic = textAt(recipient, 'diagnosticCode')?.replace(/^\s*smtp;\s*/i, '')
  const status = /^[245]\.\d{1,3}\.\d{1,3}$/.exec(textAt(recipient, 'status') ?? '')?.[0] ?? null
  const said = shown(diagnostic ?? '', REPLY_MAX) || `Amazon SES says: ${shown(word) || 'bounced'}`
  const { smtpCode, enhancedCode } = codesIn(said)
  return { smtpCode, enhancedCode: enhancedCode ?? status, text: said }
}

/** The codes at the start of a reply (RFC 5321 §4.2, RFC 2034). */
function codesIn(said: string): { smtpCode: number | null; enhancedCode: string | null } {
  const [, code, enhanced] = /^([245]\d\d)(?:[ -]#?([245]\.\d{1,3}\.\d{1,3}))?/.exec(said) ?? []
  return { smtpCode: code === undefined ? null : Number(code), enhancedCode: enhanced ?? null }
}

function addressed(text: string | null, outcome: Outcome): SesEvent['outcomes'] {
  // SES may report the address as in the header, with a display name.
  const recipient = text === null ? undefined : parseAddressList(text, 1)[0]?.email
  return recipient === undefined || recipient === '' ? [] : [{ recipient, outcome }]
}

function listAt(value: unknown, name: string): unknown[] {
  const list = valueAt(value, name)
  return Array.isArray(list) ? list.slice(0, RECIPIENTS_MAX) : []
}

function timeOf(value: unknown, now: number): number {
  const time = Date.parse(textAt(value, 'timestamp') ?? '')
  return Number.isNaN(time) ? now : time
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // SES tests a topic with a plain-text message.
    return null
  }
}
