// Reading: lists and searches on mailboxes of three sizes beside a bare Koa route that returns the same bytes; and what an insert costs as they grow.

import { join } from 'node:path'
import type { FillRequest, FillResult } from './fill.ts'
import type { HouseReady } from './house.ts'
import type { HttpLoad, HttpResult } from './http-load.ts'
import { type Child, startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { printTable, quantile, ratio, short } from './table.ts'

const CONNECTIONS = 16
const DURATION_MS = 3000
const WARM_MS = 500
/** Nobody is asked: mail is put into the store, and reading looks nothing up. */
const NO_DNS = '127.0.0.1:9'

const QUESTIONS = [
  { name: 'threads', path: '/api/v1/mailbox/threads?limit=25' },
  { name: 'threads q=zanzibar (1 of 500)', path: '/api/v1/mailbox/threads?limit=25&q=zanzibar' },
  { name: 'threads q="lantern harbour"', path: '/api/v1/mailbox/threads?limit=25&q=%22lantern%20harbour%22' },
]

interface Box {
  size: number
  key: string
}

async function fill(folder: string, sizes: readonly number[]): Promise<Box[]> {
  await using child = startNode('bench/fill.ts', [], applianceEnv(folder, NO_DNS))
  await child.message()
  const boxes: Box[] = []
  for (const size of sizes) {
    console.log(`  filling a mailbox with ${size.toLocaleString('en')} messages …`)
    child.send({ email: `box${size}@bench.test`, messages: size, stretch: 1000 } satisfies FillRequest)
    const { key, stretches } = await child.message<FillResult>()
    boxes.push({ size, key })
    if (boxes.length === 1) showInsertCost(stretches)
  }
  child.send({ close: true })
  await child.ended
  return boxes
}

/** The largest mailbox is filled first, into an empty house: its first thousand is the measure of its last ones. */
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

async function load(loader: Child, port: number, path: string, key: string): Promise<HttpResult> {
  const form = { port, path, key, connections: CONNECTIONS }
  loader.send({ ...form, duration: WARM_MS } satisfies HttpLoad)
  await loader.message()
  loader.send({ ...form, duration: DURATION_MS } satisfies HttpLoad)
  const result = await loader.message<HttpResult>()
  if (result.refused > 0) throw new Error(`${path} was refused ${result.refused} times.`)
  return result
}

async function loadBare(loader: Child, body: Uint8Array): Promise<HttpResult> {
  await using bare = startNode('bench/bare.ts')
  bare.send({ body })
  const { port } = await bare.message<{ port: number }>()
  // Awaited here: the child ends with this function.
  return await load(loader, port, '/', '')
}

export async function benchReading(folder: string, largest: number): Promise<void> {
  const data = join(folder, 'reading')
  const sizes = [...new Set([largest, 20_000, 1000])].filter((size) => size <= largest)
  const boxes = (await fill(data, sizes)).reverse()
  await using loader = startNode('bench/http-load.ts')
  await loader.message()
  await using house = startNode('bench/house.ts', [], applianceEnv(data, NO_DNS))
  const { app } = await house.message<HouseReady>()
  for (const { name, path } of QUESTIONS) {
    const rows: string[][] = []
    for (const { size, key } of boxes) {
      const reply = await fetch(`http://127.0.0.1:${app}${path}`, { headers: { authorization: `Bearer ${key}` } })
      const body = new Uint8Array(await reply.arrayBuffer())
      const own = await load(loader, app, path, key)
      const bare = await loadBare(loader, body)
      const [rate, bareRate] = [own, bare].map(({ requests, elapsed }) => (requests / elapsed) * 1000) as [
        number,
        number,
      ]
      const p99 = `${short(quantile(own.waits, 0.99))} ms`
      rows.push([
        size.toLocaleString('en'),
        short(body.length),
        short(rate),
        p99,
        short(bareRate),
        ratio(rate, bareRate),
      ])
    }
    const head = ['messages in the mailbox', 'bytes', 'requests/s', 'p99', 'bare Koa', 'Mailstead is']
    printTable(`GET ${name}, ${CONNECTIONS} connections`, head, rows)
  }
  loader.send({ close: true })
}
