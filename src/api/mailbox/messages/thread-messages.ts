// The messages of a thread in full, page by page.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { Default, Id, listOf, pageQuery, Words } from '../../../http/schema.ts'
import { keyOf } from '../../../store/rows/sql.ts'
import { accountOf } from '../../rules/account.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from '../../schemas/limits.ts'
import { Message, type MessagePart } from '../../schemas/message.ts'
import { bodyChars, include, showListed } from './message-content.ts'

/** Characters (UTF-16) of bodies after which a page ends: the size of a response does not grow with `limit`. */
export const PAGE_CHARS = 2_000_000

const listThreadMessages = route({
  method: 'GET',
  path: '/mailbox/threads/{thread_id}/messages',
  docs: {
    operation: 'listThreadMessages',
    tag: 'Threads',
    summary: 'List the messages of a thread with their bodies, oldest first',
    description:
      'Returns the messages that the counts of the thread include: messages in Trash or Junk are left out unless all of the ' +
      'thread is there. A page also ends when its bodies exceed 2,000,000 characters together, and then has fewer than `limit` ' +
      'entries; the next page continues after it.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ thread_id: Id('thread') }),
  query: pageQuery({
    limit: MAILBOX_PAGE,
    body_chars: bodyChars(MAILBOX_LIMITS.thread_body_chars_default),
    include,
    sort_direction: Default(Words(['asc', 'desc'], 'By the time of receipt.'), 'asc'),
  }),
  reply: { schema: listOf(Message) },
  async handle({ params: { thread_id }, query, after, principal, app }) {
    const account = accountOf(app, principal)
    const { limit, sort_direction: direction } = query
    const entries = app.store.read.threads.messages(account, thread_id, { direction, limit, after })
    if (entries === undefined) throw notFound('thread')
    const how = { include: new Set<MessagePart>(query.include), chars: query.body_chars }
    const items: Message[] = []
    let chars = 0
    let seen = 0
    for (const { id } of entries.slice(0, limit)) {
      if (chars >= PAGE_CHARS) break
      seen++
      const shown = await showListed(app, account, id, how)
      if (shown === undefined) continue
      items.push(shown)
      chars += (shown.text_body?.length ?? 0) + (shown.html_body?.length ?? 0)
      // Bodies are decoded on this thread: let other requests run in between.
      await nextTurn()
    }
    const next = seen < entries.length ? keyOf(entries[seen - 1]!) : null
    return { items, next, meta: { state: account.states.messages } }
  },
})

export const threadMessages = [listThreadMessages]
