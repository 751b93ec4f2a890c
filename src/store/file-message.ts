// Files a new message: joins it to its thread, adds it to its folders and updates their counts.

import type { Clock } from '../base/clock.ts'
import type { Tx } from '../db/db.ts'
import type { Accounts } from './accounts.ts'
import type { Change, ChangeLedger } from './changes.ts'
import { type FolderKey, fileMessage, HIDDEN_ROLES, updateThreadOrder } from './folders.ts'
import { insertMessage, type NewMessage } from './messages/insert.ts'
import { nextNumber } from './messages/numbers.ts'
import { type JoinedThread, joinThread } from './threads/join.ts'

/** A new message and the folders it is filed in. */
export interface MessageFiling extends Omit<NewMessage, 'n' | 'thread' | 'listed'> {
  /** At least one, each once. */
  folders: readonly FolderKey[]
  /** The mailbox's own addresses, lower-case. */
  ownAddresses: readonly string[]
  /** Number of the thread it joins regardless of its Message-IDs; undefined: the thread is looked up by them. */
  knownThread?: number
}

export interface FiledMessage {
  n: number
  attachmentIds: string[]
  joined: JoinedThread
  /** Changes to record in the ledger. */
  changes: Change[]
}

export interface FilingDeps {
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

/** Files one message, advances the account's counter and records the changes in the ledger. */
export function storeMessage(tx: Tx, { accounts, changes, clock }: FilingDeps, filing: MessageFiling): FiledMessage {
  const filed = fileNewMessage(tx, filing)
  const types = ['messages', 'threads', 'folders', 'quotas'] as const
  const seq = accounts.advance(tx, filing.account, types, { bytes: filing.sizeBytes, messages: 1 })
  changes.record(tx, filing.account, seq, filed.changes, clock.now())
  return filed
}

/** Writes all rows of a message; the caller advances the account's counter and records the changes in the ledger. */
export function fileNewMessage(tx: Tx, filing: MessageFiling): FiledMessage {
  const { folders, ownAddresses, knownThread, ...message } = filing
  const { account, parsed, receivedAt } = message
  const unread = !message.flags.seen
  const listed = folders.some(({ role }) => role === null || !HIDDEN_ROLES.includes(role))
  const n = nextNumber(tx, account, receivedAt)
  const joined = joinThread(tx, { n, account, parsed, receivedAt, unread, listed, ownAddresses, knownThread })
  const attachmentIds = insertMessage(tx, { ...message, n, thread: joined.n, listed })
  const threadLastReceivedAt = joined.lastReceivedAt
  const filed = { n, thread: joined.n, receivedAt, filedAt: message.createdAt, unread, threadLastReceivedAt }
  for (const folder of folders) fileMessage(tx, folder.n, filed)
  if (!joined.created) updateThreadOrder(tx, joined.n, threadLastReceivedAt)
  const changes: Change[] = [
    { type: 'messages', n, object: message.id, kind: 'created' },
    { type: 'threads', n: joined.n, object: joined.id, kind: joined.created ? 'created' : 'updated' },
    ...folders.map(
      (folder): Change => ({ type: 'folders', n: folder.n, object: folder.id, kind: 'updated', countsOnly: true }),
    ),
  ]
  return { n, attachmentIds, joined, changes }
}
