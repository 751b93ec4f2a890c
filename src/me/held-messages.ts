// Messages of programs that wait for the signed-in person: shown in full, approved, edited or rejected.

import { type Static, Type } from 'typebox'
import type { HeldRecord } from '../administration/held-record.ts'
import { isoTime } from '../base/clock.ts'
import type { Context } from '../context.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Id, listOf, Nullable, Words } from '../http/schema.ts'
import { TimeOf, TimeOrNull } from '../http/time.ts'
import { HELD_STATES, HOLD_REASONS } from '../outbound/held/held-rows.ts'
import { FRESH_ROUTE, ME_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const docs = { tag: 'Person' }
const params = Type.Object({ message_id: Id('email') })
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The version: an approval is bound to it.' })
const Person = record('HeldAddress', 'An address of a header field.', { email: Type.String(), name: Type.String() })

const StrangerMessage = record('StrangerMessage', 'A message of a stranger that programs have read before.', {
  message_id: Id('message'),
  thread_id: Id('thread'),
  author: Type.String({ description: 'Not verified.' }),
  subject: Type.String({ description: 'The stranger wrote it: show it as text only.' }),
  reason: Words(['first_contact', 'unauthenticated']),
  read_at: TimeOf('When a program read it last.'),
})

const MEMBERS = {
  id: { ...Id('email'), description: 'Id of the message in the delivery log.' },
  team_id: Id('team'),
  mailbox_id: Id('mailbox'),
  from: Type.String({ description: 'The address it is sent from.' }),
  recipients: Type.Array(Type.String(), { description: 'All recipients, hidden ones too.' }),
  subject: Type.String(),
  credential: Nullable(Type.String({ description: 'The key, app password or agent that sent it.' })),
  state: Words(HELD_STATES),
  reason: Words(HOLD_REASONS),
  detail: Type.String({ description: 'Why it waits, in one sentence.' }),
  hash: Hash,
  created_at: TimeOf('When it was sent.'),
  expires_at: TimeOf('When it ends without a decision.'),
  decided_at: TimeOrNull('Null while it waits.'),
  decided_by: Nullable(Type.String({ description: 'Address of the person.' })),
  note: Nullable(Type.String()),
  sent_as: Nullable({ ...Id('email'), description: 'The message that was sent instead.' }),
}

const HeldMessage = record('HeldMessage', 'A message of a program that waits for a person.', MEMBERS)
const HeldDetail = record('HeldMessageDetail', 'A held message with everything that a person decides by.', {
  ...MEMBERS,
  content: Nullable(
    record('HeldContent', 'What it says; null when it no longer waits.', {
      to: Type.Array(Person),
      cc: Type.Array(Person),
      reply_to: Type.Array(Person),
      hidden: Type.Array(Type.String(), { description: 'Recipients named neither in To nor in Cc.' }),
      text: Type.String(),
      html_text: Nullable(Type.String({ description: 'The visible text of its HTML part.' })),
      truncated: Type.Boolean(),
      attachments: Type.Array(
        record('HeldAttachment', 'An attached file.', {
          filename: Type.String(),
          content_type: Type.String(),
          size_bytes: Type.Integer({ minimum: 0 }),
        }),
      ),
    }),
  ),
  read_before: Type.Array(StrangerMessage, { maxItems: 20 }),
})

const Decision = record(
  'HeldDecision',
  'A decision.',
  { hash: Hash, note: Type.Optional(Type.String({ maxLength: 500, description: 'For the program.' })) },
  { hash: '0'.repeat(64) },
)

const list = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/held-messages',
  docs: {
    ...docs,
    operation: 'listHeldMessages',
    summary: 'List messages of programs that wait for your decision, the newest first',
    description: 'Of mailboxes that you own, and of agents and mailboxes without an owner in teams that you own.',
  },
  query: Type.Object({
    state: Type.Optional(Words(['held', 'decided'], '`held` by default; `decided`: those that no longer wait.')),
    team_id: Type.Optional({ ...Id('team'), description: 'Only of this team.' }),
  }),
  reply: { schema: listOf(HeldMessage), list: 'whole' },
  handle({ query, app, request }) {
    const states = query.state === 'decided' ? HELD_STATES.filter((state) => state !== 'held') : (['held'] as const)
    const found = app.heldMessages.list(sessionIn(request), states)
    const items = found.filter(({ held }) => query.team_id === undefined || held.teamId === query.team_id)
    return { items: items.map(presentHeld), next: null }
  },
})

const read = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/held-messages/{message_id}',
  docs: {
    ...docs,
    operation: 'getHeldMessage',
    summary: 'Get a held message with its content and the messages of strangers that were read before it',
    description: 'What programs and strangers wrote is not verified: show it as text only.',
    errors: ['service_unavailable'],
  },
  params,
  reply: { schema: HeldDetail },
  handle: ({ params: { message_id: id }, app, request }) =>
    presentDetail(app, app.heldMessages.get(sessionIn(request), id)),
})

const approve = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/held-messages/{message_id}/approve',
  docs: {
    ...docs,
    operation: 'approveHeldMessage',
    summary: 'Let a held message leave',
    description:
      'Bound to the version of `hash`: 409 when the message has changed since, or was decided otherwise. Its recipients are known from then on.',
    errors: ['conflict'],
  },
  params,
  body: { schema: Decision },
  reply: { schema: HeldMessage },
  async handle({ params: { message_id: id }, body, app, request }) {
    const session = sessionIn(request)
    await app.heldMessages.approve(session, id, decisionOf(body))
    return presentHeld(app.heldMessages.get(session, id))
  },
})

