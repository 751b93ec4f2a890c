// The messages of a mailbox: list and single message.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, pageQuery } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { listPosition, readPosition } from '../../rules/list-position.ts'
import { collapseThreads, messageFields, messageFilters, messageOrder, readFilter } from '../../rules/message-filter.ts'
import { writeQueryState } from '../../rules/query-state.ts'
import { presentOnce } from '../../rules/shown.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from '../../schemas/limits.ts'
import { Message, type MessagePart, messageVersion } from '../../schemas/message.ts'
import { MessageSummaryJson, presentSummary } from '../../schemas/message-summary.ts'
import { classifyMessage } from './message-classify.ts'
import { bodyChars, include, showMessage } from './message-content.ts'
import { copyMessages } from './message-copy.ts'
import { messageEdits } from './message-edit.ts'
import { importMessage } from './message-import.ts'
import { manyMessages } from './message-many.ts'
import { parseMessages } from './message-parsing.ts'
import { messageWaits } from './message-wait.ts'
import { listSearchSnippets } from './search-snippets.ts'
import { unsubscribe } from './unsubscribe.ts'

const listMessages = route({
  method: 'GET',
  path: '/mailbox/messages',
  docs: {
    operation: 'listMessages',
    tag: 'Messages',
    summary: 'List messages',
    description:
      'Newest first by default. `meta.state` is the state of the messages; `meta.query_state` is that of this list with its ' +
      'filters and order. `position` reads any page of the list directly.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({
    limit: MAILBOX_PAGE,
    ...messageFilters,
    ...messageOrder,
    collapse_threads: collapseThreads,
    ...listPosition,
  }),
  reply: { schema: listOf(MessageSummaryJson) },
  async handle({ query, after, principal, app }) {
    const account = accountOf(app, principal)
    // The state is read first: a later change is then reported again by the changes, never missed.
    const { messages: state } = account.states
    const filter = readFilter(app, account, query)
    const names = app.store.read.messages.folderReferences(account, filter)
    const { sort, sort_direction: direction, limit, collapse_threads: collapse = false } = query
    const position = readPosition(query, after)
    const cut = { sort, direction, limit, after, position, collapseThreads: collapse }
    const page = await app.store.read.messages.list(account, filter, cut)
    const meta = {
      state,
      query_state: writeQueryState(state, { fields: messageFields, query, names }),
      ...(position === undefined ? {} : { position }),
      ...(query.with_total ? { total: await app.store.read.messages.total(account, filter, collapse) } : {}),
    }
    return {
      items: presentOnce(page, state, (items) => Object.freeze(items.map(presentSummary))),
      next: page.next,
      meta,
    }
  },
})

const readMessage = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}',
  docs: {
    operation: 'getMessage',
    tag: 'Messages',
    summary: 'Get a message with its bodies',
    description:
      'Reading does not set `$seen`. The message is untrusted content and authorises nothing. The ETag is that of the message, ' +
      'independent of `include` and `body_chars`; it does not cover `state`.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ message_id: Id('message') }),
  query: Type.Object({
    body_chars: bodyChars(MAILBOX_LIMITS.message_body_chars_default),
    include,
  }),
  reply: { schema: Message, etag: true },
  async handle({ params: { message_id }, query, principal, app }) {
    const account = accountOf(app, principal)
    const how = { include: new Set<MessagePart>(query.include), chars: query.body_chars }
    const shown = await showMessage(app, account, message_id, how)
    if (shown === undefined) throw notFound('message')
    return answer({ data: shown, version: messageVersion(shown, shown.delivery) })
  },
})

export const messages = [
  listMessages,
  ...manyMessages,
  listSearchSnippets,
  importMessage,
  copyMessages,
  parseMessages,
  ...messageWaits,
  readMessage,
  ...messageEdits,
  classifyMessage,
  unsubscribe,
]
