// Sets up the inboxes agents have registered, a second or two after they did.

import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'

const LOOK_EVERY_MS = 1000

export interface Provisioning extends Service {
  /** Sets up what waits now. */
  settle(): Promise<void>
}

/** A service of its own: an agent waits for it, and no other job is to stand in its way. */
export function openProvisioning(app: Context): Provisioning {
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let ticking = false

  const look = () => {
    running = running.then(async () => {
      try {
        while ((await app.agents.registrations.provisionDue()) > 0);
      } catch (error) {
        app.log.error({ err: error }, 'inboxes of agents could not be set up and will be tried again')
      }
    })
    return running
  }

  const tick = async () => {
    if (ticking) return
    ticking = true
    await look()
    ticking = false
  }

  return {
    name: 'provisioning',
    async start() {
      timer = app.clock.every(LOOK_EVERY_MS, () => void tick())
      void tick()
    },
    async stop() {
      timer?.cancel()
      await running
    },
    settle: look,
  }
}
