// Bounds what all accounts together hold in memory and do at a time; no team has all of it.

import { Semaphore } from '../base/semaphore.ts'

/** Bytes of fetched content in memory, of all accounts and of those of one team. */
const BYTES_MAX = 32 * 1024 * 1024
const TEAM_BYTES_MAX = BYTES_MAX / 2
/** Accounts that work at a time, in all and of one team; the others wait for their server or their turn. */
const WORKING_MAX = 8
const TEAM_WORKING_MAX = 6

interface Share {
  bytes: Semaphore
  working: Semaphore
}

export class ContentMemory {
  readonly #bytes = new Semaphore(BYTES_MAX)
  readonly #working = new Semaphore(WORKING_MAX)
  /** Of teams that hold something or wait. */
  readonly #shares = new Map<string, Share>()

  /** Runs work that holds this many bytes; a larger message has all that its team may have. */
  async holding<T>(teamId: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const amount = Math.min(Math.max(bytes, 1), TEAM_BYTES_MAX)
    return this.#within(teamId, (share) => share.bytes.during(amount, () => this.#bytes.during(amount, work)))
  }

  /** Runs one round of an account. */
  async working<T>(teamId: string, work: () => Promise<T>): Promise<T> {
    return this.#within(teamId, (share) => share.working.during(1, () => this.#working.during(1, work)))
  }

  async #within<T>(teamId: string, work: (share: Share) => Promise<T>): Promise<T> {
    const share = this.#shares.get(teamId) ?? {
      bytes: new Semaphore(TEAM_BYTES_MAX),
      working: new Semaphore(TEAM_WORKING_MAX),
    }
    this.#shares.set(teamId, share)
    try {
      return await work(share)
    } finally {
      if (share.bytes.isIdle && share.working.isIdle) this.#shares.delete(teamId)
    }
  }
}
