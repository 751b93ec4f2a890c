// The messages of a conversation in full, page by page.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery, Words } from '../../http/schema.ts'
import { keyOf } from '../../store/search/sql.ts'
import { Message, type MessagePart } from '../schemas/message.ts'
import { accountOf } from './account.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from './limits.ts'
import { bodyChars, include, showMessage } from './message-content.ts'

/** Characters (UTF-16) of bodies from which on a page ends: what one answer holds does not grow with `limit`. */
export const PAGE_CHARS = 2_000_000

const listThreadMessages = route({
  method: 'GET',
  path: '/mailbox/threads/{thread_id}/messages',
  operation: 'listThreadMessages',
  tag: 'Threads',
  summary: 'Shows the messages of a thread with their bodies, oldest first.',
  description:
    'Those the counts of the thread cover: without what lies in Trash or Junk, unless all of it does. A page also ends where its ' +
    'bodies pass 2,000,000 characters together, and then has fewer than `limit` entries; the next one goes on behind it.',
  as: 'mailbox',
  permission: 'mailbox.read',
  params: Type.Object({ thread_id: Id('thread') }),
  query: pageQuery({
    limit: MAILBOX_PAGE,
    body_chars: bodyChars(MAILBOX_LIMITS.thread_body_chars_default),
    include,
    sort_direction: Default(Words(['asc', 'desc'], 'By the time of receipt.'), 'asc'),
  }),
  reply: listOf(Message),
  async handle({ params: { thread_id }, query, after, principal, app }) {
    const account = await accountOf(app, principal)
    const { limit, sort_direction: direction } = query
    const places = await app.store.threads.messages(account, thread_id, { direction, limit, after })
    if (places === undefined) throw notFound('thread')
    const how = { include: new Set<MessagePart>(query.include), chars: query.body_chars }
    const items: Message[] = []
    let chars = 0
    let seen = 0
    for (const { id } of places.slice(0, limit)) {
      if (chars >= PAGE_CHARS) break
      seen++
      const shown = await showMessage(app, account, id, how)
      if (shown === undefined) continue
      items.push(shown)
      chars += (shown.text_body?.length ?? 0) + (shown.html_body?.length ?? 0)
      // Bodies are decoded on this thread: others have their turn in between.
      await nextTurn()
    }
    const next = seen < places.length ? keyOf(places[seen - 1]!) : null
    return { items, next, meta: { state: account.states.messages } }
  },
})

export const threadMessages = [listThreadMessages]
