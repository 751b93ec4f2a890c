// The messages in flight: which, how many per team, origin and lane, and which origins and lanes the poller skips for a while.

import { laneOf, type QueuedDelivery, type QueueExclusions } from '../queue.ts'

/** Messages in flight: enough to keep every carrier busy, and cheap to requeue after a crash. */
const IN_FLIGHT_MAX = 2000
/** Per team, per origin, and per lane (one origin to one domain). */
const PER_TEAM = 1000
const PER_ORIGIN = 200
const PER_LANE = 60
/** Skipped origins and lanes; every query for due deliveries contains the lists. */
const SKIPPED_MAX = 1000

export class InFlight {
  readonly #messages = new Map<number, QueuedDelivery>()
  readonly #teams = new Map<string, number>()
  readonly #origins = new Map<string, number>()
  readonly #lanes = new Map<string, number>()
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

  /** Adds a message unless it is in flight already or a limit is reached. @returns true when added */
  add(delivery: QueuedDelivery): boolean {
    if (this.#messages.has(delivery.email) || !this.#hasRoom(delivery)) return false
    this.#messages.set(delivery.email, delivery)
    this.#count(delivery, 1)
    return true
  }

  remove(email: number): void {
    const delivery = this.#messages.get(email)
    if (delivery === undefined) return
    this.#messages.delete(email)
    this.#count(delivery, -1)
  }

  /** Skips an origin until then (ms). @returns false when too many are skipped already */
  skipOrigin(origin: string, until: number): boolean {
    if (!this.#skippedOrigins.has(origin) && this.#skippedOrigins.size >= SKIPPED_MAX) return false
    this.#skippedOrigins.set(origin, until)
    return true
  }

  /** Skips a lane while its domain has a waiting list. @returns false when too many are skipped already */
  skipLane(lane: string, domain: string): boolean {
    if (!this.#skippedLanes.has(lane) && this.#skippedLanes.size >= SKIPPED_MAX) return false
    this.#skippedLanes.set(lane, domain)
    return true
  }

  /** What the next query skips. @param hasWaiting whether a domain has a waiting list */
  exclusions(now: number, hasWaiting: (domain: string) => boolean): QueueExclusions {
    for (const [origin, until] of this.#skippedOrigins) if (until <= now) this.#skippedOrigins.delete(origin)
    for (const [lane, domain] of this.#skippedLanes) if (!hasWaiting(domain)) this.#skippedLanes.delete(lane)
    return {
      teams: namesOf(this.#teams, PER_TEAM),
      origins: [...this.#skippedOrigins.keys(), ...namesOf(this.#origins, PER_ORIGIN)],
      lanes: [...this.#skippedLanes.keys(), ...namesOf(this.#lanes, PER_LANE)],
    }
  }

  #hasRoom(delivery: QueuedDelivery): boolean {
    const { origin, teamId } = delivery
    if (this.isFull || this.#skippedOrigins.has(origin) || this.#skippedLanes.has(laneOf(delivery))) return false
    return (
      (this.#teams.get(teamId) ?? 0) < PER_TEAM &&
      (this.#origins.get(origin) ?? 0) < PER_ORIGIN &&
      (this.#lanes.get(laneOf(delivery)) ?? 0) < PER_LANE
    )
  }

  #count(delivery: QueuedDelivery, change: number): void {
    add(this.#teams, delivery.teamId, change)
    add(this.#origins, delivery.origin, change)
    add(this.#lanes, laneOf(delivery), change)
  }
}

function namesOf(counts: ReadonlyMap<string, number>, from: number): string[] {
  return [...counts].filter(([, count]) => count >= from).map(([name]) => name)
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
