// The threads of a mailbox.

import { Type } from 'typebox'
import { notFound } from '../../../base/errors.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, pageQuery } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { listAnchor, listPosition, readAnchor, readPosition } from '../../rules/list-position.ts'
import { readFilter, threadFields, threadFilters, threadOrder } from '../../rules/message-filter.ts'
import { BatchIds } from '../../rules/message-members.ts'
import { writeQueryState } from '../../rules/query-state.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import { record } from '../../schemas/record.ts'
import { presentThread, presentThreadDetail, ThreadDetail, ThreadJson } from '../../schemas/thread.ts'
import { snoozes } from './snooze.ts'
import { threadEdits } from './thread-edit.ts'
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
      '`in:` names these folders. `meta.state` is the state of the threads; `meta.query_state` is that of this list with its ' +
      'filters and order. `position` reads any page of the list directly, `anchor_id` the page with a thread.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({
    limit: MAILBOX_PAGE,
    ...threadFilters,
    ...threadOrder,
    ...listPosition,
    ...listAnchor,
  }),
  reply: { schema: listOf(ThreadJson) },
  async handle({ query, after, principal, app }) {
    const account = accountOf(app, principal)
    // The state is read first: a later change is then reported again by the changes, never missed.
    const { states } = account
    const filter = readFilter(app, account, query)
    const names = app.store.read.messages.folderReferences(account, filter)
    const stored = app.store.read.threads
    const anchored = await readAnchor(query, after, (id) => stored.indexOf(account, filter, query.sort_direction, id))
    const position = anchored ?? readPosition(query, after)
    const cut = { direction: query.sort_direction, limit: query.limit, after, position }
    const page = await stored.list(account, filter, cut)
    const meta = {
      state: states.threads,
      query_state: writeQueryState(states.threads, { fields: threadFields, query, names }),
      ...(position === undefined ? {} : { position }),
      ...(query.with_total ? { total: await stored.total(account, filter) } : {}),
    }
    return { items: presentThreads(page, states), next: page.next, meta }
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
    const thread = app.store.read.threads.get(account, params.thread_id)
    if (thread === undefined) throw notFound('thread')
    const shown = presentThreadDetail(thread, states)
    const { states: _, ...version } = shown
    return answer({ data: shown, version })
  },
})

const batchGetThreads = route({
  method: 'POST',
  path: '/mailbox/threads/batch-get',
  docs: {
    operation: 'batchGetThreads',
    tag: 'Threads',
    summary: 'Get several threads as in the list',
    description: 'Ids that do not exist in the mailbox are in `not_found`.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  body: {
    schema: record(
      'ThreadBatchGet',
      'The threads.',
      {
        ids: BatchIds('thread', 'Threads of this mailbox; unknown ids are listed in `not_found`.'),
      },
      { ids: ['thr_a1b2c3d4e5f6g7h8i9j0k1l2'] },
    ),
  },
  reply: {
    schema: record('ThreadBatch', 'The threads that were found, in the requested order.', {
      list: Type.Array(ThreadJson),
      not_found: Type.Array(Id('thread')),
      state: Type.String({ description: 'Opaque state of the threads of the mailbox.' }),
    }),
  },
  handle({ body, principal, app }) {
    const account = accountOf(app, principal)
    const { states } = account
    const list = app.store.read.threads.byIds(account, body.ids).map((thread) => presentThread(thread, states))
    const found = new Set(list.map(({ id }) => id))
    return { list, not_found: body.ids.filter((id) => !found.has(id)), state: states.threads }
  },
})

export const threads = [listThreads, batchGetThreads, readThread, ...threadEdits, ...snoozes]
