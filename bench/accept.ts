// Accepting: batches over HTTP until they are durable, compared with inserting the same bytes into SQLite.

import { join } from 'node:path'
import type { AcceptReady, RawRequest } from './accept-appliance.ts'
import type { BatchLoad, BatchResult } from './batch-load.ts'
import { startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

/** No DNS server is needed: nothing is sent, and the domain is reserved. */
const NO_DNS = '127.0.0.1:9'
const BATCH = 100
const BYTES = 4096
/** Bytes that composing adds to the text. */
const HEADER_BYTES = 400
const CONNECTIONS = 4
const WARM_BATCHES = 20

export async function benchAccept(folder: string, messages: number): Promise<void> {
  await using appliance = startNode('bench/accept-appliance.ts', [], applianceEnv(join(folder, 'accept'), NO_DNS))
  const { send, key } = await appliance.message<AcceptReady>()
  await using loader = startNode('bench/batch-load.ts')
  await loader.message()
  const form = { port: send, key, connections: CONNECTIONS, messages: BATCH, bytes: BYTES }
  loader.send({ ...form, batches: WARM_BATCHES } satisfies BatchLoad)
  await loader.message()
  const used = appliance.usage()
  loader.send({ ...form, batches: Math.ceil(messages / BATCH) } satisfies BatchLoad)
  const { queued, elapsed, waits } = await loader.message<BatchResult>()
  const usage = appliance.usage()
  loader.send({ close: true })
  const raw = { contents: queued, bytes: BYTES + HEADER_BYTES, batch: BATCH, atOnce: CONNECTIONS }
  appliance.send({ ...raw, contents: WARM_BATCHES * BATCH } satisfies RawRequest)
  await appliance.message()
  appliance.send(raw satisfies RawRequest)
  const { perSecond: ceiling } = await appliance.message<{ perSecond: number }>()
  const perSecond = (queued / elapsed) * 1000
  const perThousand = (seconds: number) => `${short((seconds / queued) * 1_000_000)} ms`
  printTable(
    `Accepting batches of ${BATCH} × ${BYTES / 1024} KiB, ${CONNECTIONS} connections`,
    ['', '', 'aim'],
    [
      ['messages/s, durable', short(perSecond), '4,000 or 0.5 ×'],
      ['the same bytes inserted raw', short(ceiling), ''],
      ['Mailstead is', ratio(perSecond, ceiling), ''],
      ['p99 of a batch', `${short(quantile(waits, 0.99))} ms`, ''],
      ['CPU of 1,000 messages', perThousand(usage.cpuSeconds - used.cpuSeconds), ''],
      ['of it the listeners’ thread', perThousand(usage.mainSeconds - used.mainSeconds), ''],
      ['memory', megabytes(usage.memoryBytes), ''],
    ],
  )
}
