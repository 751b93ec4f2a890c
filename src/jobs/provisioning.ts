// Worker: sets up the inboxes of newly registered agents within about a second.

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

const CHECK_EVERY_MS = 1000

export interface Provisioning extends Service {
  /** Sets up all pending inboxes; resolves when they are done. */
  settle(): Promise<void>
}

/** A separate worker: agents wait for it, so that no other job may delay it. */
export function openProvisioning(app: Context): Provisioning {
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let ticking = false

  const provision = () => {
    running = running.then(async () => {
      try {
        while ((await app.agents.registrations.provisionDue()) > 0);
      } catch (error) {
        app.log.error({ event: 'agent.provisioning_failed', err: error }, 'Setting up agent inboxes failed; will retry')
      }
    })
    return running
  }

  const tick = async () => {
    if (ticking) return
    ticking = true
    await provision()
    ticking = false
  }

  return {
    name: 'provisioning',
    async start() {
      timer = app.clock.every(CHECK_EVERY_MS, () => void tick())
      void tick()
    },
    async stop() {
      timer?.cancel()
      await running
    },
    settle: provision,
  }
}
