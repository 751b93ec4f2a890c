// The messages in flight: which, how many per team, origin and lane, and which teams, origins and lanes the poller skips for a while.

import { laneOf, type QueuedDelivery, type QueueExclusions } from '../queue/queue.ts'
import type { ExcludedKeys, SkipKey } from '../queue/queue-cursor.ts'

/** Messages in flight: enough to keep every carrier busy, and cheap to requeue after a crash. */
const IN_FLIGHT_MAX = 2000
/** Per team, per origin, and per lane (one origin to one domain). */
const PER_TEAM = 1000
const PER_ORIGIN = 200
const PER_LANE = 60
/** Share of a limit to which it must have fallen before more messages are added: a claim of many costs little more than one of few. */
const REFILL_SHARE = 0.75
/** Skipped origins and lanes; every query for due deliveries contains the lists. */
const SKIPPED_MAX = 1000

/** Messages in flight by a name, and the names that have reached the limit and not yet fallen to {@link REFILL_SHARE} of it. */
class Counts {
  readonly #most: number
  readonly #counts = new Map<string, number>()
  readonly full = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  change(name: string, by: number): void {
    const count = (this.#counts.get(name) ?? 0) + by
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
    if (count >= this.#most) this.full.add(name)
    else if (count <= this.#most * REFILL_SHARE) this.full.delete(name)
  }
}

export class InFlight {
  readonly #messages = new Map<number, QueuedDelivery>()
  readonly #teams = new Counts(PER_TEAM)
  readonly #origins = new Counts(PER_ORIGIN)
  readonly #lanes = new Counts(PER_LANE)
  /** Until when (ms) an origin is skipped. */
  readonly #skippedOrigins = new Map<string, number>()
  /** Lanes skipped while their domain has a waiting list. Lane → domain. */
  readonly #skippedLanes = new Map<string, string>()

  get isFull(): boolean {
    return this.#messages.size >= IN_FLIGHT_MAX
  }

  /** When (ms) the first skipped origin ends its pause; null when none is skipped. */
  get nextOriginAt(): number | null {
    return this.#skippedOrigins.size === 0 ? null : Math.min(...this.#skippedOrigins.values())
  }

  /** Adds a message that is not kept out by {@link refusal}. */
  add(delivery: QueuedDelivery): void {
    this.#messages.set(delivery.email, delivery)
    this.#count(delivery, 1)
  }

  remove(email: number): void {
    const delivery = this.#messages.get(email)
    if (delivery === undefined) return
    this.#messages.delete(email)
    this.#count(delivery, -1)
  }

  /** @returns what keeps the message of a delivery from being added; null when nothing does */
  refusal(delivery: QueuedDelivery): SkipKey | null {
    const { email, origin, teamId } = delivery
    if (this.#messages.has(email)) return email
    const lane = laneOf(delivery)
    if (this.#skippedOrigins.has(origin) || this.#origins.full.has(origin)) return keyOf('origin', origin)
    if (this.#skippedLanes.has(lane) || this.#lanes.full.has(lane)) return keyOf('lane', lane)
    return this.#teams.full.has(teamId) ? keyOf('team', teamId) : null
  }

  /** Skips the origin of a delivery until then (ms). @returns its key; null when too many are skipped already */
  skipOrigin({ origin }: QueuedDelivery, until: number): SkipKey | null {
    if (!this.#skippedOrigins.has(origin) && this.#skippedOrigins.size >= SKIPPED_MAX) return null
    this.#skippedOrigins.set(origin, until)
    return keyOf('origin', origin)
  }

  /** Skips the lane of a delivery while its domain has a waiting list. @returns its key; null when too many are skipped already */
  skipLane(delivery: QueuedDelivery): SkipKey | null {
    const lane = laneOf(delivery)
    if (!this.#skippedLanes.has(lane) && this.#skippedLanes.size >= SKIPPED_MAX) return null
    this.#skippedLanes.set(lane, delivery.lane)
    return keyOf('lane', lane)
  }

  /** What the next query skips. @param hasWaiting whether a domain has a waiting list */
  exclusions(now: number, hasWaiting: (domain: string) => boolean): QueueExclusions {
    for (const [origin, until] of this.#skippedOrigins) if (until <= now) this.#skippedOrigins.delete(origin)
    for (const [lane, domain] of this.#skippedLanes) if (!hasWaiting(domain)) this.#skippedLanes.delete(lane)
    return {
      teams: [...this.#teams.full],
      origins: [...new Set([...this.#skippedOrigins.keys(), ...this.#origins.full])],
      lanes: [...new Set([...this.#skippedLanes.keys(), ...this.#lanes.full])],
    }
  }

  /** The keys of what a query skips. */
  excludedBy({ teams, origins, lanes }: QueueExclusions): ExcludedKeys {
    const names = new Set<SkipKey>([
      ...teams.map((name) => keyOf('team', name)),
      ...origins.map((name) => keyOf('origin', name)),
      ...lanes.map((name) => keyOf('lane', name)),
    ])
    return { names, has: (key) => (typeof key === 'number' ? this.#messages.has(key) : names.has(key)) }
  }

  #count(delivery: QueuedDelivery, change: number): void {
    this.#teams.change(delivery.teamId, change)
    this.#origins.change(delivery.origin, change)
    this.#lanes.change(laneOf(delivery), change)
  }
}

function keyOf(kind: 'team' | 'origin' | 'lane', name: string): SkipKey {
  return `${kind} ${name}`
}
