// Which conversation a message belongs to: found by its ids, else by its subject, else a new one.

import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { SqlValue, Tx } from '../../db/db.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import { normaliseSubject } from '../../mime/references.ts'
import { lastNumber } from '../changes.ts'

const REFERENCES_MAX = 100
const PARTICIPANTS_MAX = 50
const SUBJECT_KEY_MAX = 255
const SUBJECT_CANDIDATES = 10
// Decisions §10.5: a thread with the same subject is joined within 30 days.
const SUBJECT_WINDOW_MS = 30 * 24 * 60 * 60 * 1000
// Half a SHA-256 tells Message-IDs apart and keeps the index small, whatever their length.
const REF_BYTES = 16

/** What a message brings to the thread it joins. */
export interface Joining {
  account: number
  mail: ParsedMessage
  receivedAt: number
  unread: boolean
  /** False when it lies in Junk or Trash only. */
  listed: boolean
  /** The mailbox's own addresses: they are in every mail and tell nothing about who talks to whom. */
  own: readonly string[]
  /** Number of the thread it belongs to, whatever its ids say: it answers a message there. */
  into?: number
}

/** The thread a message went into and why. */
export interface Joined {
  n: number
  id: string
  created: boolean
  by: 'id' | 'subject' | 'new'
  /** The Message-ID that led to the thread. */
  ref: string | null
  /** The time the thread is ordered by after this message. */
  lastReceivedAt: number
  /** True when the thread shows this message as its last one, unless another one came at the same time. */
  isLast: boolean
  /** True when the last one so far came at the same time: then the one with the higher number is the last. */
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
 * Finds or opens the thread of a message that is about to be inserted, and counts it there. Threads never cross accounts
 * and never merge. The caller names the message with {@link nameLastMessage} once it has a key.
 */
export async function joinThread(tx: Tx, joining: Joining): Promise<Joined> {
  const refs = refsOf(joining.mail)
  const found = (await byNumber(tx, joining)) ?? (await byIds(tx, joining, refs)) ?? (await bySubject(tx, joining))
  const joined = found ? await enter(tx, joining, found) : await begin(tx, joining)
  await remember(tx, joining.account, joined.n, refs)
  return joined
}

/** Says which message a thread shows as its last one, once that message has a key. */
export async function nameLastMessage(
  tx: Tx,
  { n, isTie }: Pick<Joined, 'n' | 'isTie'>,
  message: number,
): Promise<void> {
  const last = isTie ? 'max(last_message, ?)' : '?'
  await tx.run(`UPDATE threads SET last_message = ${last} WHERE n = ?`, [message, n])
}

/** Own id first, then what it refers to, nearest first: the last ids of References are the closest relatives. */
function refsOf(mail: ParsedMessage): string[] {
  const ids = new Set<string>()
  if (mail.messageId !== null) ids.add(mail.messageId)
  for (const id of mail.inReplyTo) ids.add(id)
  for (const id of mail.references.toReversed()) ids.add(id)
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

async function byNumber(tx: Tx, { account, into }: Joining): Promise<ThreadLookup | undefined> {
  if (into === undefined) return undefined
  const row = await tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ? AND account = ?`, [into, account])
  return row && { row, by: 'id', ref: null }
}

async function byIds(tx: Tx, joining: Joining, refs: readonly string[]): Promise<ThreadLookup | undefined> {
  if (refs.length === 0) return undefined
  const hashes = refs.map(hashOf)
  // Where several threads know the ids, the oldest one wins: keys grow with age.
  const known = await tx.get<{ ref: Uint8Array; thread: number }>(
    `SELECT ref, thread FROM thread_refs WHERE account = ? AND ref IN (${hashes.map(() => '?').join(', ')})
     ORDER BY thread LIMIT 1`,
    [joining.account, ...hashes],
  )
  if (!known) return undefined
  const row = await tx.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n = ?`, [known.thread])
  if (!row) return undefined
  const index = hashes.findIndex((hash) => hash.equals(known.ref))
  return { row, by: 'id', ref: refs[index] ?? null }
}

async function bySubject(tx: Tx, joining: Joining): Promise<ThreadLookup | undefined> {
  const { key, isReply } = normaliseSubject(joining.mail.subject)
  const answersSomething = isReply || joining.mail.inReplyTo.length > 0 || joining.mail.references.length > 0
  if (!answersSomething || key === '') return undefined
  const candidates = await tx.all<ThreadRow>(
    `SELECT ${COLUMNS} FROM threads WHERE account = ? AND subject_key = ? AND last_received_at BETWEEN ? AND ?
     ORDER BY last_received_at DESC LIMIT ?`,
    [
      joining.account,
      key.slice(0, SUBJECT_KEY_MAX),
      joining.receivedAt - SUBJECT_WINDOW_MS,
      joining.receivedAt + SUBJECT_WINDOW_MS,
      SUBJECT_CANDIDATES,
    ],
  )
  const own = new Set(joining.own)
  const here = new Set(
    peopleOf(joining.mail)
      .map((person) => person.email)
      .filter((email) => !own.has(email)),
  )
  const row = candidates.find((candidate) =>
    (JSON.parse(candidate.participants) as Address[]).some((person) => here.has(person.email)),
  )
  return row && { row, by: 'subject', ref: null }
}

async function begin(tx: Tx, joining: Joining): Promise<Joined> {
  const id = newId('thread')
  const newest = await tx.get<{ n: number | null }>('SELECT max(n) AS n FROM threads')
  const n = Math.max(newest?.n ?? 0, await lastNumber(tx, joining.account, 'threads')) + 1
  await tx.insert('threads', {
    n,
    id,
    account: joining.account,
    subject: joining.mail.subject,
    subject_key: normaliseSubject(joining.mail.subject).key.slice(0, SUBJECT_KEY_MAX),
    listed: joining.listed,
    message_count: 1,
    unread_count: joining.unread,
    has_attachments: joining.mail.hasAttachments,
    last_message: 0,
    last_received_at: joining.receivedAt,
    participants: JSON.stringify(addPeople([], joining.mail)),
    created_at: joining.receivedAt,
  })
  return { n, id, created: true, by: 'new', ref: null, lastReceivedAt: joining.receivedAt, isLast: true, isTie: false }
}

async function enter(tx: Tx, joining: Joining, found: ThreadLookup): Promise<Joined> {
  const { row } = found
  const joined = { n: row.n, id: row.id, created: false, by: found.by, ref: found.ref }
  // Decisions §10.5: counts and flags cover what lies outside Trash and Junk, unless all lies inside.
  if (row.listed === 1 && !joining.listed) {
    return { ...joined, lastReceivedAt: row.last_received_at, isLast: false, isTie: false }
  }
  const startsAgain = row.listed === 0 && joining.listed
  const before = startsAgain
    ? { ...row, message_count: 0, unread_count: 0, has_attachments: 0, last_received_at: 0, participants: '[]' }
    : row
  const lastReceivedAt = Math.max(before.last_received_at, joining.receivedAt)
  await tx.run(
    `UPDATE threads SET listed = ?, message_count = ?, unread_count = ?, has_attachments = ?, last_received_at = ?,
       participants = ? WHERE n = ?`,
    [
      joining.listed,
      before.message_count + 1,
      before.unread_count + (joining.unread ? 1 : 0),
      before.has_attachments === 1 || joining.mail.hasAttachments,
      lastReceivedAt,
      JSON.stringify(addPeople(JSON.parse(before.participants) as Address[], joining.mail)),
      row.n,
    ],
  )
  const isLast = lastReceivedAt === joining.receivedAt
  return { ...joined, lastReceivedAt, isLast, isTie: isLast && before.last_received_at === joining.receivedAt }
}

async function remember(tx: Tx, account: number, thread: number, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return
  const values = refs.flatMap((ref): SqlValue[] => [account, hashOf(ref), thread])
  await tx.run(
    `INSERT OR IGNORE INTO thread_refs (account, ref, thread) VALUES ${refs.map(() => '(?, ?, ?)').join(', ')}`,
    values,
  )
}

function peopleOf(mail: ParsedMessage): Address[] {
  return [...mail.from, ...mail.to, ...mail.cc].map((person) => ({ ...person, email: person.email.toLowerCase() }))
}

/** Distinct addresses, first seen first (decisions §10.5). */
function addPeople(known: Address[], mail: ParsedMessage): Address[] {
  return withPeople(known, peopleOf(mail))
}

/** The same for people who are known by their addresses. */
export function withPeople(known: readonly Address[], more: readonly Address[]): Address[] {
  const people = new Map(known.map((person) => [person.email, person]))
  for (const person of more.map((one) => ({ ...one, email: one.email.toLowerCase() }))) {
    if (people.size >= PARTICIPANTS_MAX) break
    if (person.email !== '' && !people.has(person.email)) people.set(person.email, person)
  }
  return [...people.values()]
}
