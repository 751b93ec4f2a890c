// Queue throughput: messages signed, handed to a local server and recorded, compared with the bare signing rate of one core.

import { generateKeyPairSync, sign } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { openContext } from '../src/context.ts'
import type { NewMail, Sender } from '../src/outbound/model/new-message.ts'
import { type LocalDns, startDns, type Zone } from '../test/support/dns.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable, ratio, short } from './table.ts'

const BATCH = 100
const TEXT = `${'The quick brown fox jumps over the lazy dog. '.repeat(86)}\r\n`
const SIGNATURES = 2000
const LOOK_MS = 50
const DOMAINS = 50

const zone = Object.fromEntries([
  ...Array.from({ length: DOMAINS }, (_, i) => [
    `d${i}.test`,
    { MX: [{ priority: 1, exchange: 'mx.sink.test' }], ttl: 3600 },
  ]),
  ['mx.sink.test', { A: ['127.0.0.1'], ttl: 3600 }],
])

/** Signatures per second of one core. */
function signingRate(): number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const header = Buffer.from(TEXT.slice(0, 600))
  const began = performance.now()
  for (let i = 0; i < SIGNATURES; i++) sign('sha256', header, privateKey)
  return SIGNATURES / ((performance.now() - began) / 1000)
}

/** Fills the queue of a new data folder; nothing is sent meanwhile. @returns the DNS names of the signing key, which must be published */
async function fill(env: Record<string, string>, { messages, recipients }: Waiting): Promise<Zone> {
  const app = await openContext(loadConfig(env, join(env.DATA_DIR!, 'none.json')), { log: openLog('error') })
  const team = await app.directory.teams.create({ name: 'Bench' })
  const { records } = await app.directory.domains.create(team.id, 'from.test')
  const sender: Sender = { kind: 'team', teamId: team.id, source: 'batch_api' }
  for (let at = 0; at < messages; at += BATCH) {
    const mails = Array.from({ length: Math.min(BATCH, messages - at) }, (_, i) => mailOf(at + i, recipients))
    const made = await app.outbound.submit.submitter.submit(sender, mails)
    if (made.some(({ kind }) => kind !== 'accepted')) throw new Error('A mail was not accepted.')
  }
  await app.close()
  return Object.fromEntries(records.dkim.map(({ name, value }) => [name, { TXT: [value], ttl: 3600 }]))
}

/** All recipients of a message have one domain. */
function mailOf(n: number, recipients: number): NewMail {
  const to = Array.from({ length: recipients }, (_, i) => ({ email: `p${n}-${i}@d${n % DOMAINS}.test`, name: '' }))
  return {
    ...{ from: { email: 'news@from.test', name: 'News' }, to, cc: [], bcc: [], replyTo: [], subject: `Mail ${n}` },
    ...{ textBody: TEXT, htmlBody: null, headers: {}, attachments: [], returnPath: null, inReplyTo: null },
    ...{ sendAt: null, undoSeconds: 0, saveToSent: false },
  }
}

/** A queue before it is drained. */
export interface Waiting {
  messages: number
  /** Of each message. */
  recipients: number
}

/** Rates and shares are of deliveries: of recipients. */
interface Drained {
  perSecond: number
  /** The time of the second half of the queue as a multiple of that of the first, which includes the start: above 1 shows growth. */
  lateShare: number
  cpuPerThousand: number
  memoryBytes: number
}

async function drain(folder: string, form: Form, dns: LocalDns, waiting: Waiting): Promise<Drained> {
  const count = waiting.messages * waiting.recipients
  await using sink = startNode('bench/sink.ts')
  const { port } = await sink.message<{ port: number }>()
  const sending = { DIRECT_PORT: String(port), ALLOW_PRIVATE_SMTP_HOSTS: 'true' }
  const env = {
    ...applianceEnv(join(folder, `drain-${waiting.messages}-${waiting.recipients}`), dns.address),
    ...sending,
  }
  dns.zone = { ...zone, ...(await fill(env, waiting)) }
  let signed = 0
  const taken = async () => {
    sink.send({ ask: 'count' })
    const said = await sink.message<{ count: number; signed: number }>()
    signed = said.signed
    return said.count
  }
  const { child: appliance } = await startMailstead(form, env)
  await using _ = appliance
  const began = performance.now()
  let half = Number.NaN
  let largest = 0
  for (let done = await taken(); done < count; done = await taken()) {
    await pause(LOOK_MS)
    largest = Math.max(largest, appliance.usage().memoryBytes)
    if (Number.isNaN(half) && done >= count / 2) half = performance.now()
  }
  const ended = performance.now()
  if (signed < count) throw new Error(`Only ${signed} of ${count} deliveries were signed.`)
  return {
    perSecond: count / ((ended - began) / 1000),
    lateShare: (ended - half) / (half - began),
    cpuPerThousand: (appliance.usage().cpuSeconds / count) * 1000,
    memoryBytes: largest,
  }
}

/** @param queues one for each run */
export async function benchDrain(folder: string, form: Form, queues: readonly Waiting[]): Promise<void> {
  await using dns = await startDns(zone)
  // As real zones have it: that a server has no IPv6 address is known for a while.
  dns.negativeTtl = 3600
  const rows: string[][] = []
  for (const waiting of queues) {
    const bare = signingRate()
    const { perSecond, lateShare, cpuPerThousand, memoryBytes } = await drain(folder, form, dns, waiting)
    const measured = [short(perSecond), short(bare), ratio(perSecond, bare)]
    const queue = [short(waiting.messages), short(waiting.recipients)]
    rows.push([...queue, ...measured, ratio(lateShare, 1), `${short(cpuPerThousand)} s`, megabytes(memoryBytes)])
  }
  const head = [
    'waiting',
    'recipients each',
    'deliveries/s',
    'RSA-2048/s',
    'ratio (aim 0.8)',
    'time of 2nd half ÷ 1st',
    'CPU / 1,000 deliveries',
    'RSS (aim < 250 MB)',
  ]
  printTable('Draining the queue: 4 KiB, signed, straight to a local smtp-server', head, rows)
}
