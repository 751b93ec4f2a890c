// Submissions of a mailbox and their status (docs/design/mailbox.md §7).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { route } from '../../../http/route.ts'
import { Id, listOf, Nullable, pageQuery, parseTime, TimeQuery, Words } from '../../../http/schema.ts'
import { SUBMISSION_STATUSES, submissionStatus } from '../../../outbound/model/submission-status.ts'
import type { Submission as Kept } from '../../../store/mailbox/submissions.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { Approval, presentApproval } from '../../schemas/approval.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'
import { changesRoute } from '../changes/typed-changes.ts'

/** Submissions examined for one page. */
const LOOKED_MAX = 400
const params = Type.Object({ submission_id: Id('submission') })

const Recipient = record('SubmissionRecipient', 'One recipient.', {
  email: Type.String(),
  delivered: Words(['queued', 'yes', 'no', 'unknown'], '`yes`: the next server accepted it.'),
  smtp_reply: Nullable(Type.String({ description: 'The last SMTP reply.' })),
  delivery_log_id: Id('deliveryLog'),
  updated_at: TimeOf('When it last changed.'),
})

const Submission = record('Submission', 'A message that was submitted from this mailbox.', {
  id: Id('submission'),
  message_id: { ...Id('email'), description: 'Id in the delivery log and in events.' },
  stored_message_id: Nullable({
    ...Id('message'),
    description: 'The message in Sent: the copy, or the one that a mail program stored in its place; null without one.',
  }),
  thread_id: Nullable(Id('thread')),
  draft_id: Nullable({
    ...Id('draft'),
    description: 'The draft that was sent, again to be edited after the submission was canceled; else null.',
  }),
  identity_id: Nullable(Id('identity')),
  envelope: record('SubmissionEnvelope', 'The SMTP envelope.', {
    mail_from: Type.String({
      description: 'Of the first recipient, where each has an address of its own for reports.',
    }),
    rcpt_to: Type.Array(Type.String()),
  }),
  subject: Type.String(),
  status: Words(SUBMISSION_STATUSES, 'Status of the submission.'),
  undo_status: Words(['pending', 'final', 'canceled'], '`pending`: it can still be canceled.'),
  approval: Nullable(Approval),
  send_at: TimeOf('Earliest time it is sent.'),
  recipients: Type.Array(Recipient),
  created_at: TimeOf('When it was submitted.'),
  updated_at: TimeOf('When it last changed.'),
})

const listSubmissions = route({
  method: 'GET',
  path: '/mailbox/submissions',
  docs: {
    operation: 'listSubmissions',
    tag: 'Submissions',
    summary: 'List submissions, newest first',
    description:
      '`meta.state` is the state of the submissions. With `status`, a page may have fewer than `limit` entries, or none, while ' +
      '`has_more` is true, because one request examines a limited number of submissions.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({
    limit: MAILBOX_PAGE,
    status: Words(SUBMISSION_STATUSES, 'Only submissions with this status.'),
    after: { ...TimeQuery, description: 'Submitted at or after this time.' },
    before: { ...TimeQuery, description: 'Submitted before this time.' },
    thread_id: { ...Id('thread'), description: 'Submissions of this thread; 404 when it is not of this mailbox.' },
  }),
  reply: { schema: listOf(Submission) },
  handle({ query, after, principal, app }) {
    const account = accountOf(app, principal)
    const { submissions: state } = account.states
    if (query.thread_id !== undefined && !app.store.read.threads.get(account, query.thread_id)) throw notFound('thread')
    const filter = {
      after: query.after === undefined ? undefined : parseTime(query.after),
      before: query.before === undefined ? undefined : parseTime(query.before),
      threadId: query.thread_id,
    }
    const { status, limit } = query
    // The status follows from the deliveries: submissions are examined until the page is full, up to a limit.
    const items: Static<typeof Submission>[] = []
    let from = after
    for (let looked = 0; looked < LOOKED_MAX; ) {
      const page = app.store.sending.submissions.list(account, { ...filter, limit, cursor: from })
      for (const kept of page.items) {
        const one = present(app, account, kept)
        if (status !== undefined && one.status !== status) continue
        items.push(one)
        if (items.length === limit) {
          const isLast = kept === page.items.at(-1) && page.next === null
          return { items, next: isLast ? null : [kept.createdAt, kept.n], meta: { state } }
        }
      }
      if (page.next === null) return { items, next: null, meta: { state } }
      from = page.next
      looked += page.items.length
    }
    return { items, next: from, meta: { state } }
  },
})

