// Addresses at which messages arrived by a pattern, and how many new ones a source and a domain may bring: else guessing fills a mailbox.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'

/** Addresses never seen before, of one source in an hour. */
export const NEW_PER_SOURCE = 20
/** The same of one domain in a day. */
export const NEW_PER_DOMAIN = 300
/** The same in one transaction. */
export const NEW_PER_TRANSACTION = 5
/** Sources and domains that are counted; the least recently active are forgotten. */
const COUNTED_MAX = 10_000

interface Count {
  /** Start of the window, ms. */
  from: number
  emails: Set<string>
}

export class PatternAddresses {
  readonly #deps: { db: Db; clock: Clock }
  readonly #sources = new Map<string, Count>()
  readonly #domains = new Map<string, Count>()

  constructor(deps: { db: Db; clock: Clock }) {
    this.#deps = deps
  }

  /** Whether a message has arrived at an address, or the mailbox has named it as one it writes as. @param email lower-case */
  has(reader: Reader, domainId: string, email: string): boolean {
    const sql = 'SELECT 1 AS found FROM pattern_addresses WHERE domain_id = ? AND email = ?'
    return reader.get(sql, [domainId, email]) !== undefined
  }

  /**
   * Whether an address may be accepted now, and counts it if it was never seen before. An address that was refused is not counted.
   * @param source the network of a client, or the id of a mailbox that names the address as its own
   */
  admit(domainId: string, email: string, source: string): boolean {
    const { db, clock } = this.#deps
    if (this.has(db.read, domainId, email)) return true
    const now = clock.now()
    const ofSource = this.#count(this.#sources, `${source} ${domainId}`, now, HOUR_MS)
    const ofDomain = this.#count(this.#domains, domainId, now, DAY_MS)
    if (ofSource.emails.has(email) && ofDomain.emails.has(email)) return true
    const stored = this.#storedSince(domainId, now - DAY_MS)
    const isOver = ofSource.emails.size >= NEW_PER_SOURCE || Math.max(ofDomain.emails.size, stored) >= NEW_PER_DOMAIN
    if (isOver) return false
    ofSource.emails.add(email)
    ofDomain.emails.add(email)
    return true
  }

  /** Remembers an address, in the unit of work that stores a message to it. */
  noteIn(tx: Tx, domainId: string, email: string): void {
    tx.run('INSERT INTO pattern_addresses (domain_id, email, first_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
      domainId,
      email,
      this.#deps.clock.now(),
    ])
  }

  #storedSince(domainId: string, from: number): number {
    const sql =
      'SELECT count(*) AS count FROM (SELECT 1 FROM pattern_addresses WHERE domain_id = ? AND first_at > ? LIMIT ?)'
    return this.#deps.db.read.get<{ count: number }>(sql, [domainId, from, NEW_PER_DOMAIN])!.count
  }

  #count(counts: Map<string, Count>, of: string, now: number, windowMs: number): Count {
    const last = counts.get(of)
    counts.delete(of)
    const isCurrent = last !== undefined && now >= last.from && now < last.from + windowMs
    const count = isCurrent ? last : { from: now, emails: new Set<string>() }
    counts.set(of, count)
    if (counts.size > COUNTED_MAX) counts.delete(counts.keys().next().value!)
    return count
  }
}

/** Deletes the addresses of a domain, in the unit of work that deletes the domain. */
export function dropPatternAddressesOf(tx: Tx, domainId: string): void {
  tx.run('DELETE FROM pattern_addresses WHERE domain_id = ?', [domainId])
}
