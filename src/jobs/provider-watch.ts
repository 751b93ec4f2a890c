// Watches over sending accounts: whoever is new, changed or in error is checked when its time has come (decisions §3.2).

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

const LOOK_EVERY_MS = 1000

export interface ProviderWatch extends Service {
  /** Checks what is due now and waits for it. */
  settle(): Promise<void>
}

/** A service of its own: a check may take fifteen seconds, and no other job is to wait for it. */
export function openProviderWatch(app: Context): ProviderWatch {
  const stop = new AbortController()
  let timer: Timer | undefined
  let unlisten: (() => void) | undefined
  let ticking = false

  const look = () =>
    app.outbound.providers.health.checkDue(stop.signal).catch((error: unknown) => {
      app.log.error({ err: error }, 'sending accounts could not be looked at')
      return 0
    })
  // What is made or changed rings; a tick finds what is to be checked again, which has time.
  const tick = async () => {
    if (ticking) return
    ticking = true
    await look()
    ticking = false
  }

  return {
    name: 'provider-watch',
    async start() {
      unlisten = app.wake.listen('providers', () => void look())
      timer = app.clock.every(LOOK_EVERY_MS, () => void tick())
      void tick()
    },
    // A server that does not answer holds nobody up: what is being checked is checked again after the next start.
    async stop() {
      timer?.cancel()
      unlisten?.()
      stop.abort()
    },
    async settle() {
      // Due at the same time can be more than are looked at at a time.
      while ((await look()) > 0);
    },
  }
}
