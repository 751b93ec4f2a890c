// The threads of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery, Words } from '../../http/schema.ts'
import { presentThreadDetail, ThreadDetail, ThreadJson } from '../schemas/thread.ts'
import { accountOf } from './account.ts'
import { MAILBOX_PAGE } from './limits.ts'
import { readFilter, threadFilters } from './message-filter.ts'
import { presentThreads } from './threads-page.ts'

const listThreads = route({
  method: 'GET',
  path: '/mailbox/threads',
  docs: {
    operation: 'listThreads',
    tag: 'Threads',
    summary: 'List threads, newest first',
    description:
      'A thread is listed when one of its messages matches all filters; `is_unread=false` and `has_attachment=false` select ' +
      'threads without any unread message or attachment. Threads that are only in Trash or Junk are left out unless folder_id or ' +
      '`in:` names these folders. `meta.state` is the state of the threads.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({
    limit: MAILBOX_PAGE,
    ...threadFilters,
    sort_direction: Default(Words(['asc', 'desc'], 'By the time of the newest message.'), 'desc'),
  }),
  reply: { schema: listOf(ThreadJson) },
  async handle({ query, after, principal, app }) {
    const account = accountOf(app, principal)
    // The state is read first: a later change is then reported again by the changes, never missed.
    const { states } = account
    const filter = readFilter(app, account, query)
    const cut = { direction: query.sort_direction, limit: query.limit, after }
    const page = await app.store.threads.list(account, filter, cut)
    return { items: presentThreads(page, states), next: page.next, meta: { state: states.threads } }
  },
})

const readThread = route({
  method: 'GET',
  path: '/mailbox/threads/{thread_id}',
  docs: {
    operation: 'getThread',
    tag: 'Threads',
    summary: 'Get a thread with the ids of its messages',
    description: 'The ETag is that of the thread; it does not cover `states`.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ thread_id: Id('thread') }),
  reply: { schema: ThreadDetail, etag: true },
  handle({ params, principal, app }) {
    const account = accountOf(app, principal)
    const { states } = account
    const thread = app.store.threads.get(account, params.thread_id)
    if (thread === undefined) throw notFound('thread')
    const shown = presentThreadDetail(thread, states)
    const { states: _, ...version } = shown
    return answer({ data: shown, version })
  },
})

export const threads = [listThreads, readThread]
