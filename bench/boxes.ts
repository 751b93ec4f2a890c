// Mailboxes of several sizes in one data folder, and the cost of storing a message in each.

import type { FillRequest, FillResult } from './fill.ts'
import { startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { printTable, ratio, short } from './table.ts'

/** No DNS server is needed: messages are written to the store directly. */
const NO_DNS = '127.0.0.1:9'

export interface Box {
  id: string
  email: string
  size: number
  key: string
}

/**
 * Fills a data folder while no appliance runs, the largest mailbox first.
 * @param htmlEvery one message in so many is HTML; without it none is @returns the mailboxes in that order
 */
export async function fillBoxes(folder: string, sizes: readonly number[], htmlEvery?: number): Promise<Box[]> {
  await using child = startNode('bench/fill.ts', [], applianceEnv(folder, NO_DNS))
  await child.message()
  const boxes: Box[] = []
  for (const size of sizes) {
    console.log(`  filling a mailbox with ${size.toLocaleString('en')} messages …`)
    const email = `box${size}@bench.test`
    child.send({ email, messages: size, range: 1000, htmlEvery } satisfies FillRequest)
    const { mailboxId, key, stretches } = await child.message<FillResult>()
    boxes.push({ id: mailboxId, email, size, key })
    if (boxes.length === 1) showInsertCost(stretches)
  }
  child.send({ close: true })
  await child.ended
  return boxes
}

/** The largest mailbox is filled first, into an empty data folder: its first thousand messages are the baseline for its last thousand. */
function showInsertCost(stretches: FillResult['stretches']): void {
  const mean = (rows: FillResult['stretches'], member: 'wall' | 'cpu') =>
    rows.reduce((sum, row) => sum + row[member], 0) / rows.length
  const [early, late] = [stretches.slice(1, 4), stretches.slice(-3)]
  const base = early.length > 0 ? early : stretches
  const rows = [base, late].map((group) => {
    const [wall, cpu] = [mean(group, 'wall'), mean(group, 'cpu')]
    const cells = [
      [wall, mean(base, 'wall')],
      [cpu, mean(base, 'cpu')],
    ].flatMap(([now, first]) => [`${short(now!)} ms`, ratio(now!, first!)])
    return [`at ${group.at(-1)!.at.toLocaleString('en')}`, ...cells]
  })
  printTable('Cost of one message put into the store', ['messages in the mailbox', 'time', '', 'CPU', ''], rows)
}
