// Content of messages whose delivery failed, kept for some days after its last use so that they can be resent.

import type { Db, Reader, Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { NamedContent } from '../../store/content/blobs.ts'
import type { OutboundDeps } from '../model/deps.ts'

/** The content of a larger message is not kept, bytes. */
const KEPT_BYTES_MAX = 10 * 1024 * 1024
const RELEASED_AT_ONCE = 500
/** Content kept of a team: its bytes and messages; beyond one of them the oldest is released. */
export const KEPT_OF_TEAM_BYTES = 512 * 1024 * 1024
export const KEPT_OF_TEAM_MAX = 10_000
/** What is left then, so that not every failure releases something. */
const LEFT = 0.9

/**
 * Keeps the content of messages until a time (ms), in the unit of work in which their delivery fails. What a team keeps is bounded: a list
 * of wrong addresses must not fill the disk.
 */
export function keepContents(tx: Tx, emailNs: readonly number[], until: number): void {
  if (emailNs.length === 0) return
  const kept = tx.all<{ team_id: string }>(
    `INSERT INTO kept_contents (email, mailbox_id, blob, until, team_id, size_bytes)
     SELECT n, mailbox_id, blob, ?, team_id, size_bytes FROM emails
     WHERE n IN (SELECT value FROM json_each(?)) AND blob IS NOT NULL AND size_bytes <= ?
     ON CONFLICT (email) DO UPDATE SET until = excluded.until RETURNING team_id`,
    [until, JSON.stringify(emailNs), KEPT_BYTES_MAX],
  )
  for (const teamId of new Set(kept.map(({ team_id: id }) => id))) releaseOldest(tx, teamId)
}

/** Releases what a team keeps beyond its bounds, the oldest first. */
function releaseOldest(tx: Tx, teamId: string): void {
  const sql = 'SELECT count(*) AS count, total(size_bytes) AS bytes FROM kept_contents WHERE team_id = ?'
  const sum = tx.get<{ count: number; bytes: number }>(sql, [teamId])!
  if (sum.count <= KEPT_OF_TEAM_MAX && sum.bytes <= KEPT_OF_TEAM_BYTES) return
  // The newest first: those behind the row at which a bound is passed are released with it.
  tx.run(
    `DELETE FROM kept_contents WHERE email IN (
       SELECT email FROM (
         SELECT email, row_number() OVER newest AS place, sum(size_bytes) OVER newest AS bytes
         FROM kept_contents WHERE team_id = ? WINDOW newest AS (ORDER BY until DESC, email DESC)
       ) WHERE place > ? OR bytes > ?)`,
    [teamId, KEPT_OF_TEAM_MAX * LEFT, KEPT_OF_TEAM_BYTES * LEFT],
  )
}

export class KeptContents {
  readonly #db: Db

  constructor({ db }: Pick<OutboundDeps, 'db'>) {
    this.#db = db
  }

  /** The hash of the kept content of a message; null when it is not kept. */
  hashOf(email: number, reader: Reader = this.#db.read): Uint8Array | null {
    const sql = 'SELECT blob FROM kept_contents WHERE email = ?'
    return reader.get<{ blob: Uint8Array }>(sql, [email])?.blob ?? null
  }

  /** Filters the hashes to those of kept contents, in hexadecimal. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM kept_contents WHERE blob IN (${placeholders(hashes)})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }

  /** Releases content that has expired. @param now ms @returns the number of messages */
  async release(now: number): Promise<number> {
    let released = 0
    for (;;) {
      const { changes } = await this.#db.write((tx) =>
        tx.run('DELETE FROM kept_contents WHERE email IN (SELECT email FROM kept_contents WHERE until < ? LIMIT ?)', [
          now,
          RELEASED_AT_ONCE,
        ]),
      )
      released += changes
      if (changes < RELEASED_AT_ONCE) return released
    }
  }

  /** The same for all messages of a deleted mailbox. */
  releaseOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM kept_contents WHERE mailbox_id = ?', [mailboxId])
  }
}

/** The next kept contents after key `after` (0 at first), at most `limit`. */
export function keptContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT email AS n, blob AS hash FROM kept_contents WHERE email > ? ORDER BY email LIMIT ?', [
    after,
    limit,
  ])
}

/** Changes the number of deliveries that need the content of a message; at 0 the content is released. */
export function countOpen(tx: Tx, emailN: number, change: number): void {
  countOpenOf(tx, new Map([[emailN, change]]))
}

/** The same for several messages. @param changes by key of the message */
export function countOpenOf(tx: Tx, changes: ReadonlyMap<number, number>): void {
  inPieces([...changes], (marks, values) =>
    tx.run(
      `WITH change (email, by) AS (VALUES ${marks})
       UPDATE emails SET open_deliveries = open_deliveries + by,
         blob = CASE WHEN open_deliveries + by > 0 THEN blob ELSE NULL END
       FROM change WHERE emails.n = change.email`,
      values,
    ),
  )
}
