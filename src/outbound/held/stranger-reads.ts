// Messages of strangers that programs of a mailbox have read: for a day they mark all its programs (docs/design/agents.md §14).

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { table, text, time } from '../../db/table.ts'
import { clean } from '../../mime/one-line.ts'
import type { MessageAuthor } from '../../store/messages/authors.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { KnownContacts } from './contacts.ts'

export const STRANGER_READS = table('stranger_reads', {
  mailbox_id: text(),
  /** `msg_…` */
  message_id: text(),
  thread_id: text(),
  /** Address in From, lower-case; not proven. */
  author: text(),
  subject: text(),
  /** `first_contact`: no person has written to the author; `unauthenticated`: From is not proven. */
  reason: text<'first_contact' | 'unauthenticated'>(),
  read_at: time(),
})

/** A message of a stranger that a program has read. */
export interface StrangerRead {
  messageId: string
  threadId: string
  author: string
  subject: string
  reason: 'first_contact' | 'unauthenticated'
  /** The last time, ms. */
  readAt: number
}

/** How long a reading marks the programs of a mailbox, ms. */
export const TAINT_MS = DAY_MS
/** Readings kept of a mailbox, and shown with a held message. */
const KEPT_MAX = 200
export const SHOWN_MAX = 20
const SUBJECT_MAX = 200

interface Deps extends Pick<OutboundDeps, 'clock' | 'store'> {
  db: Db
  contacts: KnownContacts
}

export class StrangerReads {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Notes messages whose content a program of the mailbox is about to get, before it gets it. Messages of known, proven authors are not
   * noted, unless a stranger wrote in their thread: they quote that message, and have its subject.
   * @param ids those of messages and of threads, all messages of which count
   */
  async note(
    mailbox: { mailboxId: string; teamId: string },
    ids: { messages: readonly string[]; threads: readonly string[] },
  ): Promise<void> {
    const { db, store, contacts, clock } = this.#deps
    const account = store.accounts.byMailbox(mailbox.mailboxId)
    if (account === undefined || ids.messages.length + ids.threads.length === 0) return
    const shown = store.read.messages.authors(account, ids)
    const threads = [...new Set(shown.map(({ threadId }) => threadId))]
    const authors = store.read.messages.authors(account, { messages: [], threads })
    const known = contacts.among(db.read, mailbox, [...new Set(authors.map(({ author }) => author))])
    const strangers = authors.filter(({ author, isProven }) => !isProven || !known.has(author))
    // A message that is opened by itself is the first that an approver sees, although a list named it shortly before.
    const renewed = shown.length === 1 ? MINUTE_MS : RENEWED_MS
    const unmarked = readOf(strangers, shown).filter(({ id }) => !this.#isRecent(mailbox.mailboxId, id, renewed))
    if (unmarked.length === 0) return
    await db.write((tx) => {
      const readAt = clock.now()
      for (const { id, threadId, author, subject, isProven } of unmarked) {
        const reason = isProven ? 'first_contact' : 'unauthenticated'
        tx.run('DELETE FROM stranger_reads WHERE mailbox_id = ? AND message_id = ?', [mailbox.mailboxId, id])
        const read = {
          messageId: id,
          threadId,
          author: clean(author, 254),
          subject: clean(subject, SUBJECT_MAX),
          reason,
          readAt,
        }
        STRANGER_READS.insert(tx, {
          ...read,
          reason: read.reason as StrangerRead['reason'],
          mailboxId: mailbox.mailboxId,
        })
      }
      this.#trim(tx, mailbox.mailboxId)
    })
  }

  /** Renews the last reading: something of a message that was read before is read again. */
  async renew(mailboxId: string): Promise<void> {
    const { db, clock } = this.#deps
    const newest = 'SELECT message_id FROM stranger_reads WHERE mailbox_id = ? ORDER BY read_at DESC LIMIT 1'
    const last = db.read.get<{ message_id: string }>(newest, [mailboxId])
    if (last === undefined || this.#isRecent(mailboxId, last.message_id, RENEWED_MS)) return
    await db.write((tx) => {
      const sql = 'UPDATE stranger_reads SET read_at = ? WHERE mailbox_id = ? AND message_id = ?'
      tx.run(sql, [clock.now(), mailboxId, last.message_id])
    })
  }

  /**
   * The newest readings that mark the programs of a mailbox, the last first.
   * @param at for a message of an earlier time (ms): a reading that is repeated later is kept with its last time, so later ones count too
   */
  recent(reader: Reader, mailboxId: string, limit = SHOWN_MAX, at = this.#deps.clock.now()): StrangerRead[] {
    const since = at - TAINT_MS
    const rest = 'WHERE mailbox_id = ? AND read_at > ? ORDER BY read_at DESC, message_id LIMIT ?'
    return STRANGER_READS.all(reader, rest, [mailboxId, since, limit])
  }

  /** Until when (ms) the programs of a mailbox are marked; null when they are not. */
  taintedUntil(reader: Reader, mailboxId: string): number | null {
    const [last] = this.recent(reader, mailboxId, 1)
    return last === undefined ? null : last.readAt + TAINT_MS
  }

  /** Erases the readings of a deleted mailbox. */
  eraseOf(tx: Tx, mailboxId: string): void {
    this.clear(tx, mailboxId)
  }

  /** Ends the mark: an owner has looked. */
  clear(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM stranger_reads WHERE mailbox_id = ?', [mailboxId])
  }

  /** A reading is written again only when it could end before the next one: a program polls. */
  #isRecent(mailboxId: string, messageId: string, renewedMs: number): boolean {
    const rest = 'WHERE mailbox_id = ? AND message_id = ?'
    const read = STRANGER_READS.get(this.#deps.db.read, rest, [mailboxId, messageId])
    return read !== undefined && read.readAt > this.#deps.clock.now() - renewedMs
  }

  #trim(tx: Tx, mailboxId: string): void {
    tx.run(
      `DELETE FROM stranger_reads WHERE mailbox_id = ? AND message_id NOT IN
         (SELECT message_id FROM stranger_reads WHERE mailbox_id = ? ORDER BY read_at DESC LIMIT ?)`,
      [mailboxId, mailboxId, KEPT_MAX],
    )
  }
}

/** The shown messages of strangers; of a thread that shows none of them, one of its others. */
function readOf(strangers: readonly MessageAuthor[], shown: readonly MessageAuthor[]): MessageAuthor[] {
  const ids = new Set(shown.map(({ id }) => id))
  return [...Map.groupBy(strangers, ({ threadId }) => threadId).values()].flatMap((ofThread) => {
    const read = ofThread.filter(({ id }) => ids.has(id))
    return read.length > 0 ? read : ofThread.slice(0, 1)
  })
}

/** A reading is renewed after this, ms. */
const RENEWED_MS = TAINT_MS / 24
