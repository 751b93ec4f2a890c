// The vacation response of a mailbox, as its owner and its team read and replace it (docs/design/mailbox.md §13).

import { type Static, Type } from 'typebox'
import { invalid, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import { Nullable, parseTime, TimeQuery } from '../../http/schema.ts'
import { checkSubject } from '../../mime/compose/draft-rules.ts'
import { BODY_MAX, type VacationResponse as Kept, SUBJECT_MAX } from '../../store/mailbox/vacations.ts'
import type { Account } from '../../store/rows/records.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOrNull } from '../schemas/time.ts'

const Subject = Nullable(
  Type.String({
    minLength: 1,
    maxLength: SUBJECT_MAX,
    description:
      'Null: `Auto: ` followed by the subject of the message, at most 60 characters of it, with `…` for links and addresses.',
  }),
)
const Body = (what: string) => Nullable(Type.String({ maxLength: BODY_MAX, description: what }))
const members = {
  subject: Subject,
  text_body: Body('Plain text; either body is required to enable the response.'),
  html_body: Body('HTML; a plain text is derived from it when `text_body` is null.'),
}

export const VacationResponse = record(
  'VacationResponse',
  'The automatic response while the owner is away (RFC 8621 §8).',
  {
    is_enabled: Type.Boolean(),
    from_date: TimeOrNull('Messages received from this time on are answered; null: immediately.'),
    to_date: TimeOrNull('Messages received from this time on are not answered; null: until it is disabled.'),
    ...members,
    updated_at: TimeOrNull('When it was last changed; null: never.'),
  },
)

export const NewResponse = record(
  'VacationResponseUpdate',
  'The whole response; members that are left out are null.',
  {
    is_enabled: Type.Boolean({ description: 'Whether messages are answered.' }),
    from_date: Type.Optional(Nullable(TimeQuery)),
    to_date: Type.Optional(Nullable(TimeQuery)),
    subject: Type.Optional(members.subject),
    text_body: Type.Optional(members.text_body),
    html_body: Type.Optional(members.html_body),
  },
  {
    ...{ is_enabled: true, from_date: '2030-07-01', to_date: '2030-07-14', subject: 'Away until 15 July' },
    text_body: 'I am away and will read your message on 15 July.',
  },
)

/** Which messages are not answered; the part of the description that both operations have. */
export const NOT_ANSWERED =
  'A sender is answered once in 7 days, at the envelope sender address. Not answered are mailing lists, bulk, automatic and ' +
  'junk messages, the null sender, role and no-reply addresses, messages whose sender is not authenticated (DMARC, SPF), and ' +
  'messages that do not name an address of the mailbox in To or Cc. 403 for the inbox of an agent.'

/** An agent must not send automatically (docs/design/mailbox.md §13), whichever credential is used for its inbox. */
export function refuseAgent(app: Context, mailboxId: string): void {
  if (app.directory.mailboxes.byId(mailboxId)?.isAgent !== true) return
  throw new ProductError('insufficient_permissions', 'The inbox of an agent cannot have a vacation response.')
}

/** The response that a request asks for. @throws ProductError validation_error */
export function responseOf(body: Static<typeof NewResponse>): Kept {
  const { is_enabled: isEnabled, from_date: from = null, to_date: to = null, subject = null } = body
  const fromDate = from === null ? null : parseTime(from, { param: 'from_date' })
  const toDate = to === null ? null : parseTime(to, { param: 'to_date', endOfDay: true })
  if (fromDate !== null && toDate !== null && toDate <= fromDate) {
    throw invalid('to_date', 'too_small', 'to_date must be later than from_date.')
  }
  const [textBody, htmlBody] = [body.text_body || null, body.html_body || null]
  if (isEnabled && textBody === null && htmlBody === null) {
    throw invalid('text_body', 'required', 'A vacation response has no text. Send text_body or html_body.')
  }
  return {
    ...{ isEnabled, fromDate, toDate, textBody, htmlBody },
    subject: subject === null ? null : checkSubject('subject', subject),
  }
}

export function presentVacation(app: Context, account: Account, tx?: Tx): Static<typeof VacationResponse> {
  const kept = app.store.delivery.vacations.get(account, tx)
  return {
    is_enabled: kept.isEnabled,
    from_date: isoTimeOrNull(kept.fromDate),
    to_date: isoTimeOrNull(kept.toDate),
    subject: kept.subject,
    text_body: kept.textBody,
    html_body: kept.htmlBody,
    updated_at: isoTimeOrNull(kept.updatedAt),
  }
}
