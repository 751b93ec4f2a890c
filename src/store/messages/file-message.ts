// Files new messages: joins them to their threads, adds them to their folders and updates their counts.

import type { Clock } from '../../base/clock.ts'
import type { Tx } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import { type JoinedThread, joinThreads } from '../entries/join-threads.ts'
import { ENTRY_FLAGS, entryFlags, MUTED } from '../entries/keywords.ts'
import { nextNumbers } from '../entries/numbers.ts'
import { mutedThreads } from '../entries/thread-messages.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Change, ChangeLedger } from '../rows/changes.ts'
import { type FolderKey, fileMessages, isListedIn, updateThreadOrder } from '../rows/folders.ts'
import { insertMessages, type NewMessage } from './insert.ts'

/** A new message and the folders it is filed in. */
export interface MessageFiling extends Omit<NewMessage, 'n' | 'thread' | 'listed'> {
  /** At least one, each once. */
  folders: readonly FolderKey[]
  /** The mailbox's own addresses, lower-case. */
  ownAddresses: readonly string[]
  /** Folders instead of `folders` where it joins a muted thread; left out: it is filed as any other. */
  ifMuted?: readonly FolderKey[]
  /** Number of the thread it joins regardless of its Message-IDs; undefined: the thread is looked up by them. */
  knownThread?: number
}

export interface FiledMessage {
  n: number
  folders: readonly FolderKey[]
  attachmentIds: string[]
  joined: JoinedThread
  /** Its UIDs, in the order of the folders. */
  uids: number[]
  /** Changes to record in the ledger. */
  changes: Change[]
}

export interface FilingDeps {
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

/** Length of a message as mail programs get it: each bare LF is served as CRLF (RFC 9051 §2.2 wants CRLF everywhere). */
export function servedBytes(sizeBytes: number, root: Part | null): number {
  return sizeBytes + (root?.headerLf ?? 0) + (root?.bodyLf ?? 0)
}

/**
 * Files messages, advances the counters of their accounts and records the changes in the ledger. The messages of one account share a
 * sequence number.
 */
export function storeMessages(
  tx: Tx,
  { accounts, changes, clock }: FilingDeps,
  filings: readonly MessageFiling[],
): FiledMessage[] {
  const byAccount = Map.groupBy(filings.keys(), (index) => filings[index]!.account)
  const types = ['messages', 'threads', 'folders', 'quotas'] as const
  const modSeqs = new Map<number, number>()
  for (const [account, indexes] of byAccount) {
    const bytes = indexes.reduce((sum, index) => sum + filings[index]!.sizeBytes, 0)
    modSeqs.set(account, accounts.advance(tx, account, types, { bytes, messages: indexes.length }))
  }
  const filed = fileNewMessages(tx, filings, modSeqs)
  for (const [account, indexes] of byAccount) {
    const recorded = indexes.flatMap((index) => filed[index]!.changes)
    changes.record(tx, account, modSeqs.get(account)!, recorded, clock.now())
  }
  return filed
}

/**
 * Writes all rows of messages; the caller has advanced the accounts' counters and records the changes in the ledger.
 * @param modSeqs what the counter of each account was advanced to
 */
export function fileNewMessages(
  tx: Tx,
  requested: readonly MessageFiling[],
  modSeqs: ReadonlyMap<number, number>,
): FiledMessage[] {
  const numbers = nextNumbers(tx, requested)
  const isListed = requested.map(({ folders }) => folders.some(isListedIn))
  const threads = joinThreads(
    tx,
    requested.map((filing, index) => {
      const { account, parsed, receivedAt, ownAddresses, knownThread } = filing
      const [n, unread, listed] = [numbers[index]!, isUnread(filing), isListed[index]!]
      return { n, account, parsed, receivedAt, unread, listed, ownAddresses, knownThread }
    }),
  )
  const filings = asMuted(tx, requested, threads)
  const attachmentIds = insertMessages(
    tx,
    filings.map(({ folders, ownAddresses, knownThread, ifMuted, ...message }, index) => {
      const [n, thread, listed] = [numbers[index]!, threads[index]!.n, isListed[index]!]
      return { ...message, n, thread, listed }
    }),
  )
  const uids = addToFolders(tx, filings, { numbers, threads, modSeqs })
  return filings.map((filing, index) => {
    const [n, joined] = [numbers[index]!, threads[index]!]
    const own = uids.splice(0, filing.folders.length)
    const changes = changesOf(filing, n, joined)
    return { n, folders: filing.folders, attachmentIds: attachmentIds[index]!, joined, uids: own, changes }
  })
}

/** Messages that join a muted thread are muted too, and filed elsewhere; threads have been joined, none of the messages is inserted. */
function asMuted(
  tx: Tx,
  filings: readonly MessageFiling[],
  threads: readonly JoinedThread[],
): readonly MessageFiling[] {
  const joined = filings.flatMap(({ ifMuted }, index) =>
    ifMuted === undefined || threads[index]!.created ? [] : [threads[index]!.n],
  )
  const muted = mutedThreads(tx, joined)
  if (muted.size === 0) return filings
  return filings.map((filing, index) =>
    filing.ifMuted === undefined || !muted.has(threads[index]!.n)
      ? filing
      : { ...filing, folders: filing.ifMuted, keywords: [...filing.keywords, MUTED] },
  )
}

/** @returns the UIDs of all messages in all their folders, in this order */
function addToFolders(
  tx: Tx,
  filings: readonly MessageFiling[],
  {
    numbers,
    threads,
    modSeqs,
  }: { numbers: readonly number[]; threads: readonly JoinedThread[]; modSeqs: ReadonlyMap<number, number> },
): number[] {
  // Of several messages of a thread the last one has its sort time.
  const times = new Map(threads.map(({ n, lastReceivedAt }) => [n, lastReceivedAt]))
  const entries = filings.flatMap((filing, index) =>
    filing.folders.map((folder) => ({
      folder: folder.n,
      message: numbers[index]!,
      thread: threads[index]!.n,
      receivedAt: filing.receivedAt,
      filedAt: filing.createdAt,
      unread: isUnread(filing),
      threadLastReceivedAt: times.get(threads[index]!.n)!,
      modSeq: modSeqs.get(filing.account)!,
      flags: entryFlags(filing.flags, filing.keywords),
      sizeBytes: servedBytes(filing.sizeBytes, filing.parsed.structure),
    })),
  )
  const uids = fileMessages(tx, entries)
  const moved = new Set(threads.filter(({ isMoved }) => isMoved).map(({ n }) => n))
  for (const n of moved) updateThreadOrder(tx, n, times.get(n)!)
  return uids
}

function isUnread({ flags, keywords }: MessageFiling): boolean {
  return (entryFlags(flags, keywords) & ENTRY_FLAGS.seen) === 0
}

function changesOf({ id, folders }: MessageFiling, n: number, joined: JoinedThread): Change[] {
  return [
    { type: 'messages', n, object: id, kind: 'created' },
    { type: 'threads', n: joined.n, object: joined.id, kind: joined.created ? 'created' : 'updated' },
    ...folders.map(
      (folder): Change => ({ type: 'folders', n: folder.n, object: folder.id, kind: 'updated', countsOnly: true }),
    ),
  ]
}
