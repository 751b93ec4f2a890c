// Queued messages for the operator: list, retry now, drop.

import { DAY_MS } from '../../base/durations.ts'
import { notFound } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import type { Page } from '../../db/page.ts'
import type { Emails } from '../log/emails.ts'
import type { KeptContents } from '../log/kept-contents.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { AHEAD_MAX_MS, LIFETIME_MS } from '../model/limits.ts'
import type { Delivery, Email, RejectionReason } from '../model/records.ts'
import type { DeliveryTransitions } from './delivery-transitions.ts'
import type { Queue, QueueFilter, QueueRow } from './queue.ts'

/** A queued delivery with its message, its recipient and what was tried so far. */
export interface QueuedMessage {
  row: QueueRow
  email: Email
  delivery: Delivery
}

interface Deps extends OutboundDeps {
  queue: Queue
  emails: Pick<Emails, 'byN' | 'byId' | 'deliveriesByN' | 'deliveriesOf' | 'pendingOf' | 'limitExpiry'>
  transitions: Pick<DeliveryTransitions, 'apply'>
  keptContents: Pick<KeptContents, 'releaseOf'>
}

/** Messages queued while the clock was wrong expire no earlier than this after its correction, ms. */
const GRACE_MS = DAY_MS
const REDATED_AT_ONCE = 200
const DRAINED_AT_ONCE = 100
/** Batches canceled while a request to delete a mailbox waits. */
const DRAINED_PIECES = 10

export class QueuedMessages {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Ordered by due time. */
  async list(filter: QueueFilter): Promise<Page<QueuedMessage>> {
    const { queue, emails } = this.#deps
    const page = await queue.list(filter)
    const known = new Map(
      emails.byN([...new Set(page.items.map(({ email }) => email))]).map((email) => [email.n, email]),
    )
    const deliveries = new Map(emails.deliveriesByN(page.items.map((row) => row.delivery)).map((one) => [one.n, one]))
    const items = page.items.flatMap((row) => {
      const [email, delivery] = [known.get(row.email), deliveries.get(row.delivery)]
      return email && delivery ? [{ row, email, delivery }] : []
    })
    return { items, next: page.next }
  }

  /** Retries a message now. @param id `eml_…` @returns the number of deliveries @throws ProductError not_found */
  async retry(id: string): Promise<number> {
    const { db, clock, queue, notifier } = this.#deps
    const email = this.#open(id)
    return db.write((tx) => {
      tx.afterCommit(() => notifier.notify('deliver'))
      return queue.retryNow(tx, email.n, clock.now())
    })
  }

  /** Cancels the pending deliveries of a message. @returns the number of deliveries @throws ProductError not_found */
  async drop(id: string): Promise<number> {
    const { db, emails, transitions } = this.#deps
    const email = this.#open(id)
    const pending = emails.deliveriesOf(email.n).filter(({ status }) => status === 'pending')
    return db.write((tx) => {
      let dropped = 0
      for (const { n } of pending) if (transitions.apply(tx, n, { kind: 'cancelled' }, null)) dropped++
      return dropped
    })
  }

  /** Rejects all pending deliveries of a mailbox in a unit of work. @returns the number of deliveries */
  reject(tx: Tx, mailboxId: string, reason: RejectionReason, detail: string): number {
    const { emails, transitions } = this.#deps
    const waiting = emails.pendingOf(tx, mailboxId)
    for (const n of waiting) transitions.apply(tx, n, { kind: 'rejected', reason, detail }, null)
    return waiting.length
  }

  /**
   * Cancels a batch of the pending deliveries of a deleted mailbox, and releases what was kept of its failed messages.
   * @returns the number of deliveries; 0 when none is pending
   */
  async drain(mailboxId: string): Promise<number> {
    const { db, emails, transitions, keptContents } = this.#deps
    return db.write((tx) => {
      keptContents.releaseOf(tx, mailboxId)
      const waiting = emails.pendingOf(tx, mailboxId, DRAINED_AT_ONCE)
      let dropped = 0
      for (const n of waiting) if (transitions.apply(tx, n, { kind: 'cancelled' }, null)) dropped++
      return dropped
    })
  }

  /** Cancels the pending deliveries of a deleted mailbox (docs/design/directory.md §6.3); beyond the batch limit, each is canceled when due. */
  async cancelOf(mailboxId: string): Promise<void> {
    for (let piece = 0; piece < DRAINED_PIECES; piece++) if ((await this.drain(mailboxId)) === 0) return
  }

  /**
   * Corrects the times of queued messages after the clock was wrong: none expires within the next day, and none waits for a time
   * that the wrong clock set.
   */
  async redate(): Promise<void> {
    const { db, clock, queue, emails, notifier } = this.#deps
    const now = clock.now()
    const limits = { earliest: now + GRACE_MS, latest: now + AHEAD_MAX_MS + LIFETIME_MS, instead: now + LIFETIME_MS }
    for (let after = 0; ; ) {
      const ns = await db.write((tx) => {
        const page = queue.emailsAfter(tx, after, REDATED_AT_ONCE)
        queue.pullBack(tx, emails.limitExpiry(tx, page, limits), now)
        return page
      })
      if (ns.length < REDATED_AT_ONCE) break
      after = ns.at(-1)!
    }
    notifier.notify('deliver')
  }

  #open(id: string): Email {
    const email = this.#deps.emails.byId(id)
    if (email === undefined || email.hash === null) throw notFound('queued message')
    return email
  }
}
