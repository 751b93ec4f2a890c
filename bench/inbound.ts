// Receiving: mail from the first byte to readable over the API, compared with an SMTP server that stores nothing and with Postfix and a Maildir.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns } from '../test/support/dns.ts'
import type { ApplianceReady } from './appliance.ts'
import { type Keys, makeKeys, zoneOf } from './mails.ts'
import { postfixMissing, startPostfix } from './postfix.ts'
import { type Child, startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import type { Load, LoadResult } from './smtp-load.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

const BOX = 'box@bench.test'
const LOOK_EVERY_MS = 10
const ARRIVAL_LIMIT_MS = 120_000
/** Sent before anything is measured: code that runs for the first time is slow everywhere. */
const WARM_MESSAGES = 500

interface Shape {
  name: string
  bytes: number
  connections: number
  fresh: boolean
}

/** What is sent to; `arrived` counts the mails that a reader can see. */
interface Target {
  name: string
  child: Child
  port: number
  arrived(): Promise<number>
}

interface Measure {
  perSecond: number
  p99: number
  /** Seconds for 1,000 messages. */
  cpu: number
  /** The first thread's part of it. */
  main: number
  memory: number
}

const SHAPES: Shape[] = [4096, 40960].flatMap((bytes) => [
  { name: `${bytes / 1024} KiB, 20 open connections`, bytes, connections: 20, fresh: false },
  { name: `${bytes / 1024} KiB, 200 new connections at a time`, bytes, connections: 200, fresh: true },
])

async function measure(target: Target, shape: Shape, messages: number, key: string): Promise<Measure> {
  await using loader = startNode('bench/smtp-load.ts')
  const { name: _, ...form } = shape
  loader.send({ ...form, messages, to: BOX, key } satisfies Load)
  await loader.message()
  const [before, used] = [await target.arrived(), target.child.usage()]
  const started = performance.now()
  loader.send({ port: target.port })
  const result = await loader.message<LoadResult>()
  if (result.waits.length < messages) throw new Error(`${target.name} refused mail: ${JSON.stringify(result.refusals)}`)
  while ((await target.arrived()) - before < messages) {
    if (performance.now() - started > ARRIVAL_LIMIT_MS) throw new Error(`${target.name} lost mail.`)
    await pause(LOOK_EVERY_MS)
  }
  const seconds = (performance.now() - started) / 1000
  const usage = target.child.usage()
  return {
    perSecond: messages / seconds,
    p99: quantile(result.waits, 0.99),
    cpu: ((usage.cpuSeconds - used.cpuSeconds) / messages) * 1000,
    main: ((usage.mainSeconds - used.mainSeconds) / messages) * 1000,
    memory: usage.memoryBytes,
  }
}

async function startAppliance(folder: string, dns: string): Promise<Target> {
  const child = startNode('bench/appliance.ts', [BOX], applianceEnv(folder, dns))
  const { smtp, app, keys } = await child.message<ApplianceReady>()
  return {
    name: 'Mailstead',
    child,
    port: smtp,
    async arrived() {
      const reply = await fetch(`http://127.0.0.1:${app}/api/v1/mailbox/folders`, {
        headers: { authorization: `Bearer ${keys[0]}` },
      })
      const { data } = (await reply.json()) as { data: { role: string; total_messages: number }[] }
      return data.find(({ role }) => role === 'inbox')!.total_messages
    },
  }
}

async function startSink(): Promise<Target> {
  const child = startNode('bench/sink.ts')
  const { port } = await child.message<{ port: number }>()
  return { name: 'smtp-server, keeps nothing', child, port, arrived: async () => Number.POSITIVE_INFINITY }
}

async function startComparison(folder: string): Promise<Target> {
  const postfix = await startPostfix(folder, BOX.slice(BOX.indexOf('@') + 1))
  return {
    name: 'Postfix into a Maildir, nothing checked',
    child: postfix.child,
    port: postfix.port,
    arrived: async () => postfix.delivered(),
  }
}

async function measureAll(folder: string, messages: number, keys: Keys): Promise<Map<string, Map<Shape, Measure>>> {
  await using dns = await startDns(zoneOf(keys))
  const missing = postfixMissing()
  if (missing !== null) console.log(`Without Postfix: ${missing}.`)
  const starts = [
    () => startAppliance(join(folder, 'inbound'), dns.address),
    () => startSink(),
    ...(missing === null ? [() => startComparison(join(folder, 'postfix'))] : []),
  ]
  mkdirSync(join(folder, 'postfix'), { mode: 0o755 })
  const all = new Map<string, Map<Shape, Measure>>()
  for (const start of starts) {
    const target = await start()
    await using _ = target.child
    const measures = new Map<Shape, Measure>()
    await measure(target, SHAPES[0]!, WARM_MESSAGES, keys.private)
    for (const shape of SHAPES) measures.set(shape, await measure(target, shape, messages, keys.private))
    all.set(target.name, measures)
  }
  return all
}

export async function benchInbound(folder: string, messages: number): Promise<void> {
  const all = await measureAll(folder, messages, makeKeys())
  const own = all.get('Mailstead')!
  for (const shape of SHAPES) {
    const rows = [...all].map(([name, measures]) => {
      const { perSecond, p99, cpu, main, memory } = measures.get(shape)!
      const share = name === 'Mailstead' ? '' : ratio(own.get(shape)!.perSecond, perSecond)
      return [
        name,
        short(perSecond),
        share,
        `${short(p99)} ms`,
        `${short(cpu)} s`,
        `${short(main)} s`,
        megabytes(memory),
      ]
    })
    const head = [shape.name, 'messages/s', 'Mailstead is', 'p99 of the 250', 'CPU for 1,000', 'first thread', 'memory']
    printTable(`Receiving ${messages.toLocaleString('en')} messages, half of them DKIM-signed`, head, rows)
  }
}
