// Webhooks: the latency of one event and the throughput of many, compared with an HTTP client that posts the same bytes and stores nothing.

import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Agent, request } from 'undici'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Context, openContext } from '../src/context.ts'
import { startDns } from '../test/support/dns.ts'
import { type Hook, startHook } from '../test/support/hook.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable, quantile, ratio, short } from './table.ts'

const RECEIVERS = 4
const PER_RECEIVER = 4
const PROBES = 100
/** Sent before anything is measured, by both ways. */
const WARM_EVENTS = 1000
/** About the size of an event for a delivered message. */
const DATA = { recipient: 'ana@customer.example', subject: 'Your order', padding: 'x'.repeat(400) }

async function happen(app: Context, teamId: string, count: number): Promise<void> {
  const about = { teamId, type: 'message.delivered' as const, mailboxId: null, domainId: null, at: app.clock.now() }
  await app.db.write((tx) => {
    for (let i = 0; i < count; i++) app.outbox.record(tx, { ...about, data: DATA })
  })
}

/** From the commit of an event to the request at its receiver, ms, at rest. */
async function probe(app: Context, teamId: string, hook: Hook): Promise<number[]> {
  const waits: number[] = []
  for (let i = 0; i < PROBES; i++) {
    const next = hook.next()
    await happen(app, teamId, 1)
    const began = performance.now()
    await next
    waits.push(performance.now() - began)
  }
  return waits
}

/** Requests of one way, all receivers together. */
interface Sent {
  perSecond: number
  /** CPU of this thread, with the receivers in it: seconds for 1,000 requests. */
  cpu: number
}

async function timed(requests: number, work: () => Promise<void>): Promise<Sent> {
  const [began, used] = [performance.now(), process.threadCpuUsage()]
  await work()
  const { user, system } = process.threadCpuUsage(used)
  return { perSecond: requests / ((performance.now() - began) / 1000), cpu: (user + system) / 1000 / requests }
}

/** The bare client sends `count` requests to each receiver. */
async function sendBare(hooks: readonly Hook[], count: number): Promise<Sent> {
  // Only the benchmark's own name server knows these names.
  const here: LookupFunction = (_host, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
  const agent = new Agent({ connections: PER_RECEIVER, connect: { lookup: here } })
  const body = JSON.stringify(DATA)
  const post = async (hook: Hook) => {
    const answer = await request(hook.url(), { method: 'POST', body, dispatcher: agent })
    await answer.body.dump()
  }
  const perConnection = count / PER_RECEIVER
  const connections = hooks.flatMap((hook) => Array<Hook>(PER_RECEIVER).fill(hook))
  const sent = await timed(hooks.length * count, async () => {
    await Promise.all(
      connections.map(async (hook) => {
        for (let i = 0; i < perConnection; i++) await post(hook)
      }),
    )
  })
  await agent.destroy()
  return sent
}

/** @param events sent to each of four receivers */
export async function benchWebhooks(folder: string, events: number): Promise<void> {
  const names = Array.from({ length: RECEIVERS }, (_, i) => `hook${i}.test`)
  await using dns = await startDns(Object.fromEntries(names.map((name) => [name, { A: ['127.0.0.1'], ttl: 3600 }])))
  const hooks = await Promise.all(names.map((name) => startHook(name)))
  const trusted = hooks.map(({ caFile }) => readFileSync(caFile, 'utf8'))
  setDefaultCACertificates([...getCACertificates('default'), ...trusted])
  const env = { ...applianceEnv(join(folder, 'webhooks'), dns.address), ALLOW_PRIVATE_WEBHOOKS: 'true' }
  const app = await openContext(loadConfig(env, join(folder, 'none.json')), { log: openLog('error') })
  const team = await app.directory.teams.create({ name: 'Bench' })
  const dispatcher = app.eventDispatch.dispatcher()
  await dispatcher.start()
  const subscribe = (hook: Hook) =>
    app.eventDispatch.webhooks.create(team.id, { url: hook.url(), eventTypes: ['*'], setBy: 'operator' })
  await subscribe(hooks[0]!)
  const waits = await probe(app, team.id, hooks[0]!)
  for (const hook of hooks.slice(1)) await subscribe(hook)
  const send = async (count: number) => {
    // Receivers keep what they get.
    for (const hook of hooks) hook.requests.length = 0
    for (let left = count; left > 0; left -= 500) await happen(app, team.id, Math.min(500, left))
    return timed(RECEIVERS * count, () => dispatcher.settle())
  }
  await sendBare(hooks, WARM_EVENTS)
  await send(WARM_EVENTS)
  const own = await send(events)
  const memory = process.memoryUsage().rss
  await dispatcher.stop()
  const ceiling = await sendBare(hooks, events)
  await app.close()
  for (const hook of hooks) await hook[Symbol.asyncDispose]()
  printTable(
    'An event committed until its request is there, at rest',
    ['', 'median (aim 50 ms)', 'p99'],
    [['one receiver', `${short(quantile(waits, 0.5))} ms`, `${short(quantile(waits, 0.99))} ms`]],
  )
  const head = ['events', 'receivers', 'events/s', 'bare/s', 'ratio (aim 0.5)', 'CPU for 1,000', 'bare', 'ratio', 'RSS']
  const rates = [short(own.perSecond), short(ceiling.perSecond), ratio(own.perSecond, ceiling.perSecond)]
  const cpu = [`${short(own.cpu)} s`, `${short(ceiling.cpu)} s`, ratio(ceiling.cpu, own.cpu)]
  const row = [short(events), String(RECEIVERS), ...rates, ...cpu, megabytes(memory)]
  printTable('Many events to four receivers', head, [row])
}
