// Concurrency limits of hand-overs: per carrier, per team and in total, and the bytes of messages in memory.

import { Semaphore } from '../../base/semaphore.ts'

/** Concurrent transfers in total and per team; waiting for a connection to a remote mail server does not count. */
const IN_ALL = 200
const PER_TEAM = 100
const BYTES_IN_ALL = 48 * 1024 * 1024
/** Per sending account, per recipient domain, and for local delivery. */
const PER_PROVIDER = 10
const PER_DOMAIN = 5
const LOCALLY = 8
/** Longest waiting list of one carrier: further messages use another carrier or stay queued. */
const LINE_MAX = 10

/** The carrier that a limit applies to; `team` is the sending team. */
export type LimitKey =
  | { kind: 'provider'; name: string; team: string }
  | { kind: 'domain'; name: string; team: string }
  | { kind: 'local'; name: ''; team: string }

const COUNTS = { provider: PER_PROVIDER, domain: PER_DOMAIN, local: LOCALLY }

export class DeliveryLimits {
  readonly #all = new Semaphore(IN_ALL)
  readonly #bytes = new Semaphore(BYTES_IN_ALL)
  /** Only limits in use have an entry. */
  readonly #spots = new Map<string, Semaphore>()

  /** Acquires a slot at the carrier and a transfer. @returns a function that releases both */
  async take(spot: LimitKey): Promise<() => void> {
    const leaves = [await this.takeSpot(spot), await this.takeTransfer(spot.team)]
    return () => {
      for (const leave of leaves.toReversed()) leave()
    }
  }

  /** Acquires a slot at the carrier only, which allows opening a connection. @returns a function that releases it */
  takeSpot(spot: LimitKey): Promise<() => void> {
    return this.#takeOne(keyOf(spot), COUNTS[spot.kind])
  }

  /** Acquires one of the transfers of the team and of all teams. @returns a function that releases it */
  async takeTransfer(team: string): Promise<() => void> {
    const leaves = [await this.#takeOne(`team ${team}`, PER_TEAM), await this.#all.acquire(1)]
    return () => {
      for (const leave of leaves.toReversed()) leave()
    }
  }

  /** Waits until `count` more bytes fit in the memory limit. @returns a function that releases them */
  takeBytes(count: number): Promise<() => void> {
    return this.#bytes.acquire(count)
  }

  /** True when the waiting list of the carrier is full. */
  isCrowded(spot: LimitKey): boolean {
    return (this.#spots.get(keyOf(spot))?.waiting ?? 0) >= LINE_MAX
  }

  /** True while the waiting list of the carrier is not empty. */
  hasLine(spot: LimitKey): boolean {
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

function keyOf({ kind, name }: LimitKey): string {
  return `${kind} ${name}`
}
