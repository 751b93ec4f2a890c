// Watches the folder of new mail through a connection of its own, while the other one imports old mail.

import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import type { Log } from '../../base/log.ts'
import type { AccountServer } from '../model/server.ts'

/** After a connection that failed or was ended another one is opened not before this time, ms. */
const RETRY_MS = 5 * MINUTE_MS
/** IDLE is begun again after this time, ms: see follower.ts. */
const WAIT_MS = 9 * MINUTE_MS

interface Deps {
  clock: Clock
  log: Log
  /** Id of the account. */
  remote: string
  open(): Promise<AccountServer>
  /** Whether a connection more may be opened. */
  mayOpen(): boolean
}

export class ArrivalWatch {
  /** Whether something changed in the folder since `take`, or may have. */
  hasChanged = false
  readonly #deps: Deps
  #running: { end: AbortController; done: Promise<void> } | null = null
  #notBefore = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether it has a connection, or opens one. */
  get isOpen(): boolean {
    return this.#running !== null
  }

  /** Begins to watch a folder, unless it does or has failed a short time ago. */
  start(path: string): void {
    const { clock, mayOpen } = this.#deps
    if (this.#running !== null || clock.now() < this.#notBefore || !mayOpen()) return
    const end = new AbortController()
    const done = this.#watch(path, end.signal).finally(() => {
      this.#running = null
    })
    this.#running = { end, done }
  }

  /** Whether something changed since the last call. */
  take(): boolean {
    const { hasChanged } = this
    this.hasChanged = false
    return hasChanged
  }

  stop(): void {
    this.#running?.end.abort()
  }

  /** Resolves when it has no connection. */
  async closed(): Promise<void> {
    await this.#running?.done
  }

  /** Never rejects: the folder is looked at without it, less often. */
  async #watch(path: string, end: AbortSignal): Promise<void> {
    const { clock, log, remote } = this.#deps
    let server: AccountServer | undefined
    try {
      server = await this.#deps.open()
      await server.select(path, null)
      // What changed before it was selected was not announced.
      this.hasChanged = true
      while (!end.aborted) if ((await server.wait(WAIT_MS, end)) === 'changed') this.hasChanged = true
    } catch (error) {
      log.info({ event: 'sync.watch_ended', remote, err: error }, 'The second connection of an outside account ended')
    } finally {
      this.#notBefore = clock.now() + RETRY_MS
      await server?.close().catch(() => {})
    }
  }
}
