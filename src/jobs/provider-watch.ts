// Watches over sending accounts: whoever is new, changed or in error is checked when its time has come (decisions §3.2).

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/loop.ts'
import type { Context } from '../context.ts'

const LOOK_EVERY_MS = 5000

export interface ProviderWatch extends Service {
  /** Checks what is due now and waits for it. */
  settle(): Promise<void>
}

/** A service of its own: a check may take fifteen seconds, and no other job is to wait for it. */
export function openProviderWatch(app: Context): ProviderWatch {
  const stop = new AbortController()
  let timer: Timer | undefined
  let unlisten: (() => void) | undefined
  let running: Promise<void> = Promise.resolve()

  const look = () => {
    const round = app.outbound.providers.health.checkDue(stop.signal).then(
      () => {},
      (error: unknown) => app.log.error({ err: error }, 'sending accounts could not be looked at'),
    )
    running = Promise.all([running, round]).then(() => {})
    return running
  }

  return {
    name: 'provider watch',
    async start() {
      unlisten = app.wake.listen('deliver', () => void look())
      timer = app.clock.every(LOOK_EVERY_MS, () => void look())
      void look()
    },
    async stop() {
      timer?.cancel()
      unlisten?.()
      stop.abort()
      await running
    },
    async settle() {
      await look()
      // What was made while the round ran is in the next one.
      await look()
    },
  }
}
