// A thread: as in lists, and in full.

import { type Static, Type } from 'typebox'
import { Id } from '../../http/schema.ts'
import type { States, Thread as StoredThread } from '../../store/rows/records.ts'
import { AddressJson, presentAddress } from './address.ts'
import { MessageSummaryJson, presentSummary } from './message-summary.ts'
import { record } from './record.ts'
import { isoTimeOrNull, TimeOrNull } from './time.ts'

const ThreadStates = record('ThreadStates', 'Opaque states of the whole mailbox at the time of the response.', {
  thread_state: Type.String({ description: 'Changes whenever a thread of the mailbox does.' }),
  email_state: Type.String({ description: 'Changes whenever a message of the mailbox does.' }),
})

export const ThreadJson = record(
  'Thread',
  'A conversation. Counts, folders and attachments leave out messages in Trash or Junk unless the whole thread is there.',
  {
    id: Id('thread'),
    subject: Type.String({ description: 'Subject of the first message.' }),
    message_count: Type.Integer({ minimum: 0 }),
    unread_count: Type.Integer({ minimum: 0 }),
    has_attachments: Type.Boolean(),
    folder_ids: Type.Array(Id('folder')),
    keywords: Type.Array(Type.String(), { description: 'Distinct keywords of its messages, sorted.' }),
    is_flagged: Type.Boolean({ description: 'One of its messages has `$flagged`.' }),
    is_muted: Type.Boolean({
      description: 'One of its messages has `$muted`: answers to it go to the Archive, unless the mailbox is in To.',
    }),
    snoozed_until: TimeOrNull('When it returns from the folder Snoozed; null when it does not wait.'),
    participants: Type.Array(AddressJson, {
      maxItems: 50,
      description: 'Distinct addresses in the order of first occurrence.',
    }),
    last_message: MessageSummaryJson,
    states: ThreadStates,
  },
)
export type ThreadJson = Static<typeof ThreadJson>

export const ThreadDetail = record('ThreadDetail', 'A conversation with the ids of its messages.', {
  ...ThreadJson.properties,
  message_ids: Type.Array(Id('message'), { description: 'Oldest first.' }),
})
export type ThreadDetail = Static<typeof ThreadDetail>

export function presentThread(thread: StoredThread, states: States): ThreadJson {
  return {
    id: thread.id,
    subject: thread.subject,
    message_count: thread.messageCount,
    unread_count: thread.unreadCount,
    has_attachments: thread.hasAttachments,
    folder_ids: thread.folderIds,
    keywords: thread.keywords,
    is_flagged: thread.keywords.includes('$flagged'),
    is_muted: thread.keywords.includes('$muted'),
    snoozed_until: isoTimeOrNull(thread.snoozedUntil),
    participants: thread.participants.map(presentAddress),
    last_message: presentSummary(thread.lastMessage),
    states: { thread_state: states.threads, email_state: states.messages },
  }
}

export function presentThreadDetail(thread: StoredThread & { messageIds: string[] }, states: States): ThreadDetail {
  return { ...presentThread(thread, states), message_ids: thread.messageIds }
}
