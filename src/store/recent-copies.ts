// Which messages a mailbox was given lately: what is delivered a second time is not stored a second time.

import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'

/** Decisions §10 and pitfalls "Receiving": a peer that lost our answer sends again within the hour. */
const REPEAT_WINDOW_MS = 60 * 60 * 1000
/** Longer than any message waits for its last attempt (decisions §6.2: 48 h). */
const LOCAL_WINDOW_MS = 3 * 24 * 60 * 60 * 1000
const PRUNE_EVERY_MS = 60 * 1000

/** A message as far as one delivery of it can be told from another. */
export interface Repeatable {
  inspection: { arrivedHash: Uint8Array }
  mailFrom: string
  /** `eml_…` of a message that was sent from here. */
  emailId?: string
}

/**
 * A message from outside is known by its bytes and its envelope sender. One that was sent from here is known by its id: it is signed
 * anew for each attempt, so that its bytes differ.
 */
export class RecentCopies {
  readonly #clock: Clock
  #prunedAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns the id of the copy the account has already */
  async find(tx: Tx, account: number, message: Repeatable): Promise<string | undefined> {
    const now = this.#clock.now()
    const row = await (message.emailId === undefined
      ? tx.get<{ message_id: string }>(
          'SELECT message_id FROM recent_deliveries WHERE account = ? AND digest = ? AND delivered_at > ?',
          [account, digestOf(message), now - REPEAT_WINDOW_MS],
        )
      : tx.get<{ message_id: string }>('SELECT message_id FROM local_copies WHERE account = ? AND email_id = ?', [
          account,
          message.emailId,
        ]))
    return row?.message_id
  }

  /** As part of the unit of work that stores the copy. */
  async remember(tx: Tx, account: number, message: Repeatable, messageId: string): Promise<void> {
    const now = this.#clock.now()
    if (message.emailId !== undefined) {
      const values = [account, message.emailId, messageId, now]
      await tx.run('INSERT INTO local_copies (account, email_id, message_id, delivered_at) VALUES (?, ?, ?, ?)', values)
      return
    }
    await tx.run(
      `INSERT INTO recent_deliveries (account, digest, message_id, delivered_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (account, digest) DO UPDATE SET message_id = excluded.message_id, delivered_at = excluded.delivered_at`,
      [account, digestOf(message), messageId, now],
    )
  }

  /** Forgets what is too old to come again, at most once a minute. */
  async prune(tx: Tx): Promise<void> {
    const now = this.#clock.now()
    if (now - this.#prunedAt < PRUNE_EVERY_MS) return
    this.#prunedAt = now
    await tx.run('DELETE FROM recent_deliveries WHERE delivered_at <= ?', [now - REPEAT_WINDOW_MS])
    await tx.run('DELETE FROM local_copies WHERE delivered_at <= ?', [now - LOCAL_WINDOW_MS])
  }

  /** Erases up to `limit` rows of an account that ends. @returns how many */
  async purgeIn(tx: Tx, account: number, limit: number): Promise<number> {
    const recent = await tx.run(
      `DELETE FROM recent_deliveries WHERE (account, digest) IN
         (SELECT account, digest FROM recent_deliveries WHERE account = ? LIMIT ?)`,
      [account, limit],
    )
    const local = await tx.run(
      `DELETE FROM local_copies WHERE (account, email_id) IN
         (SELECT account, email_id FROM local_copies WHERE account = ? LIMIT ?)`,
      [account, limit - recent.changes],
    )
    return recent.changes + local.changes
  }
}

function digestOf({ inspection, mailFrom }: Repeatable): Uint8Array {
  return sha256(Buffer.concat([inspection.arrivedHash, Buffer.from(mailFrom.toLowerCase())]))
}