const reject = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/held-messages/{message_id}/reject',
  docs: {
    ...docs,
    operation: 'rejectHeldMessage',
    summary: 'Refuse a held message; its copy moves to Drafts',
    description:
      'The program learns of it, with `note`. 409 when the message has changed since, or was decided otherwise.',
    errors: ['conflict'],
  },
  params,
  body: { schema: Decision },
  reply: { schema: HeldMessage },
  async handle({ params: { message_id: id }, body, app, request }) {
    const session = sessionIn(request)
    await app.heldMessages.reject(session, id, decisionOf(body))
    return presentHeld(app.heldMessages.get(session, id))
  },
})

const Recipients = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 3, maxLength: 254 }), { maxItems: 50, description }))

const edit = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/held-messages/{message_id}/edit',
  docs: {
    ...docs,
    operation: 'editHeldMessage',
    summary: 'Send what you make of a held message in its place',
    description:
      'Members that are left out stay; `text_body` replaces both forms of the body; files stay. One decision: the message is sent as yours, and ' +
      'the program learns of `sent_as`. 409 when the message has changed since, or was decided.',
    errors: ['conflict', 'payload_too_large', 'rate_limit_exceeded', 'service_unavailable'],
  },
  params,
  body: {
    schema: record(
      'HeldEdit',
      'The changes.',
      {
        hash: Hash,
        note: Decision.properties.note,
        to: Recipients('Recipients.'),
        cc: Recipients('Visible recipients.'),
        bcc: Recipients('Hidden recipients.'),
        subject: Type.Optional(Type.String({ maxLength: 998, description: 'One line.' })),
        text_body: Type.Optional(Type.String({ maxLength: 500_000, description: 'Plain text.' })),
      },
      { hash: '0'.repeat(64), subject: 'Your order' },
    ),
  },
  reply: { schema: HeldMessage },
  async handle({ params: { message_id: id }, body, app, request }) {
    const session = sessionIn(request)
    const { to, cc, bcc, subject, text_body: text } = body
    await app.heldMessages.edit(session, id, { ...decisionOf(body), edit: { to, cc, bcc, subject, text } })
    return presentHeld(app.heldMessages.get(session, id))
  },
})

const clearReads = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/mailboxes/{mailbox_id}/clear-reads',
  docs: {
    ...docs,
    operation: 'clearStrangerReads',
    summary: 'End the mark that messages of strangers left on the programs of a mailbox',
    description: 'It ends by itself a day after the last reading. Messages that wait already stay held.',
  },
  params: Type.Object({ mailbox_id: Id('mailbox') }),
  reply: { schema: Type.Object({ mailbox_id: Id('mailbox'), tainted_until: TimeOrNull('Null: no longer marked.') }) },
  async handle({ params: { mailbox_id }, app, request }) {
    await app.heldMessages.clearReads(sessionIn(request), mailbox_id)
    return { mailbox_id, tainted_until: null }
  },
})

function decisionOf({ hash, note }: Static<typeof Decision>) {
  return { hash: Buffer.from(hash, 'hex'), note: note?.trim() || null }
}

function presentHeld({ held, email }: HeldRecord): Static<typeof HeldMessage> {
  const { emailId, teamId, mailboxId, credential, state, reason, detail, hash } = held
  return {
    ...{ id: emailId, team_id: teamId, mailbox_id: mailboxId, from: email.from.email },
    ...{ recipients: email.recipients.map(({ to }) => to), subject: email.subject, credential, state, reason, detail },
    ...{
      hash: Buffer.from(hash).toString('hex'),
      created_at: isoTime(held.createdAt),
      expires_at: isoTime(held.expiresAt),
    },
    ...{
      decided_at: held.decidedAt === null ? null : isoTime(held.decidedAt),
      decided_by: held.decidedBy,
      note: held.note,
      sent_as: held.sentAs,
    },
  }
}

async function presentDetail(app: Context, found: HeldRecord): Promise<Static<typeof HeldDetail>> {
  const content = found.email.hash === null ? null : await app.heldMessages.content(found)
  const shown = new Set([...(content?.to ?? []), ...(content?.cc ?? [])].map(({ email }) => email.toLowerCase()))
  const { recipients } = presentHeld(found)
  return {
    ...presentHeld(found),
    content: content && {
      ...{ to: content.to.map(presentAddress), cc: content.cc.map(presentAddress) },
      reply_to: content.replyTo.map(presentAddress),
      hidden: recipients.filter((address) => !shown.has(address.toLowerCase())),
      ...{ text: content.text, html_text: content.htmlText, truncated: content.isTruncated },
      attachments: content.attachments.map(({ filename, contentType, sizeBytes }) => ({
        ...{ filename, content_type: contentType, size_bytes: sizeBytes },
      })),
    },
    read_before: found.read.map((one) => ({
      ...{ message_id: one.messageId, thread_id: one.threadId, author: one.author, subject: one.subject },
      ...{ reason: one.reason, read_at: isoTime(one.readAt) },
    })),
  }
}

function presentAddress({ email, name }: { email: string; name: string }): Static<typeof Person> {
  return { email, name }
}

export const heldMessageRoutes = [list, read, approve, edit, reject, clearReads]
