// Bounds what all accounts together hold in memory and do at a time; no team and no server has all of it, except on a small machine.

import type { Clock } from '../../base/clock.ts'
import { shareBytes } from '../../base/machine-memory.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { RemoteAccount } from '../model/records.ts'
import { ServerError } from '../model/server.ts'
import { type Holder, WorkSlots } from '../model/work-slots.ts'

const MIB = 1024 * 1024
/**
 * Bytes of fetched content in memory, of all accounts and of those of one team, or at one server. A small machine has room for one large
 * message, so that there one team can have all of it for a while.
 */
const BYTES_MAX = shareBytes({ share: 0.05, least: 16 * MIB, most: 32 * MIB })
const SHARE_BYTES_MAX = 16 * MIB

export function holderOf({ teamId, auth, imap }: Pick<RemoteAccount, 'teamId' | 'auth' | 'imap'>): Holder {
  return { teamId, server: imap?.host ?? auth }
}

/** The right of an account to work. */
export interface WorkSlot {
  /** To be called between parts of the work: it goes on later where another team has less and waits, or has none and has waited. */
  yieldTurn(): Promise<void>
  /** Others may work while this account waits. */
  without(wait: () => Promise<void>): Promise<void>
}

/** What work holds after all, bytes. */
export type HoldsBytes = (bytes: number) => Promise<void>

export class ContentMemory {
  readonly #bytes = new Semaphore(BYTES_MAX)
  readonly #slots: WorkSlots
  /** Of teams and servers that hold some bytes or wait. */
  readonly #shares = new Map<string, Semaphore>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#slots = new WorkSlots(clock)
  }

  /**
   * Runs work that holds this many bytes; a larger message has all that its team may have.
   * @param work receives what to call when it holds more than was expected, which waits until there is room for it
   */
  async holding<T>(holder: Holder, bytes: number, work: (holds: HoldsBytes) => Promise<T>): Promise<T> {
    const amountOf = (bytes: number) => Math.min(Math.max(bytes, 1), SHARE_BYTES_MAX)
    let amount = amountOf(bytes)
    let release = await this.#acquire(holder, amount)
    const holds: HoldsBytes = async (actual) => {
      if (amountOf(actual) <= amount) return
      amount = amountOf(actual)
      // Given back first: of those that wait while they hold some, none would ever go on.
      release()
      release = await this.#acquire(holder, amount)
    }
    try {
      return await work(holds)
    } finally {
      release()
    }
  }

  /** Runs one round of an account. @param work receives its slot */
  async working<T>(holder: Holder, work: (slot: WorkSlot) => Promise<T>): Promise<T> {
    const slots = this.#slots
    let isHeld = true
    let began = 0
    const release = () => {
      // Not released twice when a wait fails.
      if (isHeld) slots.release(holder)
      isHeld = false
    }
    const without: WorkSlot['without'] = async (wait) => {
      release()
      try {
        await wait()
      } finally {
        began = await slots.acquire(holder)
        isHeld = true
      }
    }
    const yieldTurn = async () => {
      if (slots.isUnfair(holder, began)) await without(async () => {})
    }
    began = await slots.acquire(holder)
    try {
      return await work({ yieldTurn, without })
    } finally {
      release()
    }
  }

  /** A team waits for its server, and not the server's accounts for a team. */
  async #acquire({ teamId, server }: Holder, amount: number): Promise<() => void> {
    const leaveTeam = await this.#acquireOf(`team ${teamId}`, amount)
    const leaveServer = server === undefined ? () => {} : await this.#acquireOf(`server ${server}`, amount)
    const leave = await this.#bytes.acquire(amount)
    return () => {
      leave()
      leaveServer()
      leaveTeam()
    }
  }

  async #acquireOf(name: string, amount: number): Promise<() => void> {
    const share = this.#shares.get(name) ?? new Semaphore(SHARE_BYTES_MAX)
    this.#shares.set(name, share)
    const leave = await share.acquire(amount)
    return () => {
      leave()
      if (share.isIdle && this.#shares.get(name) === share) this.#shares.delete(name)
    }
  }
}

/** How often the connection may break at one message before the others go on without it. */
const BREAKS_MAX = 3
/** Folders of which something is known. */
const FOLDERS_MAX = 1000

export class FetchBreaks {
  /** By number of a remote folder: UIDs that were asked for when a connection broke, and how often that was each alone. */
  readonly #folders = new Map<number, Map<number, number>>()

  /** Notes that a fetch failed, if the connection broke at it. @param error of the fetch */
  note(folder: number, uids: readonly number[], error: unknown): void {
    if (!(error instanceof ServerError) || error.effect !== 'delay' || error.retryAfterMs !== null) return
    const known = this.#folders.get(folder) ?? new Map<number, number>()
    for (const uid of uids) known.set(uid, (known.get(uid) ?? 0) + (uids.length === 1 ? 1 : 0))
    this.#folders.set(folder, known)
    const [oldest] = this.#folders.keys()
    if (this.#folders.size > FOLDERS_MAX) this.#folders.delete(oldest!)
  }

  /** Whether a message is to be fetched alone. */
  isAlone(folder: number, uid: number): boolean {
    return this.#folders.get(folder)?.has(uid) === true
  }

  /** Whether a message is left for later. */
  isLeft(folder: number, uid: number): boolean {
    return (this.#folders.get(folder)?.get(uid) ?? 0) >= BREAKS_MAX
  }

  /** Messages are asked for once more, each alone. */
  askAgain(folder: number, uids: readonly number[]): void {
    const known = this.#folders.get(folder)
    for (const uid of uids) if (known?.has(uid) === true) known.set(uid, BREAKS_MAX - 1)
  }

  /** What was stored, or is known to be missing, is as others are. */
  forget(folder: number, uids: readonly number[]): void {
    const known = this.#folders.get(folder)
    for (const uid of uids) known?.delete(uid)
    if (known?.size === 0) this.#folders.delete(folder)
  }
}
