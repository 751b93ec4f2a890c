// Receiving: messages from the first byte until a search finds them, compared with an SMTP server that stores nothing and with what people run.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns, type Zone } from '../test/support/dns.ts'
import { type HistoryLine, printHistory } from './history.ts'
import { isSigned, type Keys, makeKeys, zoneOf } from './mails.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import type { Load, LoadResult } from './smtp-load.ts'
import { appliancePassed, countFound, countInbox } from './stacks/appliance-reader.ts'
import { BARE_POSTFIX, missingFor, STACKS, startNames } from './stacks/stacks.ts'
import { checkPassed, type Passed, type Target } from './stacks/target.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

const DOMAIN = 'bench.test'
const BOX = `box@${DOMAIN}`
const LOOK_EVERY_MS = 10
const ARRIVAL_LIMIT_MS = 180_000
/**
 * Sent before anything is measured: code that runs for the first time is slow everywhere. V8 still compiles during the first five thousand
 * messages: with fewer of them, here and in a load, the figures are those of the first seconds after a start.
 */
const WARM_MESSAGES = 2000
/** Servers that check and index get fewer messages: their rate does not need more, and they are slow. */
const FEWER = { warm: 100, messages: 300 }
/** Work that a server leaves for later, as the text index, is part of its CPU: it has ended when so little is used. */
const QUIET = { lookMs: 300, cpuSeconds: 0.03, limitMs: 15_000 }

interface Shape {
  name: string
  bytes: number
  connections: number
  fresh: boolean
}

export interface Measure {
  perSecond: number
  p99: number
  /** Seconds for 1,000 messages. */
  cpu: number
  /** The first thread's part of it; NaN for servers of many processes. */
  main: number
  memory: number
}

const SHAPES: Shape[] = [4096, 40960].flatMap((bytes) => [
  { name: `${bytes / 1024} KiB, 20 open connections`, bytes, connections: 20, fresh: false },
  { name: `${bytes / 1024} KiB, 200 new connections at a time`, bytes, connections: 200, fresh: true },
])

const OWN = 'Mailstead'

/** What is measured. */
export interface InboundOptions {
  messages: number
  form: Form
  /** Ids of the stacks to compare with. */
  stacks: readonly string[]
}

interface Started {
  name: string
  /** Whether it gets fewer messages. */
  fewer: boolean
  start(): Promise<Target>
}

interface Result {
  name: string
  measures: Map<Shape, Measure>
  passed: Passed | undefined
}

/** Sends loads to one target and remembers what it must have received. */
class Loads {
  static #number = 0
  readonly sent = { messages: 0, signed: 0 }
  readonly #target: Target
  readonly #name: string
  readonly #key: string

  constructor(target: Target, name: string, key: string) {
    this.#target = target
    this.#name = name
    this.#key = key
  }

