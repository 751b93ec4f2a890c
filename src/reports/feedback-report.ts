// Reads complaints: feedback reports (ARF, RFC 5965), and older formats of providers.

import { parseAddressList } from '../mime/address.ts'
import { parseDate } from '../mime/date.ts'
import { fieldText, type HeaderField, headerText, readHeaders } from '../mime/headers.ts'
import { addressOf, hostOf } from './delivery-status.ts'
import { describeOriginal } from './original.ts'
import { type ComplaintReport, type FeedbackType, RECIPIENTS_MAX } from './reported.ts'

/** RFC 5965 7.3 and RFC 6430, and "opt-out" of the drafts before it. */
const TYPES: ReadonlyMap<string, FeedbackType> = new Map([
  ['abuse', 'abuse'],
  ['fraud', 'fraud'],
  ['not-spam', 'not_spam'],
  ['virus', 'virus'],
])
const WORD_MAX = 40
const AGENT_MAX = 255
/** Outlook.com (JMRP) names the complaining recipient in the header of the returned message. */
const JMRP_RECIPIENT = 'x-hmxmroriginalrecipient'

/** Reads the fields of a message/feedback-report part. */
export function readFeedback(part: Uint8Array, returned: readonly HeaderField[]): ComplaintReport {
  const { fields } = readHeaders(part)
  const word =
    /[a-z][a-z-]*/i
      .exec(headerText(fields, 'feedback-type') ?? '')?.[0]
      .toLowerCase()
      .slice(0, WORD_MAX) ?? 'other'
  const original = describeOriginal(returned)
  return {
    kind: 'complaint',
    feedbackType: TYPES.get(word) ?? 'other',
    feedbackWord: word,
    userAgent: headerText(fields, 'user-agent')?.slice(0, AGENT_MAX) || null,
    originalRecipients: addresses(fields, ['original-rcpt-to', 'removal-recipient'], returned),
    reportingMta: hostOf(headerText(fields, 'reporting-mta') ?? undefined),
    arrivedAt: parseDate(headerText(fields, 'arrival-date') ?? headerText(fields, 'received-date') ?? ''),
    original: {
      ...original,
      returnPath: addressOf(headerText(fields, 'original-mail-from') ?? undefined) ?? original.returnPath,
    },
  }
}

/** A complaint without a feedback report: Outlook.com sends only the message. Null when it is not a complaint. */
export function readBareComplaint(
  fields: readonly HeaderField[],
  returned: readonly HeaderField[],
): ComplaintReport | null {
  const from = parseAddressList(headerText(fields, 'from') ?? '', 1)[0]?.email.toLowerCase() ?? ''
  const isComplaint = /^(?:staff|jmrp)@(?:hotmail|outlook)\.com$/.test(from) && returned.length > 0
  const recipients = addresses([], [], returned)
  if (!isComplaint || (recipients.length === 0 && !/complaint/i.test(headerText(fields, 'subject') ?? ''))) return null
  return {
    kind: 'complaint',
    feedbackType: 'abuse',
    feedbackWord: 'abuse',
    userAgent: null,
    originalRecipients: recipients,
    reportingMta: null,
    arrivedAt: parseDate(headerText(returned, 'date') ?? ''),
    original: describeOriginal(returned),
  }
}

function addresses(
  fields: readonly HeaderField[],
  names: readonly string[],
  returned: readonly HeaderField[],
): string[] {
  const said = fields.filter(({ name }) => names.includes(name)).map((field) => addressOf(fieldText(field)))
  const hidden = addressOf(headerText(returned, JMRP_RECIPIENT) ?? undefined)
  const all = [...said, hidden].filter((email) => email !== null)
  return [...new Set(all)].slice(0, RECIPIENTS_MAX)
}
