// What each source has done lately, across its sessions: one that mostly guesses addresses or sends refused mail is slowed down, then put off.

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

/** A recipient nobody has here, a message refused for what it is, a command that is none. */
export type Offence = 'unknown_recipient' | 'refused_message' | 'protocol_error'

interface SourceRecord {
  /** Offences less credit for accepted messages, as of `at`; it halves every half-life. */
  score: number
  at: number
}

/**
 * Counts per source (IPv4 address, IPv6 /64). Accepted messages make up for offences, so a shared relay that mostly sends good
 * mail is never slowed down. Addresses that are not public are not counted: behind one stands a proxy or NAT of the operator,
 * and so everybody at once. The sources heard of least recently are forgotten first.
 */
export class SourceThrottle {
  readonly #clock: Clock
  readonly #log: Log
  readonly #records = new Map<string, SourceRecord>()

  constructor(parts: { clock: Clock; log: Log }) {
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** Sources that are remembered. */
  get size(): number {
    return this.#records.size
  }

  offended(address: string, offence: Offence): void {
    const score = this.#add(address, 1)
    if (score < OFFENCE_BLOCK || score - 1 >= OFFENCE_BLOCK) return
    this.#log.info(
      { event: 'smtp.source_blocked', remote_address: address, offence },
      'Source put off for its refused mail',
    )
  }

  /** A message was accepted, and not as junk. */
  accepted(address: string): void {
    this.#add(address, -ACCEPTED_CREDIT)
  }

  /** @returns ms to wait before a command of this source is carried out; null when it is to come again later */
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
