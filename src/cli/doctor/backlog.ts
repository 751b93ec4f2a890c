// Checks for overdue work: queued deliveries and webhook deliveries.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Context } from '../../context.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const LATE_MS = 15 * MINUTE_MS
/** No provider and no restart holds mail that is due this long. */
const STUCK_MS = DAY_MS

export async function checkBacklog(app: Context): Promise<Finding[]> {
  const { queued, oldestDueAt } = await app.outbound.queue.depth()
  const { undispatched, pending, lagMs } = await app.eventDispatch.backlog()
  const late = oldestDueAt === null ? 0 : app.clock.now() - oldestDueAt
  return [queueFinding(queued, late), webhookFinding(undispatched + pending, lagMs)]
}

/** @param late how long the oldest delivery has been due, in ms; below 0 when none is */
export function queueFinding(waiting: number, late: number): Finding {
  const many = `${waiting} ${waiting === 1 ? 'delivery' : 'deliveries'} queued`
  if (late < LATE_MS) return fine('queue', `${many}, none overdue.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  const advice = 'See mailstead queue list and the log; held messages of suspended teams count too.'
  return late < STUCK_MS ? warning('queue', says, advice) : failing('queue', says, advice)
}

/** @param late how long the oldest webhook delivery has been due, in ms */
export function webhookFinding(waiting: number, late: number): Finding {
  const many = `${waiting} webhook ${waiting === 1 ? 'delivery' : 'deliveries'} pending`
  if (late < LATE_MS) return fine('webhooks', `${many}, none overdue.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  return warning('webhooks', says, 'Check that the appliance runs, and its log for webhook errors.')
}
