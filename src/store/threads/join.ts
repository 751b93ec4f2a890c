// Joins a new message to its thread: found by Message-IDs, else by subject, else a new thread.

import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { SqlValue, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import { normaliseSubject } from '../../mime/references.ts'
import { lastNumberOf } from '../changes.ts'

const REFERENCES_MAX = 100
const PARTICIPANTS_MAX = 50
const SUBJECT_KEY_MAX = 255
const SUBJECT_CANDIDATES = 10
// Decisions §10.5: a thread with the same subject is joined within 30 days.
const SUBJECT_WINDOW_MS = 30 * DAY_MS
// Half a SHA-256 is enough to distinguish Message-IDs and keeps the index small.
const REF_BYTES = 16

export interface ThreadJoinInput {
  /** Number of the message. */
  n: number
  account: number
  parsed: ParsedMessage
  receivedAt: number
  unread: boolean
  /** False if it is only in Junk or Trash. */
  listed: boolean
  /** The mailbox's own addresses, which are ignored when participants are compared: they occur in every message. */
  ownAddresses: readonly string[]
  /** Number of the thread of the message it replies to; overrides the lookup by Message-IDs. */
  knownThread?: number
}

/** The thread a message joined, and how it was found. */
export interface JoinedThread {
  n: number
  id: string
  created: boolean
  by: 'id' | 'subject' | 'new'
  /** The Message-ID by which the thread was found. */
  ref: string | null
  /** The thread's sort time including this message. */
  lastReceivedAt: number
}

interface ThreadRow {
  n: number
  id: string
  listed: number
  message_count: number
  unread_count: number
  has_attachments: number
  last_received_at: number
  participants: string
}

const COLUMNS = 'n, id, listed, message_count, unread_count, has_attachments, last_received_at, participants'

/**
 * Finds or creates the thread of a message that is about to be inserted, and updates its counts. Threads never span accounts
 * and are never merged.
 */
export function joinThread(tx: Tx, input: ThreadJoinInput): JoinedThread {
  const refs = refsOf(input.parsed)
  const match = findByNumber(tx, input) ?? findByMessageIds(tx, input, refs) ?? findBySubject(tx, input)
  const joined = match ? addToThread(tx, input, match) : createThread(tx, input)
  recordReferences(tx, input.account, joined.n, refs)
  return joined
}

/** Own Message-ID first, then In-Reply-To, then References from the end: its last ids are the closest ancestors (RFC 5322 §3.6.4). */
function refsOf(message: ParsedMessage): string[] {
  const ids = new Set<string>()
  if (message.messageId !== null) ids.add(message.messageId)
  for (const id of message.inReplyTo) ids.add(id)
  for (const id of message.references.toReversed()) ids.add(id)
  return [...ids].slice(0, REFERENCES_MAX)
}

function hashOf(ref: string): Buffer {
  return sha256(ref).subarray(0, REF_BYTES)
}

interface ThreadLookup {
  row: ThreadRow
  by: 'id' | 'subject'
  ref: string | null
}

function findByNumber(tx: Tx, { account, knownThread }: ThreadJoinInput): ThreadLookup | undefined {
  if (knownThread === undefined) return undefined
  const row = tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ? AND account = ?`, [knownThread, account])
  return row && { row, by: 'id', ref: null }
}

function findByMessageIds(tx: Tx, input: ThreadJoinInput, refs: readonly string[]): ThreadLookup | undefined {
  if (refs.length === 0) return undefined
  const hashes = refs.map(hashOf)
  // If several threads match, the oldest one is used: it has the lowest number.
  const match = tx.get<{ ref: Uint8Array; thread: number }>(
    `SELECT ref, thread FROM thread_refs WHERE account = ? AND ref IN (${placeholders(hashes)})
     ORDER BY thread LIMIT 1`,
    [input.account, ...hashes],
  )
  if (!match) return undefined
  const row = tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ?`, [match.thread])
  if (!row) return undefined
  const index = hashes.findIndex((hash) => hash.equals(match.ref))
  return { row, by: 'id', ref: refs[index] ?? null }
}

