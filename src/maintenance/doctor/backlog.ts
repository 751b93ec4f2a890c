// Checks for overdue work: queued deliveries, webhook deliveries, and messages that are not yet prepared for mail programs.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const LATE_MS = 15 * MINUTE_MS
/** No provider and no restart holds mail that is due this long. */
const STUCK_MS = DAY_MS

export async function checkBacklog(app: DoctorDeps): Promise<Finding[]> {
  const { queued, oldestDueAt } = await app.outbound.queue.entries.depth()
  const { undispatched, pending, lagMs } = await app.eventDispatch.backlog()
  const late = oldestDueAt === null ? 0 : app.clock.now() - oldestDueAt
  const unprepared = app.store.upkeep.outlining.left()
  return [queueFinding(queued, late), webhookFinding(undispatched + pending, lagMs), outlineFinding(unprepared)]
}

/** @param late how long the oldest delivery has been due, in ms; below 0 when none is */
export function queueFinding(waiting: number, late: number): Finding {
  const many = `${waiting} ${waiting === 1 ? 'delivery' : 'deliveries'} queued`
  if (late < LATE_MS) return fine('queue', `${many}, none overdue.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  const advice = 'Look at the last answers in the queue, and at the log; held messages of suspended teams count too.'
  const command = 'mailstead queue list'
  return late < STUCK_MS ? warning('queue', says, advice, command) : failing('queue', says, advice, command)
}

/** @param late how long the oldest webhook delivery has been due, in ms */
export function webhookFinding(waiting: number, late: number): Finding {
  const many = `${waiting} webhook ${waiting === 1 ? 'delivery' : 'deliveries'} pending`
  if (late < LATE_MS) return fine('webhooks', `${many}, none overdue.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  return warning('webhooks', says, 'Check that the appliance runs, and its log for webhook errors.')
}

/** @param left messages of earlier versions whose structure and header fields mail programs still need from the message itself */
export function outlineFinding(left: number): Finding {
  if (left === 0) return fine('outlines', 'The structure of all messages is stored for mail programs.')
  const many = left === 1 ? '1 message of an earlier version is' : `${left} messages of an earlier version are`
  return fine(
    'outlines',
    `${many} still to be prepared for mail programs, in the background; until then they are read more slowly.`,
  )
}
