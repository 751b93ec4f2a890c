// Reading: lists and searches on mailboxes of three sizes compared with a bare Koa route that returns the same bytes; and the cost of an insert as they grow.

import { join } from 'node:path'
import { fillBoxes } from './boxes.ts'
import type { HttpLoad, HttpResult } from './http-load.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { type Child, startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { printTable, quantile, ratio, short } from './table.ts'

const CONNECTIONS = 16
const DURATION_MS = 3000
/** Code that runs for the first time is slow. */
const WARM_MS = 1500
/** No DNS server is needed: messages are written to the store, and reading makes no DNS queries. */
const NO_DNS = '127.0.0.1:9'

const QUESTIONS = [
  { name: 'threads', path: '/api/v1/mailbox/threads?limit=25' },
  { name: 'threads q=zanzibar (1 of 500)', path: '/api/v1/mailbox/threads?limit=25&q=zanzibar' },
  { name: 'threads q="lantern harbour"', path: '/api/v1/mailbox/threads?limit=25&q=%22lantern%20harbour%22' },
]

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

export async function benchReading(folder: string, form: Form, largest: number): Promise<void> {
  const data = join(folder, 'reading')
  const sizes = [...new Set([largest, 20_000, 1000])].filter((size) => size <= largest)
  const boxes = (await fillBoxes(data, sizes)).reverse()
  await using loader = startNode('bench/http-load.ts')
  await loader.message()
  const { child, app } = await startMailstead(form, applianceEnv(data, NO_DNS))
  await using _ = child
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
