// Service: stores a last-seen time every minute, and logs when the system clock becomes untrusted and trusted again.

import type { Timer } from '../base/clock.ts'
import { CLOCK_JUMP_MS } from '../base/clock-guard.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { recheckLate } from '../directory/domains-verification.ts'

const BEAT_EVERY_MS = 60_000

export interface Heartbeat extends Service {
  /** Writes the last-seen time now; resolves when it is written. */
  settle(): Promise<void>
}

export function openHeartbeat(app: Context): Heartbeat {
  const { appliance, clock, guard, log } = app
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let wasHeld = false
  let isLogged = false

  // Records stamped with a wrong time must neither expire too early nor stay pending for years.
  appliance.onClockRight(async () => {
    await app.outbound.queuedMessages.redate()
    await app.eventDispatch.reschedule()
    await recheckLate(app.db, clock.now())
    const [oldest] = await app.directory.teams.list()
    await app.store.emptying.redate({ now: clock.now(), earliest: oldest?.createdAt ?? 0, slackMs: CLOCK_JUMP_MS })
    await app.directory.mailboxes.redateDeleted(CLOCK_JUMP_MS)
  })

  const beat = async () => {
    // Read before the beat, which may end the doubt.
    wasHeld ||= guard.isHeld()
    await appliance.beat()
    const isHeld = guard.isHeld()
    if (isHeld && !isLogged) {
      const advice = 'Set the clock, or run mailstead clock accept if it is right.'
      const ahead = Math.round(guard.aheadMs())
      log.warn({ event: 'clock.held', ahead_ms: ahead }, `${guard.complaint()} ${advice}`)
    }
    if (!isHeld && wasHeld) log.info({ event: 'clock.trusted' }, 'Clock trusted again; retention and expiry go on')
    wasHeld = isHeld
    isLogged = isHeld
  }
  const tick = () => {
    running ??= beat()
      .catch((error: unknown) =>
        log.error({ event: 'appliance.beat_failed', err: error }, 'Last-seen time not written'),
      )
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    name: 'heartbeat',
    async start() {
      timer = clock.every(BEAT_EVERY_MS, () => void tick())
      await tick()
    },
    async stop() {
      timer?.cancel()
      await running
    },
    async settle() {
      await running
      await tick()
    },
  }
}
