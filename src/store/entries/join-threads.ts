// Joins new messages to their threads: found by Message-IDs, else by subject, else a new thread.

import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Reader, SqlValue, Tx } from '../../db/db.ts'
import { inPieces, insertMany, selectMany } from '../../db/many-rows.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import { normaliseSubject } from '../../mime/references.ts'
import { lastNumberOf } from '../rows/changes.ts'

const REFERENCES_MAX = 100
const PARTICIPANTS_MAX = 50
const SUBJECT_KEY_MAX = 255
const SUBJECT_CANDIDATES = 10
// docs/design/mailbox.md §5: a thread with the same subject is joined within 30 days.
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
  /** This message changed the sort time of a thread that existed before. */
  isMoved: boolean
}

interface ThreadRow {
  n: number
  id: string
  account: number
  subject_key: string
  listed: number
  message_count: number
  unread_count: number
  has_attachments: number
  last_message: number
  last_received_at: number
  participants: string
}

/** A thread during a unit of work. */
interface ThreadState {
  row: ThreadRow
  /** Members of its row that only an insertion writes; undefined for a thread that exists. */
  created: { subject: string; created_at: number } | undefined
  isChanged: boolean
}

const COLUMNS = `n, id, account, subject_key, listed, message_count, unread_count, has_attachments, last_message, last_received_at,
  participants`

interface ThreadLookup {
  state: ThreadState
  by: 'id' | 'subject'
  ref: string | null
}

/** A Message-ID of a message, with the key by which the index has it. */
interface Reference {
  id: string
  hash: Buffer
  key: string
}

/**
 * Finds or creates the threads of messages that are about to be inserted, and updates their counts: the same as one by one, with
 * few statements. Threads never span accounts and are never merged.
 * @returns the threads in the order of the messages
 */
export function joinThreads(tx: Tx, inputs: readonly ThreadJoinInput[]): JoinedThread[] {
  const joining = new ThreadJoining(tx, inputs)
  const joined = inputs.map((input, index) => joining.join(input, index))
  joining.write()
  return joined
}

class ThreadJoining {
  readonly #tx: Tx
  readonly #references: Reference[][]
  readonly #states = new Map<number, ThreadState>()
  /** The oldest thread with a reference: if several threads match, it is the one that is joined. */
  readonly #oldest = new Map<string, number>()
  readonly #recorded = new Map<string, SqlValue[]>()
  /** The highest number of a thread, by account. */
  readonly #highest = new Map<number, number>()

  constructor(tx: Tx, inputs: readonly ThreadJoinInput[]) {
    this.#tx = tx
    this.#references = inputs.map(({ account, parsed }) => referencesOf(account, parsed))
    this.#findReferences(inputs)
    const found = this.#references.map((references) => this.#oldestOf(references)?.thread)
    const known = inputs.map(({ knownThread }) => knownThread)
    this.#load([...known, ...found].filter((n) => n !== undefined))
  }

  join(input: ThreadJoinInput, index: number): JoinedThread {
    const references = this.#references[index]!
    const match = this.#byNumber(input) ?? this.#byMessageIds(references) ?? this.#bySubject(input)
    const joined = match ? addToThread(match, input) : this.#create(input)
    for (const { hash, key } of references) {
      this.#recorded.set(`${key} ${joined.n}`, [input.account, hash, joined.n])
      this.#oldest.set(key, Math.min(this.#oldest.get(key) ?? joined.n, joined.n))
    }
    return joined
  }

  /** Writes all rows that changed. */
  write(): void {
    const created: Record<string, SqlValue>[] = []
    for (const { row, created: rest, isChanged } of this.#states.values()) {
      if (rest !== undefined) created.push({ ...row, ...rest })
      else if (isChanged) this.#update(row)
    }
    insertMany(this.#tx, 'threads', created)
    inPieces([...this.#recorded.values()], (marks, values) =>
      this.#tx.run(`INSERT OR IGNORE INTO thread_refs (account, ref, thread) VALUES ${marks}`, values),
    )
  }

  #update(row: ThreadRow): void {
    this.#tx.run(
      `UPDATE threads SET listed = ?, message_count = ?, unread_count = ?, has_attachments = ?, last_message = ?,
         last_received_at = ?, participants = ? WHERE n = ?`,
      [
        ...[row.listed, row.message_count, row.unread_count, row.has_attachments, row.last_message],
        ...[row.last_received_at, row.participants, row.n],
      ],
    )
  }