function findBySubject(tx: Tx, input: ThreadJoinInput): ThreadLookup | undefined {
  const { key, isReply } = normaliseSubject(input.parsed.subject)
  const refersToMessage = isReply || input.parsed.inReplyTo.length > 0 || input.parsed.references.length > 0
  if (!refersToMessage || key === '') return undefined
  const candidates = tx.all<ThreadRow>(
    `SELECT ${COLUMNS} FROM threads WHERE account = ? AND subject_key = ? AND last_received_at BETWEEN ? AND ?
     ORDER BY last_received_at DESC LIMIT ?`,
    [
      input.account,
      key.slice(0, SUBJECT_KEY_MAX),
      input.receivedAt - SUBJECT_WINDOW_MS,
      input.receivedAt + SUBJECT_WINDOW_MS,
      SUBJECT_CANDIDATES,
    ],
  )
  const own = new Set(input.ownAddresses)
  const others = new Set(
    participantsOf(input.parsed)
      .map(({ email }) => email)
      .filter((email) => !own.has(email)),
  )
  const row = candidates.find((candidate) =>
    (JSON.parse(candidate.participants) as Address[]).some(({ email }) => others.has(email)),
  )
  return row && { row, by: 'subject', ref: null }
}

function createThread(tx: Tx, input: ThreadJoinInput): JoinedThread {
  const id = newId('thread')
  // Also above deleted threads that the ledger still records.
  const recorded = lastNumberOf(input.account, 'threads')
  const newest = tx.get<{ n: number }>(
    `SELECT max(coalesce((SELECT max(n) FROM threads), 0), coalesce((${recorded.sql}), 0)) AS n`,
    recorded.values,
  )
  const n = newest!.n + 1
  tx.insert('threads', {
    n,
    id,
    account: input.account,
    subject: input.parsed.subject,
    subject_key: normaliseSubject(input.parsed.subject).key.slice(0, SUBJECT_KEY_MAX),
    listed: input.listed,
    message_count: 1,
    unread_count: input.unread,
    has_attachments: input.parsed.hasAttachments,
    last_message: input.n,
    last_received_at: input.receivedAt,
    participants: JSON.stringify(addParticipants([], input.parsed)),
    created_at: input.receivedAt,
  })
  return { n, id, created: true, by: 'new', ref: null, lastReceivedAt: input.receivedAt }
}

function addToThread(tx: Tx, input: ThreadJoinInput, match: ThreadLookup): JoinedThread {
  const { row } = match
  const joined = { n: row.n, id: row.id, created: false, by: match.by, ref: match.ref }
  // Decisions §10.5: counts and flags cover the messages outside Trash and Junk, or all messages if there are none outside.
  if (row.listed === 1 && !input.listed) {
    return { ...joined, lastReceivedAt: row.last_received_at }
  }
  const isFirstListed = row.listed === 0 && input.listed
  const before = isFirstListed
    ? { ...row, message_count: 0, unread_count: 0, has_attachments: 0, last_received_at: 0, participants: '[]' }
    : row
  const lastReceivedAt = Math.max(before.last_received_at, input.receivedAt)
  tx.run(
    `UPDATE threads SET listed = ?, message_count = ?, unread_count = ?, has_attachments = ?, last_received_at = ?,
       participants = ?, last_message = CASE WHEN ? THEN max(last_message, ?) WHEN ? THEN ? ELSE last_message END
     WHERE n = ?`,
    [
      input.listed,
      before.message_count + 1,
      before.unread_count + (input.unread ? 1 : 0),
      before.has_attachments === 1 || input.parsed.hasAttachments,
      lastReceivedAt,
      JSON.stringify(addParticipants(JSON.parse(before.participants) as Address[], input.parsed)),
      // Of two messages received at the same time the one with the higher number is the last.
      ...[before.last_received_at === input.receivedAt, input.n],
      ...[lastReceivedAt === input.receivedAt, input.n],
      row.n,
    ],
  )
  return { ...joined, lastReceivedAt }
}

function recordReferences(tx: Tx, account: number, thread: number, refs: readonly string[]): void {
  if (refs.length === 0) return
  const values = refs.flatMap((ref): SqlValue[] => [account, hashOf(ref), thread])
  tx.run(
    `INSERT OR IGNORE INTO thread_refs (account, ref, thread) VALUES ${refs.map(() => '(?, ?, ?)').join(', ')}`,
    values,
  )
}

function participantsOf({ from, to, cc }: ParsedMessage): Address[] {
  return [...from, ...to, ...cc].map((address) => ({ ...address, email: address.email.toLowerCase() }))
}

function addParticipants(known: Address[], message: ParsedMessage): Address[] {
  return mergeParticipants(known, participantsOf(message))
}

/** Distinct addresses in the order of their first occurrence, at most PARTICIPANTS_MAX (decisions §10.5). */
export function mergeParticipants(known: readonly Address[], more: readonly Address[]): Address[] {
  const merged = new Map(known.map((address) => [address.email, address]))
  for (const { name, email } of more) {
    if (merged.size >= PARTICIPANTS_MAX) break
    const key = email.toLowerCase()
    if (key !== '' && !merged.has(key)) merged.set(key, { email: key, name })
  }
  return [...merged.values()]
}
