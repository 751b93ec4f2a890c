// Several messages in one request, and the count of messages.

import { Type } from 'typebox'
import { route } from '../../../http/route.ts'
import { accountOf } from '../../rules/account.ts'
import { messageFilters, readFilter } from '../../rules/message-filter.ts'
import { BatchIds } from '../../rules/message-members.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import { Message, type MessagePart } from '../../schemas/message.ts'
import { record } from '../../schemas/record.ts'
import { changesRoute } from '../changes/typed-changes.ts'
import { bodyChars, includeList, showListed } from './message-content.ts'

const State = Type.String({ description: 'Opaque state of the messages of the mailbox.' })

const batchGet = route({
  method: 'POST',
  path: '/mailbox/messages/batch-get',
  docs: {
    operation: 'batchGetMessages',
    tag: 'Messages',
    summary: 'Get several messages in full',
    description: 'Ids that do not exist in the mailbox are in `not_found`.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  body: {
    schema: record(
      'MessageBatchGet',
      'The messages, and the members to return.',
      {
        ids: BatchIds('message', 'Messages of this mailbox; unknown ids are listed in `not_found`.'),
        body_chars: bodyChars(MAILBOX_LIMITS.message_body_chars_default),
        include: includeList,
      },
      { ids: ['msg_a1b2c3d4e5f6g7h8i9j0k1l2'], include: ['text_body'] },
    ),
  },
  reply: {
    schema: record('MessageBatch', 'The messages that were found, in the requested order.', {
      list: Type.Array(Message),
      not_found: Type.Array(Type.String()),
      state: State,
    }),
  },
  async handle({ body, principal, app }) {
    const account = accountOf(app, principal)
    const how = { include: new Set<MessagePart>(body.include), chars: body.body_chars }
    const list: Message[] = []
    const missing: string[] = []
    for (const id of body.ids) {
      const shown = await showListed(app, account, id, how)
      if (shown === undefined) missing.push(id)
      else list.push(shown)
    }
    return { list, not_found: missing, state: account.states.messages }
  },
})

const countMessages = route({
  method: 'GET',
  path: '/mailbox/messages/count',
  docs: {
    operation: 'getMessageCount',
    tag: 'Messages',
    summary: 'Count the messages that match the filters',
    description: 'Takes the filters of `listMessages`, and reads no message.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: Type.Partial(Type.Object(messageFilters)),
  reply: {
    schema: record('MessageCount', 'Number and total size of the messages.', {
      count: Type.Integer({ minimum: 0 }),
      unread_count: Type.Integer({ minimum: 0 }),
      total_size_bytes: Type.Integer({ minimum: 0, description: 'Bytes of the messages as stored.' }),
      state: State,
    }),
  },
  async handle({ query, principal, app }) {
    const account = accountOf(app, principal)
    const filter = readFilter(app, account, query)
    const { count, unread, sizeBytes } = await app.store.read.messages.count(account, filter)
    return { count, unread_count: unread, total_size_bytes: sizeBytes, state: account.states.messages }
  },
})

export const manyMessages = [batchGet, countMessages, changesRoute('messages'), changesRoute('threads')]