  #findReferences(inputs: readonly ThreadJoinInput[]): void {
    const wanted = new Map<string, SqlValue[]>()
    for (const [index, { account }] of inputs.entries()) {
      for (const { key, hash } of this.#references[index]!) wanted.set(key, [account, hash])
    }
    const rows = selectMany<{ account: number; ref: Uint8Array; thread: number | null }>(
      this.#tx,
      [...wanted.values()],
      (marks) => `WITH wanted (account, ref) AS (VALUES ${marks})
        SELECT account, ref, (SELECT min(thread) FROM thread_refs r WHERE r.account = w.account AND r.ref = w.ref) AS thread
        FROM wanted w`,
    )
    for (const { account, ref, thread } of rows) if (thread !== null) this.#oldest.set(keyOf(account, ref), thread)
  }

  #load(numbers: readonly number[]): void {
    const missing = [...new Set(numbers)].filter((n) => !this.#states.has(n)).map((n) => [n])
    const rows = selectMany<ThreadRow>(
      this.#tx,
      missing,
      (marks) => `SELECT ${COLUMNS} FROM threads WHERE n IN (VALUES ${marks})`,
    )
    for (const row of rows) this.#keep(row)
  }

  #keep(row: ThreadRow): ThreadState {
    const known = this.#states.get(row.n)
    if (known !== undefined) return known
    const state: ThreadState = { row, created: undefined, isChanged: false }
    this.#states.set(row.n, state)
    return state
  }

  #byNumber({ account, knownThread }: ThreadJoinInput): ThreadLookup | undefined {
    const state = knownThread === undefined ? undefined : this.#states.get(knownThread)
    return state?.row.account === account ? { state, by: 'id', ref: null } : undefined
  }

  #byMessageIds(references: readonly Reference[]): ThreadLookup | undefined {
    const oldest = this.#oldestOf(references)
    if (oldest === undefined) return undefined
    this.#load([oldest.thread])
    const state = this.#states.get(oldest.thread)
    return state && { state, by: 'id', ref: oldest.id }
  }

  #oldestOf(references: readonly Reference[]): { thread: number; id: string } | undefined {
    let oldest: { thread: number; id: string } | undefined
    for (const { id, key } of references) {
      const thread = this.#oldest.get(key)
      if (thread !== undefined && (oldest === undefined || thread < oldest.thread)) oldest = { thread, id }
    }
    return oldest
  }

  #bySubject(input: ThreadJoinInput): ThreadLookup | undefined {
    const { key, isReply } = normaliseSubject(input.parsed.subject)
    const refersToMessage = isReply || input.parsed.inReplyTo.length > 0 || input.parsed.references.length > 0
    if (!refersToMessage || key === '') return undefined
    const own = new Set(input.ownAddresses)
    const others = new Set(
      participantsOf(input.parsed)
        .map(({ email }) => email)
        .filter((email) => !own.has(email)),
    )
    const state = this.#subjectCandidates(input, key.slice(0, SUBJECT_KEY_MAX)).find(({ row }) =>
      (JSON.parse(row.participants) as Address[]).some(({ email }) => others.has(email)),
    )
    return state && { state, by: 'subject', ref: null }
  }

  /** The latest threads with a subject near the time of a message, as they are in this unit of work. */
  #subjectCandidates({ account, receivedAt }: ThreadJoinInput, subjectKey: string): ThreadState[] {
    const [from, to] = [receivedAt - SUBJECT_WINDOW_MS, receivedAt + SUBJECT_WINDOW_MS]
    const rows = this.#tx.all<ThreadRow>(
      `SELECT ${COLUMNS} FROM threads WHERE account = ? AND subject_key = ? AND last_received_at BETWEEN ? AND ?
       ORDER BY last_received_at DESC LIMIT ?`,
      [account, subjectKey, from, to, SUBJECT_CANDIDATES],
    )
    for (const row of rows) this.#keep(row)
    return [...this.#states.values()]
      .filter(({ row }) => row.account === account && row.subject_key === subjectKey)
      .filter(({ row }) => row.last_received_at >= from && row.last_received_at <= to)
      .sort((a, b) => b.row.last_received_at - a.row.last_received_at)
      .slice(0, SUBJECT_CANDIDATES)
  }

  #create(input: ThreadJoinInput): JoinedThread {
    const { account, parsed, receivedAt } = input
    const row: ThreadRow = {
      n: this.#nextNumber(account),
      id: newId('thread'),
      account,
      subject_key: normaliseSubject(parsed.subject).key.slice(0, SUBJECT_KEY_MAX),
      listed: Number(input.listed),
      message_count: 1,
      unread_count: Number(input.unread),
      has_attachments: Number(parsed.hasAttachments),
      last_message: input.n,
      last_received_at: receivedAt,
      participants: JSON.stringify(addParticipants([], parsed)),
    }
    this.#states.set(row.n, { row, created: { subject: parsed.subject, created_at: receivedAt }, isChanged: true })
    return { n: row.n, id: row.id, created: true, by: 'new', ref: null, lastReceivedAt: receivedAt, isMoved: false }
  }

  /** Also above deleted threads that the ledger still records. */
  #nextNumber(account: number): number {
    const created = Math.max(0, ...this.#highest.values())
    const n = Math.max(created, this.#highest.get(account) ?? this.#readHighest(account)) + 1
    this.#highest.set(account, n)
    return n
  }

  #readHighest(account: number): number {
    const recorded = lastNumberOf(account, 'threads')
    return this.#tx.get<{ n: number }>(
      `SELECT max(coalesce((SELECT max(n) FROM threads), 0), coalesce((${recorded.sql}), 0)) AS n`,
      recorded.values,
    )!.n
  }
}

