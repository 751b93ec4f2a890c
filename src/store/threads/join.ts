// Joins a new message to its thread: found by Message-IDs, else by subject, else a new thread.

import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { SqlValue, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import { normaliseSubject } from '../../mime/references.ts'
import { lastNumber } from '../changes.ts'

const REFERENCES_MAX = 100
const PARTICIPANTS_MAX = 50
const SUBJECT_KEY_MAX = 255
const SUBJECT_CANDIDATES = 10
// Decisions §10.5: a thread with the same subject is joined within 30 days.
const SUBJECT_WINDOW_MS = 30 * DAY_MS
// Half a SHA-256 is enough to distinguish Message-IDs and keeps the index small.
const REF_BYTES = 16

export interface ThreadJoinInput {
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
  /** True if this message becomes the last one of the thread, unless another one was received at the same time. */
  isLast: boolean
  /** True if the previous last message was received at the same time: the one with the higher number is the last. */
  isTie: boolean
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
 * and are never merged. The caller calls {@link setLastMessage} once the message has a number.
 */
export async function joinThread(tx: Tx, input: ThreadJoinInput): Promise<JoinedThread> {
  const refs = refsOf(input.parsed)
  const match =
    (await findByNumber(tx, input)) ?? (await findByMessageIds(tx, input, refs)) ?? (await findBySubject(tx, input))
  const joined = match ? await addToThread(tx, input, match) : await createThread(tx, input)
  await recordReferences(tx, input.account, joined.n, refs)
  return joined
}

/** Sets the last message of a thread. */
export async function setLastMessage(
  tx: Tx,
  { n, isTie }: Pick<JoinedThread, 'n' | 'isTie'>,
  message: number,
): Promise<void> {
  const last = isTie ? 'max(last_message, ?)' : '?'
  await tx.run(`UPDATE threads SET last_message = ${last} WHERE n = ?`, [message, n])
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

async function findByNumber(tx: Tx, { account, knownThread }: ThreadJoinInput): Promise<ThreadLookup | undefined> {
  if (knownThread === undefined) return undefined
  const row = await tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ? AND account = ?`, [
    knownThread,
    account,
  ])
  return row && { row, by: 'id', ref: null }
}

async function findByMessageIds(
  tx: Tx,
  input: ThreadJoinInput,
  refs: readonly string[],
): Promise<ThreadLookup | undefined> {
  if (refs.length === 0) return undefined
  const hashes = refs.map(hashOf)
  // If several threads match, the oldest one is used: it has the lowest number.
  const match = await tx.get<{ ref: Uint8Array; thread: number }>(
    `SELECT ref, thread FROM thread_refs WHERE account = ? AND ref IN (${placeholders(hashes)})
     ORDER BY thread LIMIT 1`,
    [input.account, ...hashes],
  )
  if (!match) return undefined
  const row = await tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ?`, [match.thread])
  if (!row) return undefined
  const index = hashes.findIndex((hash) => hash.equals(match.ref))
  return { row, by: 'id', ref: refs[index] ?? null }
}

async function findBySubject(tx: Tx, input: ThreadJoinInput): Promise<ThreadLookup | undefined> {
  const { key, isReply } = normaliseSubject(input.parsed.subject)
  const refersToMessage = isReply || input.parsed.inReplyTo.length > 0 || input.parsed.references.length > 0
  if (!refersToMessage || key === '') return undefined
  const candidates = await tx.all<ThreadRow>(
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

async function createThread(tx: Tx, input: ThreadJoinInput): Promise<JoinedThread> {
  const id = newId('thread')
  const newest = await tx.get<{ n: number | null }>('SELECT max(n) AS n FROM threads')
  const n = Math.max(newest?.n ?? 0, await lastNumber(tx, input.account, 'threads')) + 1
  await tx.insert('threads', {
    n,
    id,
    account: input.account,
    subject: input.parsed.subject,
    subject_key: normaliseSubject(input.parsed.subject).key.slice(0, SUBJECT_KEY_MAX),
    listed: input.listed,
    message_count: 1,
    unread_count: input.unread,
    has_attachments: input.parsed.hasAttachments,
    last_message: 0,
    last_received_at: input.receivedAt,
    participants: JSON.stringify(addParticipants([], input.parsed)),
    created_at: input.receivedAt,
  })
  return { n, id, created: true, by: 'new', ref: null, lastReceivedAt: input.receivedAt, isLast: true, isTie: false }
}

async function addToThread(tx: Tx, input: ThreadJoinInput, match: ThreadLookup): Promise<JoinedThread> {
  const { row } = match
  const joined = { n: row.n, id: row.id, created: false, by: match.by, ref: match.ref }
  // Decisions §10.5: counts and flags cover the messages outside Trash and Junk, or all messages if there are none outside.
  if (row.listed === 1 && !input.listed) {
    return { ...joined, lastReceivedAt: row.last_received_at, isLast: false, isTie: false }
  }
  const isFirstListed = row.listed === 0 && input.listed
  const before = isFirstListed
    ? { ...row, message_count: 0, unread_count: 0, has_attachments: 0, last_received_at: 0, participants: '[]' }
    : row
  const lastReceivedAt = Math.max(before.last_received_at, input.receivedAt)
  await tx.run(
    `UPDATE threads SET listed = ?, message_count = ?, unread_count = ?, has_attachments = ?, last_received_at = ?,
       participants = ? WHERE n = ?`,
    [
      input.listed,
      before.message_count + 1,
      before.unread_count + (input.unread ? 1 : 0),
      before.has_attachments === 1 || input.parsed.hasAttachments,
      lastReceivedAt,
      JSON.stringify(addParticipants(JSON.parse(before.participants) as Address[], input.parsed)),
      row.n,
    ],
  )
  const isLast = lastReceivedAt === input.receivedAt
  return { ...joined, lastReceivedAt, isLast, isTie: isLast && before.last_received_at === input.receivedAt }
}

async function recordReferences(tx: Tx, account: number, thread: number, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return
  const values = refs.flatMap((ref): SqlValue[] => [account, hashOf(ref), thread])
  await tx.run(
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
