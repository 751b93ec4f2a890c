// Which messages a mailbox has forwarded to whom: against loops, and for the limit of a day.

import { DAY_MS } from '../../base/durations.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { Account } from '../rows/records.ts'

/** How long it is remembered, ms: longer than a message waits in the queues of a loop (RFC 5321 §4.5.4.1: 4 to 5 days). */
const REMEMBERED_MS = 7 * DAY_MS
/** Bytes of a digest: two are equal by chance once in 2^64 messages. */
const DIGEST_BYTES = 16

/** What identifies a message. */
interface MessageKey {
  /** Its Message-ID, or anything else that stays when it comes back. */
  messageId: string
  /** SHA-256 of its bytes as received. */
  content: Uint8Array
}

export class Forwarded {
  /** Forwarded copies of a mailbox since a time (ms). */
  countSince(reader: Reader, { n }: Pick<Account, 'n'>, since: number): number {
    const sql = 'SELECT count(*) AS count FROM forwarded WHERE account = ? AND forwarded_at > ?'
    return reader.get<{ count: number }>(sql, [n, since])!.count
  }

  /** Whether a message was forwarded to an address before: with the same bytes, it was received again, else it came back. */
  earlier(
    reader: Reader,
    { n }: Pick<Account, 'n'>,
    { messageId, content, address }: MessageKey & { address: string },
  ): 'same_content' | 'other_content' | null {
    const sql = 'SELECT content FROM forwarded WHERE account = ? AND digest = ?'
    const row = reader.get<{ content: Uint8Array }>(sql, [n, digestOf(messageId, address)])
    if (row === undefined) return null
    return shortened(content).equals(row.content) ? 'same_content' : 'other_content'
  }

  /**
   * Records in the unit of work that queues the message, and forgets what is old.
   * @param forwarded `at` in ms
   */
  record(
    tx: Tx,
    { n }: Pick<Account, 'n'>,
    { messageId, content, addresses, at }: MessageKey & { addresses: readonly string[]; at: number },
  ): void {
    this.forgetIn(tx, n, at)
    for (const address of addresses) {
      tx.run(
        'INSERT INTO forwarded (account, digest, content, forwarded_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        [n, digestOf(messageId, address), shortened(content), at],
      )
    }
  }

  /** The next account with rows; undefined behind the last one. */
  accountAfter(reader: Reader, account: number): number | undefined {
    return reader.get<{ account: number }>('SELECT account FROM forwarded WHERE account > ? ORDER BY account LIMIT 1', [
      account,
    ])?.account
  }

  /** Deletes what is no longer remembered, also where nothing is forwarded any more. @param account its number @param now ms */
  forgetIn(tx: Tx, account: number, now: number): number {
    return tx.run('DELETE FROM forwarded WHERE account = ? AND forwarded_at <= ?', [account, now - REMEMBERED_MS])
      .changes
  }

  /** Deletes the next rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    const sql =
      'DELETE FROM forwarded WHERE account = ? AND digest IN (SELECT digest FROM forwarded WHERE account = ? LIMIT ?)'
    return tx.run(sql, [n, n, limit]).changes
  }
}

function digestOf(messageId: string, address: string): Uint8Array {
  return shortened(sha256(`${messageId}\n${address.toLowerCase()}`))
}

function shortened(digest: Uint8Array): Buffer {
  return Buffer.from(digest.buffer, digest.byteOffset, DIGEST_BYTES)
}

/** Addresses that get what a mailbox or an alias receives. */
export interface ForwardingSetting {
  to: readonly string[]
  /** False: the mailbox gets no copy of its own, unless the message cannot be forwarded. */
  keepsCopy: boolean
}

/** What was forwarded of a message (outbound/receive/deliver-received.ts). */
export interface ForwardingRecord {
  /** `eml_…` of the forwarded message; null when nothing was queued. */
  emailId: string | null
  to: readonly string[]
  /** Addresses that got nothing, each with a sentence that says why. */
  refused: readonly { to: string; reason: string }[]
}

/** The same in the evidence of the inbound log. */
export interface ForwardingEvidence {
  message_id: string | null
  to: readonly string[]
  refused: readonly { to: string; reason: string }[]
}

export function forwardingEvidence(forwarding: ForwardingRecord | null): ForwardingEvidence | null {
  if (forwarding === null) return null
  const { emailId, to, refused } = forwarding
  return { message_id: emailId, to, refused }
}

/** Whether a copy left for other addresses, and none was kept. */
export function isForwardedOnly({ outcome, forwarding }: ForwardedCopy): boolean {
  return outcome === 'discarded' && forwarding !== null && forwarding.to.length > 0
}

interface ForwardedCopy {
  outcome: string
  forwarding: ForwardingRecord | null
}
