// Throttles sources (IPv4 address or IPv6 /64) that mostly guess addresses or send refused mail: first delayed, then blocked.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { isPublicAddress } from '../base/public-address.ts'
import { sourceOf } from '../net/connections.ts'
import {
  ACCEPTED_CREDIT,
  MAX_THROTTLED_SOURCES,
  OFFENCE_BLOCK,
  OFFENCE_FREE,
  OFFENCE_HALF_LIFE_MS,
  OFFENCE_LIMIT,
  THROTTLE_MS,
} from '../smtp/limits.ts'

/** An unknown recipient, a message refused for its content, a command that violates the protocol. */
export type Offence = 'unknown_recipient' | 'refused_message' | 'protocol_error'

export interface SourceRecord {
  /** Offences less credit for accepted messages, as of `at`; it halves every half-life. */
  score: number
  at: number
}

/**
 * Counts per source (IPv4 address, IPv6 /64). Accepted messages offset offences, so a shared relay that mostly sends good
 * mail is never delayed. Private addresses are not counted: such an address is a proxy or NAT of the operator, shared by all
 * clients. The least recently active sources are removed first.
 */
export class SourceThrottle {
  readonly #clock: Clock
  readonly #log: Pick<Log, 'info'> | null
  readonly #records: Map<string, SourceRecord>

  /**
   * @param deps.log null for a copy in another thread, whose original logs
   * @param deps.records what the original had when the copy was made
   */
  constructor(deps: { clock: Clock; log: Pick<Log, 'info'> | null; records?: ReadonlyMap<string, SourceRecord> }) {
    this.#clock = deps.clock
    this.#log = deps.log
    this.#records = new Map(deps.records)
  }

  /** A copy of all records. */
  get records(): Map<string, SourceRecord> {
    return new Map(this.#records)
  }

  /** Number of sources with a record. */
  get size(): number {
    return this.#records.size
  }

  offended(address: string, offence: Offence): void {
    const score = this.#add(address, 1)
    if (score < OFFENCE_BLOCK || score - 1 >= OFFENCE_BLOCK) return
    this.#log?.info(
      { event: 'smtp.source_blocked', remote_address: address, offence },
      'Source blocked for its refused mail',
    )
  }

  /** A message was accepted, and not as junk. */
  accepted(address: string): void {
    this.#add(address, -ACCEPTED_CREDIT)
  }

  /** @returns ms to wait before a command from this source runs; null when the source is blocked */
  delay(address: string): number | null {
    const record = this.#records.get(sourceOf(address))
    const score = record === undefined ? 0 : this.#scoreNow(record)
    if (score >= OFFENCE_BLOCK) return null
    if (score <= OFFENCE_FREE) return 0
    return Math.ceil((THROTTLE_MS * (score - OFFENCE_FREE)) / (OFFENCE_BLOCK - OFFENCE_FREE))
  }

  #add(address: string, points: number): number {
    if (!isPublicAddress(address)) return 0
    const source = sourceOf(address)
    const record = this.#records.get(source)
    const before = record === undefined ? 0 : this.#scoreNow(record)
    const score = Math.max(-OFFENCE_LIMIT, Math.min(OFFENCE_LIMIT, before + points))
    this.#records.delete(source)
    this.#records.set(source, { score, at: this.#clock.now() })
    if (this.#records.size > MAX_THROTTLED_SOURCES) this.#records.delete(this.#records.keys().next().value!)
    return score
  }

  #scoreNow({ score, at }: SourceRecord): number {
    return score * 0.5 ** (Math.max(0, this.#clock.now() - at) / OFFENCE_HALF_LIFE_MS)
  }
}
