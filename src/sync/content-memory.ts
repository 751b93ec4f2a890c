// Bounds what all accounts together hold in memory and do at a time; no team and no server has all of it.

import { Semaphore } from '../base/semaphore.ts'
import type { RemoteAccount } from './records.ts'

/** Bytes of fetched content in memory, of all accounts and of those of one team, or at one server. */
const BYTES_MAX = 32 * 1024 * 1024
const SHARE_BYTES_MAX = BYTES_MAX / 2
/** Accounts that work at a time, in all and of one team, or at one server; the others wait for their server or their turn. */
const WORKING_MAX = 8
const SHARE_WORKING_MAX = 6

/** Who holds something: a team, and the server of its account where it is known. */
export interface Holder {
  teamId: string
  server?: string
}

export function holderOf({ teamId, auth, imap }: Pick<RemoteAccount, 'teamId' | 'auth' | 'imap'>): Holder {
  return { teamId, server: imap?.host ?? auth }
}

interface Share {
  bytes: Semaphore
  working: Semaphore
}

/** The right of an account to work. */
export interface WorkSlot {
  /** Others may work while this account waits. */
  without(wait: () => Promise<void>): Promise<void>
}

/** What work holds after all, bytes. */
export type HoldsBytes = (bytes: number) => Promise<void>

export class ContentMemory {
  readonly #bytes = new Semaphore(BYTES_MAX)
  readonly #working = new Semaphore(WORKING_MAX)
  /** Of teams and servers that hold something or wait. */
  readonly #shares = new Map<string, Share>()

  /**
   * Runs work that holds this many bytes; a larger message has all that its team may have.
   * @param work receives what to call when it holds more than was expected, which waits until there is room for it
   */
  async holding<T>(holder: Holder, bytes: number, work: (holds: HoldsBytes) => Promise<T>): Promise<T> {
    const amountOf = (bytes: number) => Math.min(Math.max(bytes, 1), SHARE_BYTES_MAX)
    let amount = amountOf(bytes)
    let release = await this.#acquire(holder, 'bytes', amount)
    const holds: HoldsBytes = async (actual) => {
      if (amountOf(actual) <= amount) return
      amount = amountOf(actual)
      // Given back first: of those that wait while they hold some, none would ever go on.
      release()
      release = await this.#acquire(holder, 'bytes', amount)
    }
    try {
      return await work(holds)
    } finally {
      release()
    }
  }

  /** Runs one round of an account. @param work receives its slot */
  async working<T>(holder: Holder, work: (slot: WorkSlot) => Promise<T>): Promise<T> {
    const acquire = () => this.#acquire(holder, 'working', 1)
    let release = await acquire()
    const without: WorkSlot['without'] = async (wait) => {
      release()
      // Not released twice when the wait fails.
      release = () => {}
      try {
        await wait()
      } finally {
        release = await acquire()
      }
    }
    try {
      return await work({ without })
    } finally {
      release()
    }
  }

  /** A team waits for its server, and not the server's accounts for a team. */
  async #acquire({ teamId, server }: Holder, of: keyof Share, amount: number): Promise<() => void> {
    const leaveTeam = await this.#acquireOf(`team ${teamId}`, of, amount)
    const leaveServer = server === undefined ? () => {} : await this.#acquireOf(`server ${server}`, of, amount)
    const leave = await (of === 'bytes' ? this.#bytes : this.#working).acquire(amount)
    return () => {
      leave()
      leaveServer()
      leaveTeam()
    }
  }

  async #acquireOf(name: string, of: keyof Share, amount: number): Promise<() => void> {
    const share = this.#shares.get(name) ?? {
      bytes: new Semaphore(SHARE_BYTES_MAX),
      working: new Semaphore(SHARE_WORKING_MAX),
    }
    this.#shares.set(name, share)
    const leave = await share[of].acquire(amount)
    return () => {
      leave()
      if (share.bytes.isIdle && share.working.isIdle && this.#shares.get(name) === share) this.#shares.delete(name)
    }
  }
}
