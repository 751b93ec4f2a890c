// Which accounts work at a time: no team and no server has all of it, and who has less goes first.

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

interface SlotWaiter {
  holder: Holder
  go(): void
}

export class WorkSlots {
  #free = WORKING_MAX
  /** Slots held, by team and by server. */
  readonly #held = new Map<string, number>()
  #waiting: SlotWaiter[] = []

  /** Waits until an account may work. */
  async acquire(holder: Holder): Promise<void> {
    // Of those that wait none could take one: `release` has looked.
    if (this.#mayTake(holder)) return this.#take(holder)
    await new Promise<void>((go) => this.#waiting.push({ holder, go }))
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

  /** Whether an account keeps one of a team that would still have fewer slots than its own. */
  isUnfair(holder: Holder): boolean {
    const own = this.#of(holder)
    return this.#waiting.some((one) => this.#of(one.holder) + 1 < own && this.#hasShare(one.holder, holder))
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
