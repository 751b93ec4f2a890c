// What a mailbox asked to be sent, and what became of it (decisions §10.7).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { submissionStatus } from '../../outbound/submit/submission-status.ts'
import type { Account } from '../../store/records.ts'
import type { Submission as Kept } from '../../store/submissions.ts'

import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { accountOf, writableAccountOf } from './account.ts'
import { MAILBOX_PAGE } from './limits.ts'
import { changesRoute } from './typed-changes.ts'

const STATUSES = ['scheduled', 'queued', 'sending', 'sent', 'partially_sent', 'failed', 'canceled'] as const
/** Submissions looked through for one page. */
const LOOKED_MAX = 400
const params = Type.Object({ submission_id: Id('submission') })

const Recipient = record('SubmissionRecipient', 'One recipient.', {
  email: Type.String(),
  delivered: Words(['queued', 'yes', 'no', 'unknown'], '`yes`: the next server took it.'),
  smtp_reply: Nullable(Type.String({ description: 'The last reply.' })),
  delivery_log_id: Id('deliveryLog'),
  updated_at: TimeOf('When something last happened to it.'),
})

const Submission = record('Submission', 'A mail this mailbox asked to be sent.', {
  id: Id('submission'),
  message_id: { ...Id('email'), description: 'What the delivery log and events call it.' },
  stored_message_id: Nullable({ ...Id('message'), description: 'The copy; null when none was kept.' }),
  thread_id: Nullable(Id('thread')),
  identity_id: Nullable(Id('identity')),
  envelope: record('SubmissionEnvelope', 'As SMTP has it.', {
    mail_from: Type.String(),
    rcpt_to: Type.Array(Type.String()),
  }),
  subject: Type.String(),
  status: Words(STATUSES, 'How far it has come.'),
  undo_status: Words(['pending', 'final', 'canceled'], '`pending`: it can still be taken back.'),
  send_at: TimeOf('Earliest time it leaves.'),
  recipients: Type.Array(Recipient),
  created_at: TimeOf('When it was asked for.'),
  updated_at: TimeOf('When something last happened to it.'),
})

const listSubmissions = route({
  method: 'GET',
  path: '/mailbox/submissions',
  operation: 'listSubmissions',
  tag: 'Submissions',
  summary: 'Lists what was asked to be sent, newest first.',
  description:
    '`meta.state` is the state of the submissions. With `status`, a page may be shorter than asked for, even empty, while ' +
    '`has_more` is true: few are looked through at a time.',
  as: 'mailbox',
  permission: 'mailbox.read',
  query: pageQuery({
    limit: MAILBOX_PAGE,
    status: Words(STATUSES, 'Only those that have come so far.'),
    after: { ...TimeQuery, description: 'Asked for at this time or later.' },
    before: { ...TimeQuery, description: 'Asked for before this time.' },
    thread_id: { ...Id('thread'), description: 'Only those of this thread; 404 when it is not of this mailbox.' },
  }),
  reply: listOf(Submission),
  async handle({ query, after, principal, app }) {
    const account = await accountOf(app, principal)
    const { submissions: state } = account.states
    if (query.thread_id !== undefined && !(await app.store.threads.get(account, query.thread_id)))
      throw notFound('thread')
    const filter = {
      after: query.after === undefined ? undefined : parseTime(query.after),
      before: query.before === undefined ? undefined : parseTime(query.before),
      threadId: query.thread_id,
    }
    const { status, limit } = query
    // How far a mail has come is told by its deliveries: they are looked through until a page is full, but not without an end.
    const items: Static<typeof Submission>[] = []
    let from = after
    for (let looked = 0; looked < LOOKED_MAX; ) {
      const page = await app.store.submissions.list(account, { ...filter, limit, cursor: from })
      for (const kept of page.items) {
        const one = await present(app, kept)
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
  operation: 'getSubmission',
  tag: 'Submissions',
  summary: 'Shows one submission with its recipients.',
  as: 'mailbox',
  permission: 'mailbox.read',
  params,
  reply: Submission,
  etag: true,
  async handle({ params: { submission_id: id }, principal, app }) {
    return shown(app, await accountOf(app, principal), id)
  },
})

const cancelSubmission = route({
  method: 'POST',
  path: '/mailbox/submissions/{submission_id}/cancel',
  operation: 'cancelSubmission',
  tag: 'Submissions',
  summary: 'Takes a mail back that has not left yet; its copy goes to Drafts.',
  description: '409 once something of it was handed over, or its time has come.',
  as: 'mailbox',
  permission: 'email.send',
  params,
  reply: Submission,
  etag: true,
  async handle({ params: { submission_id: id }, principal, app, request }) {
    const account = await writableAccountOf(app, principal)
    // It is cancelled once: of two at once with the same tag, the second is refused for that.
    if (request.conditional) request.matches(await shown(app, account, id))
    await app.outbound.cancelling.cancel(account, id)
    return shown(app, account, id)
  },
})

async function shown(app: Context, account: Account, id: string): Promise<Static<typeof Submission>> {
  const kept = await app.store.submissions.get(account, id)
  if (kept === undefined) throw notFound('submission')
  return present(app, kept)
}

async function present(app: Context, kept: Kept): Promise<Static<typeof Submission>> {
  const { emails } = app.outbound
  const email = await emails.byId(kept.emailId)
  const deliveries = email === undefined ? [] : await emails.deliveriesOf(email.n)
  const now = app.clock.now()
  const status = statusOf(kept, deliveries, now)
  const isOpen = status === 'scheduled' && deliveries.every(({ attempts }) => attempts === 0)
  return {
    id: kept.id,
    message_id: kept.emailId,
    stored_message_id: kept.messageId,
    thread_id: kept.threadId,
    identity_id: kept.identityId,
    envelope: { mail_from: kept.envelope.mailFrom, rcpt_to: kept.envelope.rcptTo },
    subject: kept.subject,
    status,
    undo_status: status === 'canceled' ? 'canceled' : isOpen ? 'pending' : 'final',
    send_at: isoTime(kept.sendAt),
    recipients: deliveries.map(({ to, status: fate, lastReply, id, updatedAt }) => ({
      email: to,
      delivered: DELIVERED[fate],
      smtp_reply: lastReply,
      delivery_log_id: id,
      updated_at: isoTime(updatedAt),
    })),
    created_at: isoTime(kept.createdAt),
    updated_at: isoTime(kept.updatedAt),
  }
}

/** How far one has come; undefined when there is none of this id. */
export async function submissionNow(app: Context, account: Account, id: string) {
  const kept = await app.store.submissions.get(account, id)
  if (kept === undefined) return undefined
  const { emails } = app.outbound
  const email = await emails.byId(kept.emailId)
  return statusOf(kept, email === undefined ? [] : await emails.deliveriesOf(email.n), app.clock.now())
}

function statusOf(kept: Kept, deliveries: Parameters<typeof submissionStatus>[1], now: number) {
  if (kept.canceledAt !== null) return 'canceled'
  // Once the delivery log has forgotten it, it has long been done with.
  return deliveries.length === 0 ? 'sent' : submissionStatus(kept, deliveries, now)
}

const DELIVERED = { pending: 'queued', sent: 'yes', failed: 'no', rejected: 'no' } as const

export const submissions = [listSubmissions, changesRoute('submissions'), readSubmission, cancelSubmission]