/** Own Message-ID first, then In-Reply-To, then References from the end: its last ids are the closest ancestors (RFC 5322 §3.6.4). */
function referencesOf(account: number, message: ParsedMessage): Reference[] {
  const ids = new Set<string>()
  if (message.messageId !== null) ids.add(message.messageId)
  for (const id of message.inReplyTo) ids.add(id)
  for (const id of message.references.toReversed()) ids.add(id)
  return [...ids].slice(0, REFERENCES_MAX).map((id) => {
    const hash = refOf(id)
    return { id, hash, key: keyOf(account, hash) }
  })
}

/** Numbers of the threads of an account in which one of some Message-IDs occurs. */
export function threadsNaming(reader: Reader, account: number, ids: readonly string[]): number[] {
  const rows = reader.all<{ thread: number }>(
    `SELECT DISTINCT r.thread FROM json_each(?) j CROSS JOIN thread_refs r WHERE r.account = ? AND r.ref = unhex(j.value)`,
    [JSON.stringify(ids.map((id) => refOf(id).toString('hex'))), account],
  )
  return rows.map(({ thread }) => thread)
}

function refOf(id: string): Buffer {
  return sha256(id).subarray(0, REF_BYTES)
}

function keyOf(account: number, hash: Uint8Array): string {
  return `${account} ${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1')}`
}

function addToThread({ state, by, ref }: ThreadLookup, input: ThreadJoinInput): JoinedThread {
  const { row } = state
  const joined = { n: row.n, id: row.id, created: false, by, ref }
  // docs/design/mailbox.md §5: counts and flags cover the messages outside Trash and Junk, or all messages if there are none outside.
  if (row.listed === 1 && !input.listed) return { ...joined, lastReceivedAt: row.last_received_at, isMoved: false }
  const isFirstListed = row.listed === 0 && input.listed
  const before = isFirstListed
    ? { ...row, message_count: 0, unread_count: 0, has_attachments: 0, last_received_at: 0, participants: '[]' }
    : { ...row }
  const lastReceivedAt = Math.max(before.last_received_at, input.receivedAt)
  const isMoved = state.created === undefined && lastReceivedAt !== row.last_received_at
  row.listed = Number(input.listed)
  row.message_count = before.message_count + 1
  row.unread_count = before.unread_count + Number(input.unread)
  row.has_attachments = Number(before.has_attachments === 1 || input.parsed.hasAttachments)
  // Of two messages received at the same time the one with the higher number is the last.
  if (before.last_received_at === input.receivedAt) row.last_message = Math.max(row.last_message, input.n)
  else if (lastReceivedAt === input.receivedAt) row.last_message = input.n
  row.last_received_at = lastReceivedAt
  row.participants = JSON.stringify(addParticipants(JSON.parse(before.participants) as Address[], input.parsed))
  state.isChanged = true
  return { ...joined, lastReceivedAt, isMoved }
}

function participantsOf({ from, to, cc }: ParsedMessage): Address[] {
  return [...from, ...to, ...cc].map((address) => ({ ...address, email: address.email.toLowerCase() }))
}

function addParticipants(known: Address[], message: ParsedMessage): Address[] {
  return mergeParticipants(known, participantsOf(message))
}

/** Distinct addresses in the order of their first occurrence, at most PARTICIPANTS_MAX (docs/design/mailbox.md §5). */
export function mergeParticipants(known: readonly Address[], more: readonly Address[]): Address[] {
  const merged = new Map(known.map((address) => [address.email, address]))
  for (const { name, email } of more) {
    if (merged.size >= PARTICIPANTS_MAX) break
    const key = email.toLowerCase()
    if (key !== '' && !merged.has(key)) merged.set(key, { email: key, name })
  }
  return [...merged.values()]
}
