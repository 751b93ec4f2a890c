// One mailbox: the cost of each request in a small and a large mailbox, alone and right after a change, compared with a bare Koa route.

import { join } from 'node:path'
import { type Box, fillBoxes } from './boxes.ts'
import { type Form, startMailstead } from './mailstead.ts'
import { type Child, startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { printTable, quantile, ratio, short } from './table.ts'
import type { Turn, Turns, TurnsResult } from './turns.ts'

const SMALL = 20_000
/** Sizes alternate, so that other load on the machine affects both. */
const ROUNDS = 5
const PER_ROUND = 60
const WARM = 10
/** Time after which no further round of a request starts. */
const PATIENCE_MS = 30_000
const BATCH = 100
/** No DNS server is needed: messages are written to the store, and reading makes no DNS queries. */
const NO_DNS = '127.0.0.1:9'
/** Targets: the 99th percentile in ms, and its allowed ratio in the large mailbox. */
const P99_MS = 20
const GROWTH = 1.5

/** A mailbox, and what the requests need to know about it. */
interface Known extends Box {
  /** Ids of messages spread over the mailbox. */
  ids: string[]
  since: string
}

type Ask = (box: Known, index: number) => Turn

const get = (path: string): Turn => ({ method: 'GET', path: `/api/v1/mailbox/${path}`, body: '' })
const search = (q: string, list = 'messages') => get(`${list}?limit=25&q=${encodeURIComponent(q)}`)
const monthsAgo = (months: number) =>
  new Date(Date.now() - months * 30 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)

const QUESTIONS: Record<string, Ask> = {
  'list of messages': () => get('messages?limit=25'),
  'list of threads': () => get('threads?limit=25'),
  'detail of a message': ({ ids }, index) => get(`messages/${ids[(index * 7) % ids.length]}`),
  'changes (100)': ({ since }) => get(`messages/changes?limit=100&since_state=${since}`),
  'count of all': () => get('messages/count'),
  'count of unread': () => get('messages/count?is_unread=true'),
  'count q=zanzibar (1 of 500)': () => get('messages/count?q=zanzibar'),
  'q=zanzibar (1 of 500)': () => search('zanzibar'),
  'threads q=zanzibar': () => search('zanzibar', 'threads'),
  'q=lantern (nearly all)': () => search('lantern'),
  'q=lan* (nearly all)': () => search('lan*'),
  'q="lantern harbour" (1 of 10)': () => search('"lantern harbour"'),
  'q=会议 (1 of 20)': () => search('会议'),
  'q=subject:lantern after: (a month)': () => search(`subject:lantern after:${monthsAgo(1)}`),
  'q=subject:lantern before: (a year)': () => search(`subject:lantern before:${monthsAgo(12)}`),
  'q=lantern -harbour': () => search('lantern -harbour'),
  [`batch update of ${BATCH}`]: ({ ids }, index) => update(ids.slice(0, BATCH), index),
}

/** Alternates the change, because repeating it would change nothing. */
function update(ids: readonly string[], index: number): Turn {
  const member = index % 2 === 0 ? 'add_keywords' : 'remove_keywords'
  const body = JSON.stringify({ ids, [member]: ['bench'] })
  return { method: 'POST', path: '/api/v1/mailbox/messages/batch-update', body }
}

/** Each request follows a change of one message, so that cached lists do not help. */
function turnsOf(ask: Ask, box: Known, from: number, count: number): Turn[] {
  return Array.from({ length: count }, (_, i) => [update([box.ids[0]!], from + i), ask(box, from + i)]).flat()
}

async function take(child: Child, turns: Turns): Promise<{ waits: number[]; bytes: number }> {
  child.send(turns)
  const result = await child.message<TurnsResult>()
  if (result.refused !== null) throw new Error(`The bench was refused: ${result.refused}`)
  return { waits: result.waits.filter((_, index) => index % 2 === 1), bytes: result.bytes }
}

/** Ids of messages spread over a mailbox, and the state before the last hundred of them changed. */
async function know(port: number, box: Box): Promise<Known> {
  const call = async (turn: Turn) => {
    const headers = { authorization: `Bearer ${box.key}`, 'content-type': 'application/json' }
    const body = turn.method === 'GET' ? null : turn.body
    const reply = await fetch(`http://127.0.0.1:${port}${turn.path}`, { method: turn.method, headers, body })
    // biome-ignore lint/suspicious/noExplicitAny: a reply of the API, of which two members are read
    return (await reply.json()) as any
  }
  const ids: string[] = []
  let since = ''
  for (const months of [0, 3, 6, 9, 12, 15, 18, 21]) {
    const page = await call(get(`messages?limit=100&before=${months === 0 ? '2999-01-01' : monthsAgo(months)}`))
    ids.push(...page.data.map(({ id }: { id: string }) => id))
    since = page.meta.state
  }
  await call(update(ids.slice(0, BATCH), 1))
  await call(update(ids.slice(0, BATCH), 0))
  return { ...box, ids, since }
}

interface Measured {
  name: string
  bytes: number
  /** ms, by mailbox, and of the bare route. */
  waits: number[][]
  bare: number[]
}

async function measure(name: string, ask: Ask, boxes: readonly Known[], port: number, child: Child): Promise<Measured> {
  const waits: number[][] = boxes.map(() => [])
  let bytes = 0
  for (const box of boxes) {
    const warm = await take(child, { port, key: box.key, turns: turnsOf(ask, box, 0, WARM) })
    bytes = warm.bytes
  }
  await using bare = startNode('bench/bare.ts')
  bare.send({ body: new Uint8Array(bytes).fill(0x20) })
  const { port: barePort } = await bare.message<{ port: number }>()
  const plain = { port: barePort, key: '', turns: Array(PER_ROUND * 2).fill(get('')) }
  const beside: number[] = []
  await take(child, plain)
  const end = performance.now() + PATIENCE_MS
  for (let round = 0; round < ROUNDS && performance.now() < end; round++) {
    for (const [at, box] of boxes.entries()) {
      const turns = turnsOf(ask, box, round * PER_ROUND, PER_ROUND)
      waits[at]!.push(...(await take(child, { port, key: box.key, turns })).waits)
    }
    beside.push(...(await take(child, plain)).waits)
  }
  return { name, bytes, waits, bare: beside }
}

function show(measured: readonly Measured[], boxes: readonly Known[]): void {
  const ms = (waits: readonly number[], share: number) => short(quantile(waits, share))
  const rows = measured.map(({ name, bytes, waits, bare }) => {
    const [small, large] = [waits[0]!, waits.at(-1)!]
    const cells = waits.flatMap((each) => [ms(each, 0.5), ms(each, 0.99)])
    const growth = [0.5, 0.99].map((share) => ratio(quantile(large, share), quantile(small, share)))
    return [name, short(bytes), ...cells, ...growth, ms(bare, 0.5), ms(bare, 0.99)]
  })
  const sizes = boxes.flatMap(({ size }) => [`${size / 1000}k p50`, 'p99'])
  const head = ['ms, one after the other', 'bytes', ...sizes, 'p50 grew', 'p99 grew', 'bare p50', 'p99']
  printTable(`One mailbox, each question right after a change (${ROUNDS * PER_ROUND} times)`, head, rows)
  const slow = measured.filter(({ waits }) => waits.some((each) => quantile(each, 0.99) >= P99_MS))
  const grown = measured.filter(({ waits }) => quantile(waits.at(-1)!, 0.5) > GROWTH * quantile(waits[0]!, 0.5))
  const names = (found: readonly Measured[]) => found.map(({ name }) => name).join(', ') || 'none'
  console.log(`p99 of ${P99_MS} ms or more: ${names(slow)}`)
  console.log(`p50 grew by more than ${GROWTH} ×: ${names(grown)}`)
}

export async function benchMailbox(folder: string, form: Form, largest: number): Promise<void> {
  const data = join(folder, 'mailbox')
  const sizes = [...new Set([largest, SMALL])].filter((size) => size <= largest)
  const filled = await fillBoxes(data, sizes)
  await askBoxes(data, form, filled.reverse())
}

/** @param filled mailboxes of the appliance in that folder, the smallest first */
export async function askBoxes(data: string, form: Form, filled: readonly Box[]): Promise<void> {
  await using child = startNode('bench/turns.ts')
  await child.message()
  const { child: appliance, app } = await startMailstead(form, applianceEnv(data, NO_DNS))
  await using _ = appliance
  const boxes: Known[] = []
  for (const box of filled) boxes.push(await know(app, box))
  const measured: Measured[] = []
  for (const [name, ask] of Object.entries(QUESTIONS)) measured.push(await measure(name, ask, boxes, app, child))
  show(measured, boxes)
  child.send({ close: true })
}
