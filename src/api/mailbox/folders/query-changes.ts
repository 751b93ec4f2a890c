// Changes of message, thread and folder lists since a state (docs/design/mailbox.md §3 row 9, §10.6, §10.11).

import { type Static, Type } from 'typebox'
import { ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { route } from '../../../http/route.ts'
import { Words } from '../../../http/schema.ts'
import type { QueryChanges as StoredChanges } from '../../../store/lists/list-changes.ts'
import { accountOf } from '../../rules/account.ts'
import {
  collapseThreads,
  messageFields,
  messageFilters,
  messageOrder,
  readFilter,
  threadFields,
  threadFilters,
  threadOrder,
} from '../../rules/message-filter.ts'
import { type ListKey, readQueryState, writeQueryState } from '../../rules/query-state.ts'
import { followQuery, QueryChanges, upTo } from '../../schemas/query-changes.ts'
import { folderFilters, listedFolders } from './folders.ts'

/** Types whose lists have query changes. */
export const LIST_TYPES = ['messages', 'folders', 'threads'] as const

const optional = <F extends Parameters<typeof Type.Object>[0]>(fields: F) =>
  Type.Partial(Type.Object(fields)).properties
const ofMessages = { ...optional({ ...messageFilters, collapse_threads: collapseThreads }), ...messageOrder }
const ofThreads = { ...optional(threadFilters), ...threadOrder }
const ofFolders = optional(folderFilters)

const MessageQuery = Type.Object({ ...ofMessages, ...followQuery, up_to_id: upTo('message') })
const ThreadQuery = Type.Object({ ...ofThreads, ...followQuery, up_to_id: upTo('thread') })
const FolderQuery = Type.Object({ ...ofFolders, ...followQuery, up_to_id: upTo('folder') })

/** Attempts to read the folders and their changes in the same state, while other clients change the mailbox. */
const TRIES = 10

const SyncQuery = Type.Object({
  type: Words(LIST_TYPES, 'Type of the list; filters of other types are ignored.'),
  ...ofMessages,
  ...ofFolders,
  ...followQuery,
  up_to_id: upTo('message', 'thread', 'folder'),
})

async function messageChanges(app: Context, principal: MailboxPrincipal, query: Static<typeof MessageQuery>) {
  const account = accountOf(app, principal)
  const filter = readFilter(app, account, query)
  const { messages } = app.store.read
  const list = { fields: messageFields, query, names: messages.folderReferences(account, filter) }
  const since = readQueryState(query.since_query_state, list)
  const { sort, sort_direction: direction, collapse_threads: collapse = false, limit, up_to_id: last } = query
  const order = { sort, direction, collapseThreads: collapse }
  const changes = await messages.queryChanges(account, filter, order, { since, most: limit, upTo: last })
  return present(query.since_query_state, changes, list)
}

async function threadChanges(app: Context, principal: MailboxPrincipal, query: Static<typeof ThreadQuery>) {
  const account = accountOf(app, principal)
  const filter = readFilter(app, account, query)
  const { messages, threads } = app.store.read
  const list = { fields: threadFields, query, names: messages.folderReferences(account, filter) }
  const since = readQueryState(query.since_query_state, list)
  const { sort_direction: direction, limit, up_to_id: last } = query
  const changes = await threads.queryChanges(account, filter, direction, { since, most: limit, upTo: last })
  return present(query.since_query_state, changes, list)
}

function folderChanges(app: Context, principal: MailboxPrincipal, query: Static<typeof FolderQuery>) {
  const list = { fields: Object.keys(folderFilters), query, names: '' }
  for (let tries = 0; tries < TRIES; tries++) {
    const account = accountOf(app, principal)
    const all = listedFolders(app, account, query).map(({ id }) => id)
    const since = readQueryState(query.since_query_state, list)
    const { ids, newState } = app.store.read.changes.changedIds(account, 'folders', since, query.limit)
    // An index is valid only for the state it belongs to.
    if (newState !== account.states.folders) continue
    const last = query.up_to_id === undefined ? -1 : all.indexOf(query.up_to_id)
    const shown = last === -1 ? all : all.slice(0, last + 1)
    const added = shown.flatMap((id, index) => (ids.includes(id) ? [{ id, index }] : []))
    return present(query.since_query_state, { newState, total: all.length, removed: ids, added }, list)
  }
  throw new ProductError('service_unavailable', 'The mailbox is being changed continuously. Try again later.', {
    retryAfter: 1,
  })
}

function present(since: string, { newState, total, removed, added }: StoredChanges, list: ListKey) {
  return { old_query_state: since, new_query_state: writeQueryState(newState, list), total, removed, added }
}

const HOW =
  'Takes the filters and the order of a list, and the `query_state` the list returned. 400 for the state of another list; 409 ' +
  'when the state is too old, more than `limit` entries changed, or the list depends on the time of day (`newer_than:`): then ' +
  'fetch the list again.'

/** What the routes of all lists have in common. */
const LIST_CHANGES = {
  method: 'GET',
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { schema: QueryChanges },
} as const

const listMessageQueryChanges = route({
  ...LIST_CHANGES,
  path: '/mailbox/messages/query-changes',
  docs: {
    operation: 'listMessageQueryChanges',
    tag: 'Messages',
    summary: 'List the changes of a message list since a state',
    description: HOW,
  },
  query: MessageQuery,
  handle: ({ query, principal, app }) => messageChanges(app, principal, query),
})

const listThreadQueryChanges = route({
  ...LIST_CHANGES,
  path: '/mailbox/threads/query-changes',
  docs: {
    operation: 'listThreadQueryChanges',
    tag: 'Threads',
    summary: 'List the changes of a thread list since a state',
    description: HOW,
  },
  query: ThreadQuery,
  handle: ({ query, principal, app }) => threadChanges(app, principal, query),
})

const listFolderQueryChanges = route({
  ...LIST_CHANGES,
  path: '/mailbox/folders/query-changes',
  docs: {
    operation: 'listFolderQueryChanges',
    tag: 'Folders',
    summary: 'List the changes of a folder list since a state',
    description: HOW,
  },
  query: FolderQuery,
  handle: ({ query, principal, app }) => folderChanges(app, principal, query),
})

const listSyncQueryChanges = route({
  ...LIST_CHANGES,
  path: '/mailbox/sync/query-changes',
  docs: {
    operation: 'listSyncQueryChanges',
    tag: 'Sync',
    summary: 'List the changes of a message, thread or folder list since a state',
    description: HOW,
  },
  query: SyncQuery,
  handle({ query, principal, app }) {
    if (query.type === 'messages') return messageChanges(app, principal, query)
    // The filters of messages that threads do not have are ignored.
    if (query.type === 'threads') return threadChanges(app, principal, threadsOnly(query))
    return folderChanges(app, principal, query)
  },
})

function threadsOnly(query: Static<typeof SyncQuery>): Static<typeof ThreadQuery> {
  const names = Object.keys(ThreadQuery.properties)
  return Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name))) as Static<
    typeof ThreadQuery
  >
}

export const queryChanges = [
  listMessageQueryChanges,
  listThreadQueryChanges,
  listFolderQueryChanges,
  listSyncQueryChanges,
]
