// What the inspection of one message costs in CPU time, without threads and DNS traffic: node scripts/run.js bench/inspection.ts [--messages 4000]
//
// The aim is below 0.35 ms for a message of 4 KiB. Read the CPU time: the elapsed time depends on what else runs.

import process from 'node:process'
import { parseArgs } from 'node:util'
import { inspect } from '../src/workers/inspect.ts'
import type { InspectionRequest } from '../src/workers/inspection.ts'
import { inspectionContent } from '../src/workers/read-message.ts'
import { zoneResolver } from '../test/support/dns.ts'
import { mail, makeKeys, SENDER, SENDER_DOMAIN, zoneOf } from './mails.ts'
import { printTable, short } from './table.ts'

const SIZES = [4096, 65_536]
const SAMPLES = 64
const ROUNDS = 7

const { values } = parseArgs({ options: { messages: { type: 'string', default: '4000' } } })
const total = Number(values.messages)
const keys = makeKeys()
const resolver = zoneResolver(zoneOf(keys))
const arrival: InspectionRequest = {
  ...{ remoteAddress: '127.0.0.1', remoteName: `mx.${SENDER_DOMAIN}`, helo: `mx.${SENDER_DOMAIN}`, mailFrom: SENDER },
  ...{ tls: null, protocol: 'ESMTP', receivedAt: Date.now(), hostName: 'mx.here.test', queueId: 'abc' },
  ...{ rcptTo: 'ben@here.test', isForReports: false, scripts: [null], spamKey: 1 },
}

/** The least CPU time of one call in ms, of some rounds. */
async function cpuMs(count: number, call: (index: number) => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    for (let index = 0; index < count; index++) await call(index)
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, (user + system) / 1000 / count)
  }
  return least
}

const rows: string[][] = []
for (const size of SIZES) {
  const samples = await Promise.all(
    Array.from({ length: SAMPLES }, (_, index) =>
      mail(index, { bytes: size, to: 'ben@here.test', key: keys.private, word: 'inspection' }),
    ),
  )
  const count = Math.max(SAMPLES, Math.round((total * SIZES[0]!) / size / ROUNDS))
  const whole = await cpuMs(count, (index) => inspect(samples[index % SAMPLES]!, arrival, resolver))
  const content = await cpuMs(count, (index) => {
    const bytes = samples[index % SAMPLES]!
    return inspectionContent(bytes, bytes, arrival)
  })
  rows.push([`${size} bytes`, short(whole), short(content)])
}
printTable('CPU time of an inspection, ms', ['Message', 'whole', 'content only'], rows)
