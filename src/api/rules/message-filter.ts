// The filters of message and thread lists: query parameters, and the filter for the store.

import { type Static, Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { Default, Id, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import type { Account, MessageFilter } from '../../store/rows/records.ts'

const TEXT_MAX = 255
const SIZE_MAX = 2 ** 40
const QUERY_MAX = 512

function Flag(description: string) {
  return Type.Boolean({ description })
}

function Part(description: string) {
  return Type.String({ minLength: 1, maxLength: TEXT_MAX, description })
}

/** Filters of messages and threads (docs/design/contract.md §4.1). */
export const threadFilters = {
  q: Type.String({
    maxLength: QUERY_MAX,
    description:
      'Search expression. Words (all must occur), "phrases", prefix*, -not, OR, ( ), from: to: cc: bcc: subject: body: filename: ' +
      'in: is: has: keyword: after: before: newer_than: older_than: larger: smaller: msgid:. At most 32 terms, depth 5.',
    examples: ['from:billing@supplier.example has:attachment -is:read'],
  }),
  participant: Part('A part of an address or name in From, To or Cc.'),
  folder_id: {
    ...Id('folder'),
    description: 'Messages in this folder, Trash and Junk included; 404 when it is not of this mailbox.',
  },
  after: { ...TimeQuery, description: 'Received at or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.' },
  before: { ...TimeQuery, description: 'Received before: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.' },
  has_attachment: Flag('At least one part that is not shown inside the HTML body, or none.'),
  is_unread: Flag('Without the keyword `$seen`, or with it.'),
}

/** Filters of message lists (docs/design/mailbox.md §3). */
export const messageFilters = {
  ...threadFilters,
  thread_id: { ...Id('thread'), description: 'Messages of this thread; 404 when it is not of this mailbox.' },
  from: Part('A part of the address or name in From.'),
  to: Part('A part of an address or name in To.'),
  subject: Part('A part of the subject.'),
  is_flagged: Flag('With the keyword `$flagged`, or without it.'),
  keyword: Part('A keyword the message has.'),
  not_keyword: Part('A keyword the message does not have.'),
  min_size: Type.Integer({ minimum: 0, maximum: SIZE_MAX, description: 'Smallest size in bytes.' }),
  max_size: Type.Integer({ minimum: 0, maximum: SIZE_MAX, description: 'Largest size in bytes.' }),
  in_trash_or_junk: Type.Boolean({
    description:
      'Also messages that are only in Trash or Junk; they are left out unless folder_id or `in:` names these folders.',
  }),
}

/** The order of a message list. */
export const messageOrder = {
  sort: Default(Words(['received_at', 'sent_at', 'subject', 'from', 'size'], 'Sort key of the list.'), 'received_at'),
  sort_direction: Default(Words(['asc', 'desc'], 'Direction of `sort`.'), 'desc'),
}

/** The order of a thread list. */
export const threadOrder = {
  sort_direction: Default(Words(['asc', 'desc'], 'By the time of the newest message.'), 'desc'),
}

/** Whether a list shows threads. */
export const collapseThreads = Flag('Only the first message of each thread, in the order of the list.')

/** Query parameters that distinguish one message list from another. */
export const messageFields = [...Object.keys(messageFilters), ...Object.keys(messageOrder), 'collapse_threads']

/** Query parameters that distinguish one thread list from another. */
export const threadFields = [...Object.keys(threadFilters), ...Object.keys(threadOrder)]

const Filters = Type.Partial(Type.Object(messageFilters))

/**
 * Reads the filters of a query; a folder or thread of another mailbox counts as missing.
 * @throws ProductError not_found
 */
export function readFilter(app: Context, account: Account, query: Static<typeof Filters>): MessageFilter {
  const { folder_id: folderId, thread_id: threadId } = query
  if (folderId !== undefined && !app.store.read.folders.byId(account, folderId)) throw notFound('folder')
  if (threadId !== undefined && !app.store.read.threads.get(account, threadId)) throw notFound('thread')
  return {
    q: query.q,
    folderId,
    threadId,
    from: query.from,
    to: query.to,
    subject: query.subject,
    participant: query.participant,
    after: query.after === undefined ? undefined : parseTime(query.after),
    before: query.before === undefined ? undefined : parseTime(query.before),
    hasAttachment: query.has_attachment,
    isUnread: query.is_unread,
    isFlagged: query.is_flagged,
    keyword: query.keyword,
    notKeyword: query.not_keyword,
    minSize: query.min_size,
    maxSize: query.max_size,
    inTrashOrJunk: query.in_trash_or_junk,
  }
}
