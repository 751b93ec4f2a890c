// Messages that were removed at the server of an outside account and can be restored (docs/design/outside-accounts.md §8).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import type { RemovedChoice, RemovedMessage, RemovedTotals } from '../../store/messages/removed.ts'
import { RESTORED_MAX, type RestoredMessages } from '../../sync/accounts/restored-messages.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const filing = {
  id: Id('removedMessage'),
  folders: Type.Array(Type.String(), { description: 'Paths of the folders it was in.' }),
  size_bytes: Type.Integer({ minimum: 0 }),
  received_at: TimeOf('When it was received.'),
  removed_at: TimeOf('When it was removed here.'),
}
const filingExample = {
  id: 'rmsg_0a1b2c3d4e5f6g7h8i9j0k1l',
  folders: ['Inbox'],
  size_bytes: 4821,
  received_at: '2030-01-02T03:04:05.000Z',
  removed_at: '2030-02-02T03:04:05.000Z',
}

/** For those who manage the account: nothing that is written in the message. */
export const RemovedFilingJson = record(
  'RemovedFiling',
  'A message that was removed at the server, without what it says.',
  filing,
  filingExample,
)

export const RemovedMessageJson = record(
  'RemovedMessage',
  'A message that was removed at the server.',
  {
    ...filing,
    subject: Type.String(),
    from: record('RemovedSender', 'The author.', { email: Type.String(), name: Type.String() }),
  },
  { ...filingExample, subject: 'Offer', from: { email: 'ana@example.net', name: 'Ana' } },
)

export const RemovedRestore = record(
  'RemovedRestore',
  'Which messages are restored; all of them, the last removed first, when both members are left out.',
  {
    ids: Type.Optional(
      Type.Array(Id('removedMessage'), {
        ...{ minItems: 1, maxItems: RESTORED_MAX, uniqueItems: true },
        description: 'These messages; ids that are not held any more are left out.',
      }),
    ),
    removed_since: Type.Optional({ ...TimeQuery, description: 'Messages that were removed at this time or later.' }),
  },
  { removed_since: '2030-02-02T00:00:00Z' },
)

export const RestoredJson = record(
  'RestoredMessages',
  'The result of a restore.',
  {
    restored: Type.Array(
      record('RestoredMessage', 'A message that was restored.', {
        removed_id: Id('removedMessage'),
        message_id: Nullable({
          ...Id('message'),
          description: 'The message in the mailbox; null when its folder had a message with the same bytes.',
        }),
      }),
    ),
    not_restored: Type.Array(
      record('MessageNotRestored', 'A message that cannot be restored.', {
        removed_id: Id('removedMessage'),
        code: Words(['damaged']),
        message: Type.String(),
      }),
    ),
    remaining: Type.Integer({
      minimum: 0,
      description: 'Messages that were asked for and are not restored yet: ask again.',
    }),
    is_full: Type.Boolean({ description: 'The mailbox has no room for the remaining ones.' }),
  },
  {
    restored: [{ removed_id: filingExample.id, message_id: 'msg_a1b2c3d4e5f6g7h8i9j0k1l2' }],
    not_restored: [],
    remaining: 0,
    is_full: false,
  },
)

const DAMAGED = 'The content of the message is damaged. The operator has to restore a backup.'

export function presentFiling({ id, folders, sizeBytes, receivedAt, removedAt }: RemovedMessage) {
  const [received, removed] = [isoTime(receivedAt), isoTime(removedAt)]
  const paths = folders.map(({ path }) => path)
  return { id, folders: paths, size_bytes: sizeBytes, received_at: received, removed_at: removed }
}

export function presentRemoved(message: RemovedMessage): Static<typeof RemovedMessageJson> {
  return { ...presentFiling(message), subject: message.subject, from: message.from }
}

/** For `meta` of the list. */
export function presentTotals({ messages, bytes }: RemovedTotals): Record<string, unknown> {
  return { total_messages: messages, total_bytes: bytes }
}

export function presentRestored({
  restored,
  damaged,
  isFull,
  remaining,
}: RestoredMessages): Static<typeof RestoredJson> {
  return {
    restored: restored.map(({ id, messageId }) => ({ removed_id: id, message_id: messageId })),
    not_restored: damaged.map((id) => ({ removed_id: id, code: 'damaged', message: DAMAGED })),
    remaining,
    is_full: isFull,
  }
}

/** @throws ProductError invalid_parameter */
export function readChoice(body: Static<typeof RemovedRestore> | undefined): RemovedChoice {
  const { ids, removed_since: since } = body ?? {}
  return { ...(ids && { ids }), ...(since !== undefined && { since: parseTime(since, { param: 'removed_since' }) }) }
}
