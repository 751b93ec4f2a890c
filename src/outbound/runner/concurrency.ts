// Places at carriers: how many mails are handed over at a time, to each and in all, and how many bytes they are.

import { Semaphore } from '../../base/semaphore.ts'

/** Transfers at a time, and those of one team; to wait for the connection to a mail server of others is none. */
const IN_ALL = 200
const PER_TEAM = 100
const BYTES_IN_ALL = 48 * 1024 * 1024
/** To one sending account, to one domain of recipients, and into our own mailboxes. */
const PER_PROVIDER = 10
const PER_DOMAIN = 5
const LOCALLY = 8
/** So many in line at one carrier are enough: others go elsewhere or stay in the queue. */
const LINE_MAX = 10

/** What a place is at; `team` is who sends. */
export type Spot =
  | { kind: 'provider'; name: string; team: string }
  | { kind: 'domain'; name: string; team: string }
  | { kind: 'local'; name: ''; team: string }

const COUNTS = { provider: PER_PROVIDER, domain: PER_DOMAIN, local: LOCALLY }

export class Places {
  readonly #all = new Semaphore(IN_ALL)
  readonly #bytes = new Semaphore(BYTES_IN_ALL)
  /** Where nobody is there is nothing. */
  readonly #spots = new Map<string, Semaphore>()

  /** Waits for a place. @returns what leaves it */
  async take(spot: Spot): Promise<() => void> {
    const leaves = [await this.takeSpot(spot), await this.takeTransfer(spot.team)]
    return () => {
      for (const leave of leaves.toReversed()) leave()
    }
  }

  /** Waits for one of the places at the carrier alone: who has it may look for a connection. @returns what leaves it */
  takeSpot(spot: Spot): Promise<() => void> {
    return this.#takeOne(keyOf(spot), COUNTS[spot.kind])
  }

  /** Waits for one of the transfers of the team, and of all teams. @returns what ends it */
  async takeTransfer(team: string): Promise<() => void> {
    const leaves = [await this.#takeOne(`team ${team}`, PER_TEAM), await this.#all.acquire(1)]
    return () => {
      for (const leave of leaves.toReversed()) leave()
    }
  }

  /** Waits until so many bytes more may be in memory. @returns what lets go of them */
  takeBytes(count: number): Promise<() => void> {
    return this.#bytes.acquire(count)
  }

  /** True when nobody else should stand in line there. */
  isCrowded(spot: Spot): boolean {
    return (this.#spots.get(keyOf(spot))?.waiting ?? 0) >= LINE_MAX
  }

  /** True while somebody stands in line there. */
  hasLine(spot: Spot): boolean {
    return (this.#spots.get(keyOf(spot))?.waiting ?? 0) > 0
  }

  async #takeOne(key: string, count: number): Promise<() => void> {
    const ration = this.#spots.get(key) ?? new Semaphore(count)
    this.#spots.set(key, ration)
    const give = await ration.acquire(1)
    return () => {
      give()
      if (ration.isIdle) this.#spots.delete(key)
    }
  }
}

function keyOf({ kind, name }: Spot): string {
  return `${kind} ${name}`
}
