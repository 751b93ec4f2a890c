// Which accounts work at a time: no team and no server has all of it, and who has less goes first.

import type { Clock } from '../../base/clock.ts'

/** Who holds something: a team, and the server of its account where it is known. */
export interface Holder {
  teamId: string
  server?: string
}

/** Accounts that work at a time, in all and of one team, or at one server; the others wait for their turn. */
const WORKING_MAX = 8
const SHARE_MAX = 6
/** Kept for a team that has none. */
const KEPT = 1
/**
 * For how long an account works before it gives way to a team that has none, and for how long that one has waited then, ms: a slot is not
 * passed on at each part of the work, and one that waits takes one slot and not those of all that have worked for long.
 */
export const TURN_MS = 5_000

interface SlotWaiter {
  holder: Holder
  /** As the clock counts. */
  since: number
  go(): void
}

export class WorkSlots {
  readonly #clock: Pick<Clock, 'monotonic'>
  #free = WORKING_MAX
  /** Slots held, by team and by server. */
  readonly #held = new Map<string, number>()
  #waiting: SlotWaiter[] = []

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Waits until an account may work. @returns when it began, as the clock counts */
  async acquire(holder: Holder): Promise<number> {
    const since = this.#clock.monotonic()
    // Of those that wait none could take one: `release` has looked.
    if (this.#mayTake(holder)) this.#take(holder)
    else await new Promise<void>((go) => this.#waiting.push({ holder, since, go }))
    return this.#clock.monotonic()
  }

  release(holder: Holder): void {
    this.#count(holder, -1)
    this.#free++
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting = this.#waiting.filter((one) => one !== next)
      this.#take(next.holder)
      next.go()
    }
  }

  /**
   * Whether an account keeps one of a team that would still have fewer slots than its own, or has none for long: all slots may be held by
   * teams with one each.
   * @param began when it took its slot
   */
  isUnfair(holder: Holder, began: number): boolean {
    const own = this.#of(holder)
    const last = this.#clock.monotonic() - TURN_MS
    return this.#waiting.some((one) => {
      const slots = this.#of(one.holder)
      const hasLess = slots + 1 < own || (slots === 0 && began <= last && one.since <= last)
      return hasLess && this.#hasShare(one.holder, holder)
    })
  }

  /** The first of the teams that have the fewest slots. */
  #next(): SlotWaiter | undefined {
    const able = this.#waiting.filter(({ holder }) => this.#mayTake(holder))
    const fewest = Math.min(...able.map(({ holder }) => this.#of(holder)))
    return able.find(({ holder }) => this.#of(holder) === fewest)
  }

  #mayTake(holder: Holder): boolean {
    return this.#free > (this.#of(holder) === 0 ? 0 : KEPT) && this.#hasShare(holder)
  }

  /** @param without an account whose slot is not counted */
  #hasShare(holder: Holder, without?: Holder): boolean {
    const left = without === undefined ? [] : namesOf(without)
    return namesOf(holder).every((name) => (this.#held.get(name) ?? 0) - (left.includes(name) ? 1 : 0) < SHARE_MAX)
  }

  #take(holder: Holder): void {
    this.#count(holder, 1)
    this.#free--
  }

  #of({ teamId }: Holder): number {
    return this.#held.get(teamName(teamId)) ?? 0
  }

  #count(holder: Holder, by: number): void {
    for (const name of namesOf(holder)) {
      const count = (this.#held.get(name) ?? 0) + by
      if (count === 0) this.#held.delete(name)
      else this.#held.set(name, count)
    }
  }
}

function namesOf({ teamId, server }: Holder): string[] {
  return [teamName(teamId), ...(server === undefined ? [] : [`server ${server}`])]
}

function teamName(teamId: string): string {
  return `team ${teamId}`
}
