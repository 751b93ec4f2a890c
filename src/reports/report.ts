// Parses reports about sent messages: bounces and complaints, in all known formats.

import { parseDate } from '../mime/date.ts'
import { decodeBody, decodeText } from '../mime/decode.ts'
import type { Part } from '../mime/message.ts'
import { readStructure } from '../mime/structure.ts'
import { hostOf, readRecipient } from './delivery-status.ts'
import { readBareComplaint, readFeedback } from './feedback-report.ts'
import { isNotice, lastResort, type Notice, noticeRecipients, withWords } from './notice.ts'
import { noticeText } from './notice-text.ts'
import { describeOriginal, isReturned, pastedFields, returnedFields } from './original.ts'
import { type BounceReport, REPORT_TEXT_MAX, type Report, type ReportedRecipient } from './reported.ts'
import { readStatusFields, type StatusGroups } from './status-fields.ts'

export type {
  BounceAction,
  BounceReport,
  ComplaintReport,
  FeedbackType,
  Report,
  ReportedMessage,
  ReportedRecipient,
} from './reported.ts'

const STATUS_PARTS = new Set(['message/delivery-status', 'message/global-delivery-status'])
/** Nesting of reports that only contain another report, as gateways send them. */
const WRAPS_MAX = 2
/** RFC 3461 4.4 allows 100 characters. */
const ENVELOPE_ID_MAX = 200

/**
 * Parses a message as a report; null for an ordinary message, an auto-reply, a receipt or a message with an attached report.
 * Never throws; linear, with limits on all input.
 * @param mailFrom envelope sender, "" for the null sender; null when it is not known
 */
export function readReport(bytes: Uint8Array, mailFrom: string | null = null): Report | null {
  return read(bytes, mailFrom, WRAPS_MAX)
}

function read(bytes: Uint8Array, mailFrom: string | null, wraps: number): Report | null {
  const { root, fields } = readStructure(bytes)
  const parts = openParts(root)
  const { said, returned: pasted } = noticeText(bytes, root)
  const returnedPart = parts.find(isReturned)
  const returned = returnedPart ? returnedFields(bytes, returnedPart) : pastedFields(pasted)
  const feedback = parts.find(({ type }) => type === 'message/feedback-report')
  if (feedback) return readFeedback(content(bytes, feedback), returned)
  const complaint = readBareComplaint(fields, returned)
  if (complaint) return complaint
  const notice: Notice = { fields, said, original: describeOriginal(returned), mailFrom }
  const statuses = parts.filter(({ type }) => STATUS_PARTS.has(type))
  const isReport = parts.some(({ type }) => type === 'multipart/report') && statuses.length > 0
  if (!isReport && !isNotice(notice)) return null
  const groups = readStatusFields(statuses.length > 0 ? textOf(bytes, statuses) : said)
  const recipients = recipientsOf(groups, notice)
  if (recipients.length > 0) return bounce(groups, recipients, notice)
  const inside = returnedPart ? bytes.subarray(returnedPart.bodyStart, returnedPart.bodyEnd) : Buffer.from(pasted)
  const wrapped = wraps > 0 && inside.length > 0 ? read(inside, null, wraps - 1) : null
  if (wrapped) return wrapped
  const last = lastResort(notice)
  return last.length > 0 ? bounce(groups, last, notice) : null
}

/** All parts except those inside attached messages. */
function openParts(root: Part): Part[] {
  const found: Part[] = []
  const walk = (part: Part): void => {
    found.push(part)
    if (part.type.startsWith('multipart/')) for (const child of part.parts) walk(child)
  }
  walk(root)
  return found
}

function content(bytes: Uint8Array, part: Part): Uint8Array {
  const end = Math.min(part.bodyEnd, part.bodyStart + REPORT_TEXT_MAX)
  return decodeBody(bytes.subarray(part.bodyStart, end), part.encoding)
}

function textOf(bytes: Uint8Array, parts: readonly Part[]): string {
  return parts.map((part) => decodeText(content(bytes, part), { encoding: '7bit', charset: part.charset })).join('\n\n')
}

/** Recipients of the status fields; completed from the text when the fields give no reason or name no recipient. */
function recipientsOf(groups: StatusGroups, notice: Notice): ReportedRecipient[] {
  const named = groups.recipients.map(readRecipient).filter((recipient) => recipient !== null)
  if (named.length === 0) return noticeRecipients(notice)
  return named.map((recipient) => withWords(recipient, notice, named))
}

function bounce(groups: StatusGroups, recipients: ReportedRecipient[], notice: Notice): BounceReport {
  const { mail } = groups
  return {
    kind: 'bounce',
    recipients,
    reportingMta: hostOf(mail.get('reporting-mta')),
    envelopeId: mail.get('original-envelope-id')?.slice(0, ENVELOPE_ID_MAX) || null,
    arrivedAt: parseDate(mail.get('arrival-date') ?? ''),
    original: notice.original,
  }
}
