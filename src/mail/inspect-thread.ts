// The thread in which mails are inspected: it keeps a DNS client, whose cache serves all mails that pass here.

import { readFile } from 'node:fs/promises'
import { workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { systemClock } from '../base/clock.ts'
import { openResolver } from '../base/resolver.ts'
import { inspect } from './inspect.ts'
import type { Arrival, Inspection } from './mail.ts'

/** Where a mail's bytes are: here, or in a file that the thread reads itself. */
export type MailSource = { bytes: Uint8Array } | { file: string }

/** What the thread is told at its start. */
export interface ThreadSettings {
  dnsServers: string[]
}

const resolver = openResolver({ servers: (workerData as ThreadSettings).dnsServers, clock: systemClock })

/** The task of the pool. */
export async function inspectTask(task: { source: MailSource; arrival: Arrival }): Promise<Inspection> {
  const bytes = 'file' in task.source ? await readFile(task.source.file) : task.source.bytes
  const inspection = await inspect(bytes, task.arrival, resolver)
  // The memory under the chunks is handed over, not copied; the pool takes the wrapper for the value it stands for.
  const buffers = new Set(inspection.chunks.map((chunk) => chunk.data.buffer as ArrayBuffer))
  const moved = { [transferableSymbol]: [...buffers], [valueSymbol]: inspection }
  return move(moved as never) as unknown as Inspection
}
