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

/** The right of an account to work. */
export interface WorkSlot {
  /** Others may work while this account waits. */
  without(wait: () => Promise<void>): Promise<void>
}

export class ContentMemory {
  readonly #bytes = new Semaphore(BYTES_MAX)
  readonly #working = new Semaphore(WORKING_MAX)
  /** Of teams that hold something or wait. */
  readonly #shares = new Map<string, Share>()

  /** Runs work that holds this many bytes; a larger message has all that its team may have. */
  async holding<T>(teamId: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const amount = Math.min(Math.max(bytes, 1), TEAM_BYTES_MAX)
    const release = await this.#acquire(teamId, 'bytes', amount)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Runs one round of an account. @param work receives its slot */
  async working<T>(teamId: string, work: (slot: WorkSlot) => Promise<T>): Promise<T> {
    const acquire = () => this.#acquire(teamId, 'working', 1)
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

  async #acquire(teamId: string, of: keyof Share, amount: number): Promise<() => void> {
    const share = this.#shares.get(teamId) ?? {
      bytes: new Semaphore(TEAM_BYTES_MAX),
      working: new Semaphore(TEAM_WORKING_MAX),
    }
    this.#shares.set(teamId, share)
    const leaveTeam = await share[of].acquire(amount)
    const leave = await (of === 'bytes' ? this.#bytes : this.#working).acquire(amount)
    return () => {
      leave()
      leaveTeam()
      if (share.bytes.isIdle && share.working.isIdle && this.#shares.get(teamId) === share) this.#shares.delete(teamId)
    }
  }
}
