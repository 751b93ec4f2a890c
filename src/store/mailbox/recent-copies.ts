// Duplicate detection: a message that is delivered again shortly after is not stored again.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'
import type { Account } from '../rows/records.ts'

/** A client that lost our reply sends the message again within the hour (RFC 5321 §4.5.4.1, RFC 1047). */
const REPEAT_WINDOW_MS = HOUR_MS
/** Longer than the queue retries any message (docs/design/sending.md §7: 48 h). */
const LOCAL_WINDOW_MS = 3 * DAY_MS
const PRUNE_EVERY_MS = MINUTE_MS

/** What identifies a message for duplicate detection. */
export interface DeliveryIdentity {
  inspection: { arrivedHash: Uint8Array }
  mailFrom: string
  /** `eml_…` of a message that this appliance sent. */
  emailId?: string
}

/** A copy that is about to be stored. */
export interface NewCopy {
  account: Pick<Account, 'n'>
  message: DeliveryIdentity
  /** `msg_…` */
  messageId: string
}

/**
 * A message received by SMTP is identified by its bytes and envelope sender. A message sent by this appliance is identified by its id:
 * each attempt signs it again, so that its bytes differ.
 */
export class RecentCopies {
  readonly #clock: Clock
  #prunedAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns the id of the copy that the account already has */
  find(tx: Tx, account: number, message: DeliveryIdentity): string | undefined {
    const now = this.#clock.now()
    const row =
      message.emailId === undefined
        ? tx.get<{ message_id: string }>(
            'SELECT message_id FROM recent_deliveries WHERE account = ? AND digest = ? AND delivered_at > ?',
            [account, digestOf(message), now - REPEAT_WINDOW_MS],
          )
        : tx.get<{ message_id: string }>('SELECT message_id FROM local_copies WHERE account = ? AND email_id = ?', [
            account,
            message.emailId,
          ])
    return row?.message_id
  }

  /**
   * Records copies, as part of the unit of work that stores them, unless their account has one already.
   * @returns the copies that are recorded; the others are repeated deliveries
   */
  record<C extends NewCopy>(tx: Tx, copies: readonly C[]): Set<C> {
    const [sent, received] = [
      copies.filter(({ message }) => message.emailId !== undefined),
      copies.filter(({ message }) => message.emailId === undefined),
    ]
    const now = this.#clock.now()
    const recorded = new Set<string>()
    const add = (rows: readonly { message_id: string }[]) => {
      for (const row of rows) recorded.add(row.message_id)
    }
    const receivedRows = received.map(({ account, message, messageId }) => [
      account.n,
      digestOf(message),
      messageId,
      now,
    ])
    inPieces(receivedRows, (marks, values) => {
      const sql = `INSERT INTO recent_deliveries (account, digest, message_id, delivered_at) VALUES ${marks}
        ON CONFLICT (account, digest) DO UPDATE SET message_id = excluded.message_id, delivered_at = excluded.delivered_at
          WHERE delivered_at <= ? RETURNING message_id`
      add(tx.all(sql, [...values, now - REPEAT_WINDOW_MS]))
    })
    const sentRows = sent.map(({ account, message, messageId }) => [account.n, message.emailId!, messageId, now])
    inPieces(sentRows, (marks, values) => {
      const sql = `INSERT INTO local_copies (account, email_id, message_id, delivered_at) VALUES ${marks}
        ON CONFLICT DO NOTHING RETURNING message_id`
      add(tx.all(sql, values))
    })
    return new Set(copies.filter(({ messageId }) => recorded.has(messageId)))
  }

  /** Deletes rows past their window, at most once a minute. */
  prune(tx: Tx): void {
    const now = this.#clock.now()
    if (now - this.#prunedAt < PRUNE_EVERY_MS) return
    this.#prunedAt = now
    tx.run('DELETE FROM recent_deliveries WHERE delivered_at <= ?', [now - REPEAT_WINDOW_MS])
    tx.run('DELETE FROM local_copies WHERE delivered_at <= ?', [now - LOCAL_WINDOW_MS])
  }

  /** Deletes up to `limit` rows of a deleted account. @returns how many */
  purgeIn(tx: Tx, account: number, limit: number): number {
    const recent = tx.run(
      `DELETE FROM recent_deliveries WHERE (account, digest) IN
         (SELECT account, digest FROM recent_deliveries WHERE account = ? LIMIT ?)`,
      [account, limit],
    )
    const local = tx.run(
      `DELETE FROM local_copies WHERE (account, email_id) IN
         (SELECT account, email_id FROM local_copies WHERE account = ? LIMIT ?)`,
      [account, limit - recent.changes],
    )
    return recent.changes + local.changes
  }
}

function digestOf({ inspection, mailFrom }: DeliveryIdentity): Uint8Array {
  return sha256(Buffer.concat([inspection.arrivedHash, Buffer.from(mailFrom.toLowerCase())]))
}