const readSubmission = route({
  method: 'GET',
  path: '/mailbox/submissions/{submission_id}',
  docs: {
    operation: 'getSubmission',
    tag: 'Submissions',
    summary: 'Get a submission with its recipients',
    description: '`delivery_status` of each recipient follows the delivery log.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params,
  reply: { schema: Submission, etag: true },
  handle({ params: { submission_id: id }, principal, app }) {
    return shown(app, accountOf(app, principal), id)
  },
})

const cancelSubmission = route({
  method: 'POST',
  path: '/mailbox/submissions/{submission_id}/cancel',
  docs: {
    operation: 'cancelSubmission',
    tag: 'Submissions',
    summary: 'Cancel a submission that has not been sent; its copy moves to Drafts, where a draft can be edited again',
    description: '409 after delivery of any recipient has begun, or `send_at` has passed.',
  },
  access: { as: 'mailbox', permission: 'email.send' },
  params,
  reply: { schema: Submission, etag: true },
  async handle({ params: { submission_id: id }, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    // Of two concurrent requests with the same tag, the second fails because the submission is canceled already.
    if (request.conditional) request.matches(shown(app, account, id))
    await app.outbound.submit.cancelling.cancel(account, id)
    return shown(app, account, id)
  },
})

function shown(app: Context, account: Account, id: string): Static<typeof Submission> {
  const kept = app.store.sending.submissions.get(account, id)
  if (kept === undefined) throw notFound('submission')
  return present(app, account, kept)
}

function draftOf(app: Context, account: Account, messageId: string): string | null {
  return app.store.edit.drafts.byMessage(account, messageId)?.id ?? null
}

function present(app: Context, account: Account, kept: Kept): Static<typeof Submission> {
  const { emails } = app.outbound.log
  const email = emails.byId(kept.emailId)
  const deliveries = email === undefined ? [] : emails.deliveriesOf(email.n)
  const now = app.trustedClock.now()
  const status = statusOf(kept, deliveries, now)
  const isOpen = status === 'held' || (status === 'scheduled' && deliveries.every(({ attempts }) => attempts === 0))
  return {
    id: kept.id,
    message_id: kept.emailId,
    stored_message_id: kept.messageId,
    thread_id: kept.threadId,
    draft_id: status === 'canceled' && kept.messageId !== null ? draftOf(app, account, kept.messageId) : null,
    identity_id: kept.identityId,
    envelope: { mail_from: kept.envelope.mailFrom, rcpt_to: kept.envelope.rcptTo },
    subject: kept.subject,
    status,
    undo_status: status === 'canceled' ? 'canceled' : isOpen ? 'pending' : 'final',
    approval: presentApproval(app.outbound.held.holds.of(kept.emailId)),
    send_at: isoTime(kept.sendAt),
    recipients: deliveries.map(({ to, status: outcome, lastReply, id, updatedAt }) => ({
      email: to,
      delivered: DELIVERED[outcome],
      smtp_reply: lastReply,
      delivery_log_id: id,
      updated_at: isoTime(updatedAt),
    })),
    created_at: isoTime(kept.createdAt),
    updated_at: isoTime(kept.updatedAt),
  }
}

/** The status of a submission; undefined when there is none with this id. */
export function submissionNow(app: Context, account: Account, id: string) {
  const kept = app.store.sending.submissions.get(account, id)
  if (kept === undefined) return undefined
  const { emails } = app.outbound.log
  const email = emails.byId(kept.emailId)
  return statusOf(kept, email === undefined ? [] : emails.deliveriesOf(email.n), app.trustedClock.now())
}

function statusOf(kept: Kept, deliveries: Parameters<typeof submissionStatus>[1], now: number) {
  if (kept.canceledAt !== null) return 'canceled'
  // Rows of the delivery log expire only after all deliveries have ended.
  return deliveries.length === 0 ? 'sent' : submissionStatus(kept, deliveries, now)
}

const DELIVERED = { pending: 'queued', sent: 'yes', failed: 'no', rejected: 'no' } as const

export const submissions = [listSubmissions, changesRoute('submissions'), readSubmission, cancelSubmission]
