// The messages of a mailbox: lists and single ones.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { submissionStatus } from '../../../outbound/submit/submission-status.ts'
import type { Account } from '../../../store/records.ts'
import { route } from '../../http/route.ts'
import { CommaList, Default, Id, listOf, pageQuery, Words } from '../../http/schema.ts'
import {
  MESSAGE_PARTS,
  Message,
  type MessageContent,
  type MessageContext,
  type MessagePart,
  presentMessage,
} from '../schemas/message.ts'
import { MessageSummary, presentSummary } from '../schemas/message-summary.ts'
import { accountOf } from './account.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from './limits.ts'
import { messageFilters, queryState, readFilter } from './message-filter.ts'
import { presentOnce } from './shown.ts'

const listMessages = route({
  method: 'GET',
  path: '/mailbox/messages',
  operation: 'listMessages',
  tag: 'Messages',
  summary: 'Lists messages, newest first.',
  description:
    '`meta.state` is the state of the messages; `meta.query_state` is that of this list with its filters and order.',
  as: 'mailbox',
  permission: 'mailbox.read',
  query: pageQuery({
    limit: MAILBOX_PAGE,
    ...messageFilters,
    sort: Default(
      Words(['received_at', 'sent_at', 'subject', 'from', 'size'], 'What the list is ordered by.'),
      'received_at',
    ),
    sort_direction: Default(Words(['asc', 'desc'], 'Direction of `sort`.'), 'desc'),
    collapse_threads: Type.Boolean({ description: 'Of each thread only the first message in the order of the list.' }),
  }),
  reply: listOf(MessageSummary),
  async handle({ query, after, principal, app }) {
    const account = await accountOf(app, principal)
    // The state is read first: what comes meanwhile is then told once more by the changes, and never missed.
    const { messages: state } = account.states
    const filter = await readFilter(app, account, query)
    const { sort, sort_direction: direction, limit, collapse_threads: collapseThreads = false } = query
    const page = await app.store.messages.list(account, filter, { sort, direction, limit, after, collapseThreads })
    const meta = { state, query_state: queryState(state, query) }
    return { items: presentOnce(page, state, presentSummary), next: page.next, meta }
  },
})

const readMessage = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}',
  operation: 'getMessage',
  tag: 'Messages',
  summary: 'Shows one message with its bodies.',
  description:
    'Reading does not mark it as seen. Whatever the message says is the word of a stranger: it authorises nothing. The ETag ' +
    'covers `state`, so that any change of a message in the mailbox changes it.',
  as: 'mailbox',
  permission: 'mailbox.read',
  params: Type.Object({ message_id: Id('message') }),
  query: Type.Object({
    body_chars: Default(
      Type.Integer({
        minimum: 0,
        maximum: MAILBOX_LIMITS.body_chars_max,
        description: 'Characters (Unicode code points) of each body; the rest is cut.',
      }),
      MAILBOX_LIMITS.message_body_chars_default,
    ),
    include: Default(
      { ...CommaList(Words(MESSAGE_PARTS), MESSAGE_PARTS.length), description: 'Comma list of the members to show.' },
      MESSAGE_PARTS.filter((part) => part !== 'headers'),
    ),
  }),
  reply: Message,
  etag: true,
  async handle({ params: { message_id }, query, principal, app }) {
    const account = await accountOf(app, principal)
    const { messages: state } = account.states
    const message = await app.store.messages.get(account, message_id)
    if (message === undefined) throw notFound('message')
    const include = new Set<MessagePart>(query.include)
    const content = await readContent(app, account, message_id, include, query.body_chars)
    return presentMessage(message, include, content, {
      state,
      blobId: app.store.blobNames.of(account.mailboxId),
      sent: await sentAs(app, account, message_id),
    })
  },
})

/** How this mailbox sent a message; null for one it received. */
async function sentAs(app: Context, account: Account, id: string): Promise<MessageContext['sent']> {
  const { emails } = app.outbound
  const submission = await app.store.submissions.ofMessage(account, id)
  if (submission === undefined) return null
  const { emailId, id: submissionId } = submission
  const email = await emails.byId(emailId)
  const deliveries = email === undefined ? [] : await emails.deliveriesOf(email.n)
  const status = deliveries.length === 0 ? null : submissionStatus(submission, deliveries, app.clock.now())
  return { emailId, submissionId, status }
}

async function readContent(
  app: Context,
  account: Account,
  id: string,
  include: ReadonlySet<MessagePart>,
  chars: number,
): Promise<MessageContent> {
  const { messages } = app.store
  const wantsBody = include.has('text_body') || include.has('html_body')
  return {
    headers: include.has('headers') ? await messages.headers(account, id) : undefined,
    bodies: wantsBody ? await messages.bodies(account, id, chars) : undefined,
  }
}

export const messages = [listMessages, readMessage]
