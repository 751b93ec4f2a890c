// What the runner has in hand: which mails, how many of whom, and whose mail is to be left in the queue for a while.

import type { PassedOver, Waiting } from '../queue.ts'

/** Mails known at a time, of one team, and of one origin: enough to keep every carrier busy, little enough to be forgotten. */
const IN_HAND_MAX = 1000
const PER_TEAM = 500
const PER_ORIGIN = 200
/** Origins and lanes that are passed over; the lists go along with every question to the queue. */
const REST_MAX = 1000

export class Hand {
  readonly #mails = new Map<number, { origin: string; team: string }>()
  readonly #origins = new Map<string, number>()
  readonly #teams = new Map<string, number>()
  /** Until when (ms) an origin is left alone. */
  readonly #resting = new Map<string, number>()
  /** Lanes that are left alone while their domain is crowded. */
  readonly #crowded = new Map<string, string>()

  get size(): number {
    return this.#mails.size
  }

  /** Takes a mail unless it is there already or there are too many of its kind. */
  take({ email, origin, teamId }: Waiting): boolean {
    if (this.#mails.has(email) || !this.#hasRoom(origin, teamId)) return false
    this.#mails.set(email, { origin, team: teamId })
    count(this.#origins, origin, 1)
    count(this.#teams, teamId, 1)
    return true
  }

  letGo(email: number): void {
    const mail = this.#mails.get(email)
    if (mail === undefined) return
    this.#mails.delete(email)
    count(this.#origins, mail.origin, -1)
    count(this.#teams, mail.team, -1)
  }

  /** Leaves an origin alone until then (ms). @returns false when too many are left alone already */
  rest(origin: string, until: number): boolean {
    if (!this.#resting.has(origin) && this.#resting.size >= REST_MAX) return false
    this.#resting.set(origin, until)
    return true
  }

  /** Leaves a lane alone until its domain is crowded no more. @returns false when too many are left alone already */
  passBy(lane: string, domain: string): boolean {
    if (!this.#crowded.has(lane) && this.#crowded.size >= REST_MAX) return false
    this.#crowded.set(lane, domain)
    return true
  }

  /** What is not asked for now. @param isCrowded whether a domain still is */
  passedOver(now: number, isCrowded: (domain: string) => boolean): PassedOver {
    for (const [origin, until] of this.#resting) if (until <= now) this.#resting.delete(origin)
    for (const [lane, domain] of this.#crowded) if (!isCrowded(domain)) this.#crowded.delete(lane)
    const full = (counts: Map<string, number>, most: number) =>
      [...counts].filter(([, many]) => many >= most).map(([name]) => name)
    return {
      teams: full(this.#teams, PER_TEAM),
      origins: [...this.#resting.keys(), ...full(this.#origins, PER_ORIGIN)],
      lanes: [...this.#crowded.keys()],
    }
  }

  #hasRoom(origin: string, team: string): boolean {
    if (this.#resting.has(origin) || this.#mails.size >= IN_HAND_MAX) return false
    return (this.#origins.get(origin) ?? 0) < PER_ORIGIN && (this.#teams.get(team) ?? 0) < PER_TEAM
  }
}

function count(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
