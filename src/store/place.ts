// Puts a new message where it belongs: into its thread and into its folders, counted in all of them.

import type { Clock } from '../base/clock.ts'
import type { Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import type { Change, ChangeLedger } from './changes.ts'
import { type FolderKey, fileMessage, HIDDEN_ROLES, moveThreadUp } from './folders.ts'
import { insertMessage, type NewMessage } from './messages/keep.ts'
import { type Joined, joinThread, nameLastMessage } from './threads/join.ts'

/** A message that comes to rest in one or more folders. */
export interface MessageFiling extends Omit<NewMessage, 'thread' | 'listed'> {
  /** At least one, each once. */
  folders: readonly FolderKey[]
  /** The mailbox's own addresses, lower-case. */
  own: readonly string[]
  /** Number of the thread it belongs to, whatever its ids say; undefined: found by them. */
  into?: number
}

export interface FiledMessage {
  n: number
  attachmentIds: string[]
  joined: Joined
  /** What the ledger has to be told. */
  changes: Change[]
}

/** What is needed to take a message in. */
export interface FilingDeps {
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

/** Takes in a message that nothing else is told with: placed, counted in its account, and written into the ledger. */
export async function storeMessage(
  tx: Tx,
  { accounts, changes, clock }: FilingDeps,
  placing: MessageFiling,
): Promise<FiledMessage> {
  const placed = await fileNewMessage(tx, placing)
  const types = ['messages', 'threads', 'folders', 'quotas'] as const
  const seq = await accounts.advance(tx, placing.account, types, { bytes: placing.sizeBytes, messages: 1 })
  await changes.record(tx, placing.account, seq, placed.changes, clock.now())
  return placed
}

/** Writes everything a message is; the caller advances the account's counter and tells the ledger. */
export async function fileNewMessage(tx: Tx, placing: MessageFiling): Promise<FiledMessage> {
  const { folders, own, into, ...message } = placing
  const { receivedAt } = message
  const unread = !message.flags.seen
  const listed = folders.some(({ role }) => role === null || !HIDDEN_ROLES.includes(role))
  const { account, mail } = message
  const joined = await joinThread(tx, { account, mail, receivedAt, unread, listed, own, into })
  const { n, attachmentIds } = await insertMessage(tx, { ...message, thread: joined.n, listed })
  if (joined.isLast) await nameLastMessage(tx, joined, n)
  const threadLastReceivedAt = joined.lastReceivedAt
  const filed = { n, thread: joined.n, receivedAt, filedAt: message.createdAt, unread, threadLastReceivedAt }
  for (const folder of folders) await fileMessage(tx, folder.n, filed)
  if (!joined.created) await moveThreadUp(tx, joined.n, threadLastReceivedAt)
  const changes: Change[] = [
    { type: 'messages', n, object: message.id, kind: 'created' },
    { type: 'threads', n: joined.n, object: joined.id, kind: joined.created ? 'created' : 'updated' },
    ...folders.map(
      (folder): Change => ({ type: 'folders', n: folder.n, object: folder.id, kind: 'updated', countsOnly: true }),
    ),
  ]
  return { n, attachmentIds, joined, changes }
}
