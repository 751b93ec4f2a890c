// The messages in flight: which, how many per team, origin and lane, and which origins and lanes the poller skips for a while.

import { laneOf, type QueuedDelivery, type QueueExclusions } from '../queue.ts'

/** Messages in flight: enough to keep every carrier busy, and cheap to requeue after a crash. */
const IN_HAND_MAX = 2000
/** Per team, per origin, and per lane (one origin to one domain). */
const PER_TEAM = 1000
const PER_ORIGIN = 200
const PER_LANE = 60
/** Skipped origins and lanes; every query for due deliveries contains the lists. */
const REST_MAX = 1000

export class InFlight {
  readonly #mails = new Map<number, QueuedDelivery>()
  readonly #teams = new Map<string, number>()
  readonly #origins = new Map<string, number>()
  readonly #lanes = new Map<string, number>()
  /** Until when (ms) an origin is skipped. */
  readonly #resting = new Map<string, number>()
  /** Lanes skipped while their domain has a waiting list. Lane → domain. */
  readonly #crowded = new Map<string, string>()

  get isFull(): boolean {
    return this.#mails.size >= IN_HAND_MAX
  }

  /** When (ms) the first skipped origin ends its pause; null when none is skipped. */
  get soonest(): number | null {
    return this.#resting.size === 0 ? null : Math.min(...this.#resting.values())
  }

  /** Adds a message unless it is in flight already or a limit is reached. @returns true when added */
  take(waiting: QueuedDelivery): boolean {
    if (this.#mails.has(waiting.email) || !this.#hasRoom(waiting)) return false
    this.#mails.set(waiting.email, waiting)
    this.#count(waiting, 1)
    return true
  }

  letGo(email: number): void {
    const waiting = this.#mails.get(email)
    if (waiting === undefined) return
    this.#mails.delete(email)
    this.#count(waiting, -1)
  }

  /** Skips an origin until then (ms). @returns false when too many are skipped already */
  rest(origin: string, until: number): boolean {
    if (!this.#resting.has(origin) && this.#resting.size >= REST_MAX) return false
    this.#resting.set(origin, until)
    return true
  }

  /** Skips a lane while its domain has a waiting list. @returns false when too many are skipped already */
  passBy(lane: string, domain: string): boolean {
    if (!this.#crowded.has(lane) && this.#crowded.size >= REST_MAX) return false
    this.#crowded.set(lane, domain)
    return true
  }

  /** What the next query skips. @param hasLine whether a domain has a waiting list */
  passedOver(now: number, hasLine: (domain: string) => boolean): QueueExclusions {
    for (const [origin, until] of this.#resting) if (until <= now) this.#resting.delete(origin)
    for (const [lane, domain] of this.#crowded) if (!hasLine(domain)) this.#crowded.delete(lane)
    return {
      teams: namesOf(this.#teams, PER_TEAM),
      origins: [...this.#resting.keys(), ...namesOf(this.#origins, PER_ORIGIN)],
      lanes: [...this.#crowded.keys(), ...namesOf(this.#lanes, PER_LANE)],
    }
  }

  #hasRoom(waiting: QueuedDelivery): boolean {
    const { origin, teamId } = waiting
    if (this.isFull || this.#resting.has(origin) || this.#crowded.has(laneOf(waiting))) return false
    return (
      (this.#teams.get(teamId) ?? 0) < PER_TEAM &&
      (this.#origins.get(origin) ?? 0) < PER_ORIGIN &&
      (this.#lanes.get(laneOf(waiting)) ?? 0) < PER_LANE
    )
  }

  #count(waiting: QueuedDelivery, change: number): void {
    add(this.#teams, waiting.teamId, change)
    add(this.#origins, waiting.origin, change)
    add(this.#lanes, laneOf(waiting), change)
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