  async send(shape: Shape, messages: number): Promise<Measure> {
    const target = this.#target
    await using loader = startNode('bench/smtp-load.ts')
    const { name: _, ...form } = shape
    const word = `zq${Loads.#number++}x`
    loader.send({ ...form, messages, to: BOX, key: this.#key, word } satisfies Load)
    await loader.message()
    const [before, used] = [await target.arrived(), target.usage()]
    const started = performance.now()
    loader.send({ port: target.port })
    const { waits, refusals } = await loader.message<LoadResult>()
    if (waits.length < messages) throw new Error(`${this.#name} refused mail: ${JSON.stringify(refusals)}`)
    await this.#reach(messages, 'delivered', async () => (await target.arrived()) - before)
    if (target.search !== undefined) await this.#reach(messages, 'found', () => target.search!(word))
    const perSecond = (messages / (performance.now() - started)) * 1000
    this.sent.messages += messages
    this.sent.signed += Array.from({ length: messages }, (_, index) => isSigned(index)).filter(Boolean).length
    await becomeQuiet(target)
    const { cpuSeconds, mainSeconds, memoryBytes } = target.usage()
    return {
      perSecond,
      p99: quantile(waits, 0.99),
      cpu: ((cpuSeconds - used.cpuSeconds) / messages) * 1000,
      main: ((mainSeconds - used.mainSeconds) / messages) * 1000,
      memory: memoryBytes,
    }
  }

  async #reach(messages: number, what: string, count: () => Promise<number>): Promise<void> {
    const limit = performance.now() + ARRIVAL_LIMIT_MS
    for (let last = await count(); last < messages; last = await count()) {
      if (performance.now() > limit) throw new Error(`${this.#name}: ${last} of ${messages} messages were ${what}.`)
      await pause(LOOK_EVERY_MS)
    }
  }

  /** @returns what passed the checks. @throws Error when it is not what was sent */
  async check(): Promise<Passed | undefined> {
    const passed = await this.#target.passed?.()
    if (passed !== undefined) checkPassed(this.#name, passed, this.sent)
    return passed
  }
}

async function becomeQuiet(target: Target): Promise<void> {
  const limit = performance.now() + QUIET.limitMs
  for (let last = Number.NEGATIVE_INFINITY, now = target.usage().cpuSeconds; now - last > QUIET.cpuSeconds; ) {
    if (performance.now() > limit) return
    await pause(QUIET.lookMs)
    last = now
    now = target.usage().cpuSeconds
  }
}

async function startAppliance(form: Form, folder: string, dns: string): Promise<Target> {
  const { child, smtp, app, keys } = await startMailstead(form, applianceEnv(folder, dns), [BOX])
  const access = { port: app, key: keys[0]! }
  return {
    port: smtp,
    usage: child.usage,
    arrived: () => countInbox(access),
    search: (word) => countFound(access, word),
    passed: () => appliancePassed(access),
    [Symbol.asyncDispose]: child.stop,
  }
}

async function startSink(): Promise<Target> {
  const child = startNode('bench/sink.ts')
  const { port } = await child.message<{ port: number }>()
  const arrived = async () => Number.POSITIVE_INFINITY
  return { port, usage: child.usage, arrived, [Symbol.asyncDispose]: child.stop }
}

/** @param ids stacks to start; those whose packages are missing are named and left out */
async function stacksOf(folder: string, ids: readonly string[], zone: Zone, open: AsyncDisposableStack) {
  const usable = STACKS.filter((stack) => {
    if (!ids.includes(stack.id)) return false
    const missing = missingFor(stack)
    if (missing !== null) console.log(`Without “${stack.name}”: ${missing}.`)
    return missing === null
  })
  if (usable.length === 0) return []
  const { dns, names } = await startNames(folder, zone)
  open.use(dns)
  return usable.map(({ id, name, checks, start }): Started => {
    const room = join(folder, id)
    mkdirSync(room, { mode: 0o755 })
    return { name, fewer: checks, start: () => start(room, DOMAIN, names) }
  })
}

async function measure({ name, fewer, start }: Started, messages: number, keys: Keys): Promise<Result> {
  const began = performance.now()
  const [warm, each] = fewer ? [FEWER.warm, Math.min(messages, FEWER.messages)] : [WARM_MESSAGES, messages]
  await using target = await start()
  const loads = new Loads(target, name, keys.private)
  const measures = new Map<Shape, Measure>()
  await loads.send(SHAPES[0]!, warm)
  // Checked before the long part as well: without signatures the figures mean nothing.
  await loads.check()
  for (const shape of SHAPES) measures.set(shape, await loads.send(shape, each))
  const passed = await loads.check()
  console.log(
    `  ${name}: ${Math.round((performance.now() - began) / 1000)} s${passed === undefined ? '' : resultsOf(passed)}`,
  )
  return { name, measures, passed }
}

const resultsOf = ({ messages, spf, dkim, dmarc }: Passed) =>
  `; of ${messages} messages ${spf} passed SPF, ${dkim} DKIM and ${dmarc} DMARC`

function showShape(shape: Shape, messages: number, results: readonly Result[]): void {
  const own = results.find(({ name }) => name === OWN)!.measures.get(shape)!
  const rows = results.map(({ name, measures }) => {
    const { perSecond, p99, cpu, main, memory } = measures.get(shape)!
    const cells = [
      `${short(p99)} ms`,
      `${short(cpu)} s`,
      Number.isNaN(main) ? '' : `${short(main)} s`,
      megabytes(memory),
    ]
    return [name, short(perSecond), name === OWN ? '' : ratio(own.perSecond, perSecond), ...cells]
  })
  const head = [shape.name, 'messages/s', 'Mailstead is', 'p99 of the 250', 'CPU for 1,000', 'first thread', 'memory']
  printTable(`Receiving ${messages.toLocaleString('en')} messages, half of them DKIM-signed`, head, rows)
}

function historyOf(results: readonly Result[]): HistoryLine[] {
  const [own, postfix] = [OWN, BARE_POSTFIX].map((name) => results.find((result) => result.name === name))
  return SHAPES.map((shape) => {
    const { perSecond, p99, cpu, main, memory } = own!.measures.get(shape)!
    const base = postfix?.measures.get(shape)?.perSecond ?? Number.NaN
    const [rate, share, wait, used, first] = [perSecond, perSecond / base, p99, cpu, main].map(short)
    const line = { shape: shape.name, perSecond: rate!, ratio: share!, p99: wait!, cpu: used!, main: first! }
    return { ...line, memory: String(Math.round(memory / 1048576)) }
  })
}

/**
 * Measures one target after the other and prints tables and history.
 * @throws Error after the tables, when a stack failed; at once, when the appliance did
 */
export async function benchInbound(folder: string, { messages, form, stacks }: InboundOptions): Promise<void> {
  const keys = makeKeys()
  const zone = zoneOf(keys)
  await using open = new AsyncDisposableStack()
  const dns = open.use(await startDns(zone))
  // As real zones have it: that a top-level domain has no DMARC record is known for a while, and not asked for each message.
  dns.negativeTtl = 3600
  const own = { name: OWN, fewer: false, start: () => startAppliance(form, join(folder, 'inbound'), dns.address) }
  console.log(`Receiving with the ${form} …`)
  const results = [await measure(own, messages, keys)]
  const failures: Error[] = []
  const others = [
    { name: 'smtp-server, keeps nothing', fewer: false, start: startSink },
    ...(await stacksOf(folder, stacks, zone, open)),
  ]
  for (const other of others) {
    try {
      results.push(await measure(other, messages, keys))
    } catch (error) {
      console.error(`  ${other.name} failed: ${(error as Error).message}`)
      failures.push(error as Error)
    }
  }
  for (const shape of SHAPES) showShape(shape, messages, results)
  if (stacks.length > 0) console.log(`\nServers with checks get ${FEWER.messages} messages of each load at most.`)
  printHistory(form, messages, historyOf(results))
  if (failures.length > 0) throw new AggregateError(failures, 'Not every server could be measured.')
}
