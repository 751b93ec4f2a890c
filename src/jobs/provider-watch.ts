// Service: checks sending accounts that are new, changed or in error when their check is due (docs/design/sending.md §2).

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

const CHECK_EVERY_MS = 1000

export interface ProviderWatch extends Service {
  /** Runs the checks that are due now; resolves when they are done. */
  settle(): Promise<void>
}

/** A separate service: a check may take fifteen seconds and must not delay other jobs. */
export function openProviderWatch(app: Context): ProviderWatch {
  const stop = new AbortController()
  let timer: Timer | undefined
  let unlisten: (() => void) | undefined
  let ticking = false

  const checkDue = () =>
    app.outbound.accounts.checks.runDue(stop.signal).catch((error: unknown) => {
      app.log.error({ event: 'provider.check_failed', err: error }, 'Checking sending accounts failed')
      return 0
    })
  // A new or changed account notifies this service at once; the timer finds accounts due for a re-check.
  const tick = async () => {
    if (ticking) return
    ticking = true
    await checkDue()
    ticking = false
  }

  return {
    name: 'provider-watch',
    async start() {
      unlisten = app.notifier.listen('providers', () => void checkDue())
      timer = app.clock.every(CHECK_EVERY_MS, () => void tick())
      void tick()
    },
    // An unresponsive server must not delay the shutdown: aborted checks run again after the next start.
    async stop() {
      timer?.cancel()
      unlisten?.()
      stop.abort()
    },
    async settle() {
      // One call checks a limited batch.
      while ((await checkDue()) > 0);
    },
  }
}
