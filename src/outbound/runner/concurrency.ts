// Concurrency limits of hand-overs: per carrier, per team and in total, and the bytes of messages in memory.

import { shareBytes } from '../../base/machine-memory.ts'
import { LARGE_FROM_BYTES } from '../../base/memory-shares.ts'
import { Semaphore } from '../../base/semaphore.ts'

const MIB = 1024 * 1024

/** Concurrent transfers in total and per team; waiting for a connection to a remote mail server does not count. */
const TRANSFERS_MAX = 200
const PER_TEAM = 100
/**
 * Bytes of messages in memory: in total, and of one team, so that its slow transfers leave room for those of others. On a small machine one
 * large message at a time; small ones do not wait for it.
 */
const LARGE_TOTAL = shareBytes({ share: 0.1, least: 24 * MIB, most: 48 * MIB })
const BYTES = {
  small: { total: 16 * MIB, team: 8 * MIB },
  large: { total: LARGE_TOTAL, team: Math.min(LARGE_TOTAL, 24 * MIB) },
}
/** Per sending account, per recipient domain, and for local delivery. */
const PER_PROVIDER = 10
const PER_DOMAIN = 5
const LOCAL_MAX = 8
/** Longest waiting list of one carrier: further messages use another carrier or stay queued. */
const WAITING_MAX = 10

/** The carrier that a limit applies to; `team` is the sending team. */
export type LimitKey =
  | { kind: 'provider'; name: string; team: string }
  | { kind: 'domain'; name: string; team: string }
  | { kind: 'local'; name: ''; team: string }

const COUNTS = { provider: PER_PROVIDER, domain: PER_DOMAIN, local: LOCAL_MAX }

export class DeliveryLimits {
  readonly #all = new Semaphore(TRANSFERS_MAX)
  readonly #bytes = { small: new Semaphore(BYTES.small.total), large: new Semaphore(BYTES.large.total) }
  /** Only limits in use have an entry. */
  readonly #semaphores = new Map<string, Semaphore>()

  /** Acquires a slot at the carrier and a transfer. @returns a function that releases both */
  async acquire(key: LimitKey): Promise<() => void> {
    const releases = [await this.acquireSlot(key), await this.acquireTransfer(key.team)]
    return () => {
      for (const release of releases.toReversed()) release()
    }
  }

  /** Acquires a slot at the carrier only, which allows opening a connection. @returns a function that releases it */
  async acquireSlot(key: LimitKey): Promise<() => void> {
    return this.#acquireOne(keyOf(key), COUNTS[key.kind])
  }

  /** {@link acquireSlot} without a wait. @returns null when no slot is free */
  acquireSlotNow(key: LimitKey): (() => void) | null {
    return this.#acquireOneNow(keyOf(key), COUNTS[key.kind])
  }

  /** Acquires one of the transfers of the team and of all teams. @returns a function that releases it */
  acquireTransfer(team: string): Promise<() => void> {
    return this.#acquireBoth(`team ${team}`, PER_TEAM, this.#all, 1)
  }

  /**
   * Waits until a message of so many bytes fits in the memory limits of the team and of all; a larger one than these has all of it.
   * @returns a function that releases them
   */
  acquireBytes(team: string, count: number): Promise<() => void> {
    const kind = count < LARGE_FROM_BYTES ? 'small' : 'large'
    return this.#acquireBoth(`${kind} bytes ${team}`, BYTES[kind].team, this.#bytes[kind], count)
  }

  /** True when the waiting list of the carrier is full. */
  isFull(key: LimitKey): boolean {
    return (this.#semaphores.get(keyOf(key))?.waiting ?? 0) >= WAITING_MAX
  }

  /** True while the waiting list of the carrier is not empty. */
  hasWaiting(key: LimitKey): boolean {
    return (this.#semaphores.get(keyOf(key))?.waiting ?? 0) > 0
  }

  /** Acquires an amount of the limit of a team, then of all. */
  async #acquireBoth(key: string, total: number, all: Semaphore, amount: number): Promise<() => void> {
    // Mostly both are free: each await costs more than they do.
    const own = this.#acquireOneNow(key, total, amount) ?? (await this.#acquireOne(key, total, amount))
    const common = all.acquireNow(amount) ?? (await all.acquire(amount))
    return () => {
      common()
      own()
    }
  }

  async #acquireOne(key: string, total: number, amount = 1): Promise<() => void> {
    const semaphore = this.#semaphoreOf(key, total)
    return this.#forgetting(key, semaphore, await semaphore.acquire(amount))
  }

  #acquireOneNow(key: string, total: number, amount = 1): (() => void) | null {
    const semaphore = this.#semaphoreOf(key, total)
    const release = semaphore.acquireNow(amount)
    return release === null ? null : this.#forgetting(key, semaphore, release)
  }

  #semaphoreOf(key: string, total: number): Semaphore {
    const known = this.#semaphores.get(key)
    if (known !== undefined) return known
    const semaphore = new Semaphore(total)
    this.#semaphores.set(key, semaphore)
    return semaphore
  }

  /** Releases, and forgets the limit when it is not in use any more. */
  #forgetting(key: string, semaphore: Semaphore, release: () => void): () => void {
    return () => {
      release()
      if (semaphore.isIdle) this.#semaphores.delete(key)
    }
  }
}

function keyOf({ kind, name }: LimitKey): string {
  return `${kind} ${name}`
}
