// The messages a team has sent, each with all its recipients.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { allows } from '../../directory/names/permissions.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import type { SentMessage } from '../../outbound/log/sent-messages.ts'
import { bodyChars } from '../mailbox/messages/message-content.ts'
import { presentApproval } from '../schemas/approval.ts'
import { EmailDetail, EmailJson, presentRecipient, presentSentMessage } from '../schemas/email.ts'
import { readTag, TagQuery } from '../schemas/labels.ts'
import { MAILBOX_LIMITS } from '../schemas/limits.ts'
import { timeFilters, timeRange } from '../schemas/list-filters.ts'
import { presentParsedMessage } from '../schemas/parsed-message.ts'
import { LOG_PAGE } from './pages.ts'

const { after, before } = timeFilters('Accepted')

const listEmails = route({
  method: 'GET',
  path: '/emails',
  docs: {
    operation: 'listEmails',
    tag: 'Delivery log',
    summary: 'List sent messages, newest first',
    description:
      'One entry for each message; `GET /emails/logs` has one for each recipient. Kept for `LOG_RETENTION_DAYS`.',
  },
  access: { as: 'team', permission: 'logs.read' },
  query: pageQuery({
    limit: LOG_PAGE,
    ...{ after, before },
    mailbox_id: { ...Id('mailbox'), description: 'Messages sent from this mailbox; 404 when it is not of the team.' },
    tag: TagQuery,
    status: EmailJson.properties.status,
    metadata: Type.String({
      pattern: '^[^:"\\x00-\\x1f\\x7f]{1,64}:[^\\x00-\\x1f\\x7f]{1,256}$',
      description: 'Messages whose metadata has this member at its first level: `name:value`.',
      examples: ['order:117'],
    }),
    internet_message_id: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'The message with this Message-ID, with or without angle brackets.',
    }),
    q: Type.String({ minLength: 1, maxLength: 256, description: 'Words of the sender, a recipient or the subject.' }),
  }),
  reply: { schema: listOf(EmailJson) },
  async handle({ query, after: position, principal, app }) {
    const { mailbox_id: mailboxId, tag, limit, status, metadata, internet_message_id: messageId, q: search } = query
    if (mailboxId !== undefined && !app.directory.mailboxes.wasOf(principal.teamId, mailboxId))
      throw notFound('mailbox')
    const filter = {
      ...{ ...timeRange(query), mailboxId, status, search },
      tag: tag === undefined ? undefined : readTag(tag),
      metadata: metadata === undefined ? undefined : memberOf(metadata),
      internetMessageId: messageId?.trim().replace(/^<|>$/g, ''),
    }
    const page = await app.outbound.log.sentMessages.list(principal.teamId, filter, { limit, after: position })
    return { items: page.items.map(presentSentMessage), next: page.next }
  },
})

/** @param text `name:value` */
function memberOf(text: string): { name: string; value: string } {
  const colon = text.indexOf(':')
  return { name: text.slice(0, colon), value: text.slice(colon + 1) }
}

const readEmail = route({
  method: 'GET',
  path: '/emails/{message_id}',
  docs: {
    operation: 'getEmail',
    tag: 'Delivery log',
    summary: 'Get a sent message with all recipients, their timelines and its content',
    description:
      '`content` is there while a delivery is pending, for keys that also have `email.send`, and null otherwise. It is never shown ' +
      'for messages of a mailbox: the mailbox has its own copy in Sent.',
  },
  access: { as: 'team', permission: 'logs.read' },
  params: Type.Object({ message_id: Id('email') }),
  query: Type.Object({ body_chars: bodyChars(MAILBOX_LIMITS.message_body_chars_default) }),
  reply: { schema: EmailDetail },
  async handle({ params: { message_id }, query, principal, app }) {
    const found = app.outbound.log.sentMessages.get(principal.teamId, message_id)
    if (found === undefined) throw notFound('message')
    return {
      ...presentSentMessage(found),
      recipients: found.recipients.map(presentRecipient),
      approval: presentApproval(app.outbound.held.holds.of(message_id)),
      content: await contentOf(app, principal, found, query.body_chars),
    }
  },
})

async function contentOf(app: Context, { permissions, teamId }: TeamPrincipal, message: SentMessage, chars: number) {
  const { hash, sizeBytes, mailboxId } = message
  if (hash === null || mailboxId !== null || !allows(permissions, 'email.send')) return null
  const load = () => app.store.blobs.bytes(hash, 0, sizeBytes)
  const viewed = await app.memory.during(sizeBytes, teamId, () =>
    app.inspector.view(sizeBytes, load, { chars, headers: true }),
  )
  return viewed.isMessage ? presentParsedMessage(viewed, PARTS) : null
}

const PARTS = new Set(['headers', 'text_body', 'html_body', 'attachments'] as const)

export const emails = [listEmails, readEmail]
