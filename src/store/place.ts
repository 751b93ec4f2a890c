// Puts a new message where it belongs: into its thread and into one folder, counted in both.

import type { Tx } from '../db/db.ts'
import type { Change } from './changes.ts'
import { type FolderKey, fileMessage, moveThreadUp } from './folders.ts'
import { insertMessage, type NewMessage } from './messages/keep.ts'
import { type Joined, joinThread, nameLastMessage } from './threads/join.ts'

/** A message that comes to rest in one folder. */
export interface Placing extends Omit<NewMessage, 'thread' | 'listed'> {
  folder: FolderKey
  /** The mailbox's own addresses, lower-case. */
  own: readonly string[]
  /** Number of the thread it belongs to, whatever its ids say; undefined: found by them. */
  into?: number
}

export interface Placed {
  n: number
  attachmentIds: string[]
  joined: Joined
  /** What the ledger has to be told. */
  changes: Change[]
}

/** Writes everything a message is; the caller advances the account's counter and tells the ledger. */
export async function placeMessage(tx: Tx, placing: Placing): Promise<Placed> {
  const { folder, own, into, ...message } = placing
  const { receivedAt } = message
  const unread = !message.flags.seen
  const listed = folder.role !== 'junk' && folder.role !== 'trash'
  const { account, mail } = message
  const joined = await joinThread(tx, { account, mail, receivedAt, unread, listed, own, into })
  const { n, attachmentIds } = await insertMessage(tx, { ...message, thread: joined.n, listed })
  if (joined.isLast) await nameLastMessage(tx, joined.n, n)
  const threadLastReceivedAt = joined.lastReceivedAt
  const filedAt = message.createdAt
  await fileMessage(tx, folder.n, { n, thread: joined.n, receivedAt, filedAt, unread, threadLastReceivedAt })
  if (!joined.created) await moveThreadUp(tx, joined.n, threadLastReceivedAt)
  const changes: Change[] = [
    { type: 'messages', n, object: message.id, kind: 'created' },
    { type: 'threads', n: joined.n, object: joined.id, kind: joined.created ? 'created' : 'updated' },
    { type: 'folders', n: folder.n, object: folder.id, kind: 'updated' },
  ]
  return { n, attachmentIds, joined, changes }
}
