// Reading: lists and searches on mailboxes of three sizes compared with a bare Koa route that returns the same bytes; and the cost of an insert as they grow.

import { join } from 'node:path'
import { type Box, fillBoxes } from './boxes.ts'
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

const THREADS = '/api/v1/mailbox/threads?limit='
const FIRST_PAGE = `${THREADS}25`
const QUESTIONS = [
  { name: 'threads', path: FIRST_PAGE },
  { name: 'threads q=zanzibar (1 of 500)', path: `${FIRST_PAGE}&q=zanzibar` },
  { name: 'threads q="lantern harbour"', path: `${FIRST_PAGE}&q=%22lantern%20harbour%22` },
]
/** More pages than the appliance keeps, of any mailbox; lists of other limits have other pages. */
const PAGES = 250
const LIMITS = [25, 24, 26, 23, 27, 22, 28, 21, 29, 20, 30, 19]

type Request = Pick<HttpLoad, 'paths'> & Partial<HttpLoad>

/** What is loaded: the appliance with the key of a mailbox, or the baseline. */
interface Target {
  loader: Child
  port: number
  key: string
}

async function once({ loader, port, key }: Target, request: Request, duration: number): Promise<HttpResult> {
  loader.send({ port, key, connections: CONNECTIONS, duration, ...request } satisfies HttpLoad)
  const result = await loader.message<HttpResult>()
  if (result.refused > 0) throw new Error(`${request.paths[0]} was refused ${result.refused} times.`)
  return result
}

async function load(target: Target, request: Request): Promise<HttpResult> {
  await once(target, request, WARM_MS)
  return once(target, request, DURATION_MS)
}

async function loadBare(loader: Child, body: Uint8Array, request: Partial<HttpLoad> = {}): Promise<HttpResult> {
  await using bare = startNode('bench/bare.ts')
  bare.send({ body })
  const { port } = await bare.message<{ port: number }>()
  // Awaited here: the child ends with this function.
  return await load({ loader, port, key: '' }, { ...request, paths: ['/'] })
}

async function bodyOf({ port, key }: Target, path: string): Promise<Uint8Array> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } })
  return new Uint8Array(await reply.arrayBuffer())
}

/** Requests per second of busy connections: what is done between two requests does not count. */
function rateOf({ requests, waits }: HttpResult, connections: number): number {
  return (connections * requests * 1000) / waits.reduce((sum, wait) => sum + wait, 0)
}

function row(name: string, body: Uint8Array, own: HttpResult, bare: HttpResult, connections = CONNECTIONS): string[] {
  const [rate, bareRate] = [rateOf(own, connections), rateOf(bare, connections)]
  const times = [0.5, 0.99].map((part) => `${short(quantile(own.waits, part))} ms`)
  return [name, short(body.length), short(rate), ...times, short(bareRate), ratio(rate, bareRate)]
}

const COLUMNS = ['bytes', 'requests/s', 'p50', 'p99', 'bare Koa', 'Mailstead is']

/** Pages that are not kept: read for the first time, read after others, and read after a change. */
async function comparePages(target: Target, size: number): Promise<void> {
  const one = { connections: 1 }
  const walks = []
  for (const limit of LIMITS) {
    walks.push(await once(target, { ...one, paths: [`${THREADS}${limit}`], isWalk: true }, DURATION_MS))
    if (walks.flatMap(({ walked }) => walked).length >= PAGES) break
  }
  const first = walks[0]!
  const paths = walks.flatMap(({ walked }) => walked)
  const body = await bodyOf(target, FIRST_PAGE)
  const { data } = JSON.parse(Buffer.from(body).toString()) as { data: { last_message: { id: string } }[] }
  const bodies = ['add', 'remove'].map((what) => JSON.stringify({ [what]: ['$flagged'] }))
  const change = { path: `/api/v1/mailbox/messages/${data[0]!.last_message.id}/keywords`, bodies }
  const changed = await load(target, { ...one, paths: [FIRST_PAGE], change })
  const others = await load(target, { paths: paths.slice(0, 2 * PAGES) })
  const bareOne = await loadBare(target.loader, body, one)
  const rows = [
    row('each for the first time, 1 connection', body, first, bareOne, 1),
    row('the first after a change, 1 connection', body, changed, bareOne, 1),
    row(`each another one, ${CONNECTIONS} connections`, body, others, await loadBare(target.loader, body)),
  ]
  printTable(`Pages of threads that are not kept, ${size.toLocaleString('en')} messages`, ['pages', ...COLUMNS], rows)
}

export async function benchReading(folder: string, form: Form, largest: number): Promise<void> {
  const data = join(folder, 'reading')
  const sizes = [...new Set([largest, 20_000, 1000])].filter((size) => size <= largest)
  const boxes: Box[] = (await fillBoxes(data, sizes)).reverse()
  await using loader = startNode('bench/http-load.ts')
  await loader.message()
  const { child, app } = await startMailstead(form, applianceEnv(data, NO_DNS))
  await using _ = child
  const targetOf = ({ key }: Box): Target => ({ loader, port: app, key })
  const last = boxes.at(-1)!
  await comparePages(targetOf(last), last.size)
  for (const { name, path } of QUESTIONS) {
    const rows: string[][] = []
    for (const box of boxes) {
      const body = await bodyOf(targetOf(box), path)
      const own = await load(targetOf(box), { paths: [path] })
      rows.push(row(box.size.toLocaleString('en'), body, own, await loadBare(loader, body)))
    }
    printTable(`GET ${name}, ${CONNECTIONS} connections`, ['messages in the mailbox', ...COLUMNS], rows)
  }
  loader.send({ close: true })
}
