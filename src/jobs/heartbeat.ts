// Service: stores a last-seen time every minute, and logs when the system clock becomes untrusted and trusted again.

import type { Timer } from '../base/clock.ts'
import { CLOCK_JUMP_MS, type WrongSpan } from '../base/clock-guard.ts'
import { MINUTE_MS } from '../base/durations.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { recheckLate } from '../directory/domains/domains-verification.ts'
import { redateEvents } from '../events/webhooks/retention.ts'

const HEARTBEAT_EVERY_MS = MINUTE_MS

export interface Heartbeat extends Service {
  /** Writes the last-seen time now; resolves when it is written. */
  settle(): Promise<void>
}

async function redateAll(app: Context, wrong: readonly WrongSpan[]): Promise<void> {
  const now = app.clock.now()
  await app.outbound.queue.messages.redate()
  await app.eventDispatch.reschedule()
  await recheckLate(app.db, now)
  const [oldest] = app.directory.teams.list()
  const earliest = oldest?.createdAt ?? 0
  await app.store.upkeep.trashRetention.resetFiledAt({ now, earliest, slackMs: CLOCK_JUMP_MS, wrong })
  await app.directory.mailboxes.redateDeleted(CLOCK_JUMP_MS, wrong)
  for (const span of wrong) {
    await app.store.log.inbound.redate(span, now)
    await app.outbound.log.deliveries.redate(span, now)
    await app.directory.signIns.redate(span, now)
    await app.people.audit.redate(span, now)
    await app.directory.requests.redate(span, now)
    await redateEvents(app.db, span, now)
    await app.eventDispatch.attempts.redate(span, now)
  }
}

export function openHeartbeat(app: Context): Heartbeat {
  const { appliance, clock, guard, log, reserve } = app
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let wasHeld = false
  let isLogged = false

  // Records stamped with a wrong time must neither expire too early nor stay pending for years.
  appliance.onClockRight((wrong) => redateAll(app, wrong))

  const write = async () => {
    // Read before the heartbeat, which may trust the clock again.
    wasHeld ||= guard.isHeld()
    await appliance.heartbeat()
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
    running ??= write()
      .catch((error: unknown) =>
        log.error({ event: 'appliance.heartbeat_failed', err: error }, 'Last-seen time not written'),
      )
      .finally(() => {
        running = undefined
      })
    return running
  }

  const keepReserve = () => {
    reserve
      .keep()
      .catch((error: unknown) => log.warn({ event: 'disk.reserve_failed', err: error }, 'Disk reserve not made'))
  }

  return {
    name: 'heartbeat',
    async start() {
      timer = clock.every(HEARTBEAT_EVERY_MS, () => {
        void tick()
        keepReserve()
      })
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
