// What should have left and has not: mail, and tellings of webhooks.

import type { Context } from '../../context.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const MINUTE_MS = 60_000
const LATE_MS = 15 * MINUTE_MS
/** No provider and no restart holds mail that is due this long. */
const STUCK_MS = 24 * 60 * MINUTE_MS

export async function lookAtBacklog(app: Context): Promise<Finding[]> {
  const { waiting, oldestDueAt } = await app.outbound.queue.depth()
  const { untold, waiting: tellings, lagMs } = await app.telling.backlog()
  const late = oldestDueAt === null ? 0 : app.clock.now() - oldestDueAt
  return [judgeQueue(waiting, late), judgeWebhooks(untold + tellings, lagMs)]
}

/** @param late how long the oldest delivery has been due, in ms; below 0 when none is */
export function judgeQueue(waiting: number, late: number): Finding {
  const many = `${waiting} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'}`
  if (late < LATE_MS) return fine('queue', `${many}; none is late.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  const advice = 'See mailstead queue list and the log; held mail of suspended teams counts too.'
  return late < STUCK_MS ? warning('queue', says, advice) : failing('queue', says, advice)
}

/** @param late how long the oldest telling has been due, in ms */
export function judgeWebhooks(waiting: number, late: number): Finding {
  const many = `${waiting} ${waiting === 1 ? 'telling' : 'tellings'} of webhooks ${waiting === 1 ? 'waits' : 'wait'}`
  if (late < LATE_MS) return fine('webhooks', `${many}; none is late.`)
  const says = `${many}; the oldest has been due for ${Math.floor(late / MINUTE_MS)} minutes.`
  return warning('webhooks', says, 'See whether the appliance runs, and what its log says of webhooks.')
}
