// The state of the appliance in the text form Prometheus reads: asked of the database when somebody looks, by address or team of nobody.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Registry } from 'prom-client'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { bytes, route } from '../../http/route.ts'
import { COUNTED } from '../../store/metrics/tally.ts'

const HOUR_MS = 3_600_000
const NANOSECONDS = 1e9
const QUANTILES = [50, 99] as const

const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()

/** Everything at this moment. */
async function readMetrics(app: Context): Promise<string> {
  const registry = new Registry()
  const gauge = (name: string, help: string, value: number) => {
    new Gauge({ name: `mailstead_${name}`, help, registers: [registry] }).set(value)
  }
  const counter = (name: string, help: string, value: number) => {
    new Counter({ name: `mailstead_${name}`, help, registers: [registry] }).inc(value)
  }
  await inbound(app, registry)
  await hourly(app, registry)
  await agents(app, registry)
  const { waiting, inHand, oldestDueAt } = await app.outbound.queue.depth()
  gauge('queue_deliveries', 'Deliveries that wait to leave.', waiting)
  gauge('queue_in_hand', 'Deliveries that are being handed over.', inHand)
  const age = oldestDueAt === null ? 0 : Math.max(0, app.clock.now() - oldestDueAt) / 1000
  gauge('queue_oldest_due_seconds', 'How long the oldest due delivery has been due.', age)
  const hooks = await app.eventDispatch.backlog()
  gauge('webhook_events_untold', 'Events nobody has been told of yet.', hooks.undispatched)
  gauge('webhook_deliveries_waiting', 'Tellings that wait, retries included.', hooks.pending)
  gauge('webhook_oldest_due_seconds', 'How long the oldest due telling has been due.', Math.max(0, hooks.lagMs) / 1000)
  for (const [name, { counts }] of Object.entries({ mail: app.db, blobs: app.blobsDb })) {
    counter(`${name}_db_commits_total`, `Transactions committed to ${name}.db by this thread.`, counts.commits)
    counter(
      `${name}_db_units_total`,
      `Units of work in them: divided by the commits, the size of a batch.`,
      counts.units,
    )
    counter(`${name}_db_flushes_total`, `Flushes that made them durable.`, counts.flushes)
    counter(
      `${name}_db_commit_seconds_total`,
      'What the transactions took, waiting for others and commit included: divided by the commits, the time of one.',
      counts.commitMs / 1000,
    )
    counter(`${name}_db_flush_seconds_total`, 'What the flushes took.', counts.flushMs / 1000)
  }
  process(registry, gauge)
  return registry.metrics()
}

async function inbound(app: Context, registry: Registry): Promise<void> {
  const metric = new Gauge({
    name: 'mailstead_inbound_last_hour',
    help: 'Copies of mail that came within the last hour, by what became of them and why.',
    labelNames: ['status', 'reason'],
    registers: [registry],
  })
  const counts = await app.store.inboundLog.counts(app.clock.now() - HOUR_MS)
  for (const { status, reason, count } of counts) metric.set({ status, reason: reason ?? 'none' }, count)
}

/** How deliveries ended is told by "delivered", "failed" and "rejected"; those that have not are in the queue. */
async function hourly(app: Context, registry: Registry): Promise<void> {
  const metric = new Gauge({
    name: 'mailstead_mail_hourly',
    help: 'What happened to recipients of mail in the UTC hour under way and in the one before, as /emails/metrics counts it.',
    labelNames: ['fact', 'hour'],
    registers: [registry],
  })
  const now = Math.floor(app.clock.now() / HOUR_MS)
  for (const [hour, back] of Object.entries({ current: 0, previous: 1 })) {
    const counts = await app.store.reports.ofAll(now - back)
    for (const fact of COUNTED) metric.set({ fact, hour }, counts[fact])
  }
}

async function agents(app: Context, registry: Registry): Promise<void> {
  const metric = new Gauge({
    name: 'mailstead_agents',
    help: 'Registrations of agents, by state.',
    labelNames: ['state'],
    registers: [registry],
  })
  for (const { state, count } of await app.agents.registrations.byState()) metric.set({ state }, count)
}

function process(registry: Registry, gauge: (name: string, help: string, value: number) => void): void {
  const { rss, heapUsed } = globalThis.process.memoryUsage()
  gauge('resident_memory_bytes', 'Memory the process has.', rss)
  gauge('heap_used_bytes', 'Heap of this thread in use.', heapUsed)
  gauge('uptime_seconds', 'Seconds since the start.', globalThis.process.uptime())
  const loop = new Gauge({
    name: 'mailstead_event_loop_delay_seconds',
    help: 'How late the event loop was since the last look.',
    labelNames: ['quantile'],
    registers: [registry],
  })
  for (const quantile of QUANTILES)
    loop.set({ quantile: String(quantile / 100) }, delay.percentile(quantile) / NANOSECONDS)
  delay.reset()
}

export const machineMetrics = route({
  method: 'GET',
  surface: 'operator',
  path: '/metrics',
  operation: 'getMetrics',
  tag: 'Service',
  summary:
    'The state of the appliance in the text form Prometheus reads; scrape it with an operator key as bearer token.',
  as: 'operator',
  produces: ['text/plain'],
  reply: Type.Unknown(),
  async handle({ app }) {
    const text = Buffer.from(await readMetrics(app))
    return bytes({
      type: 'text/plain; version=0.0.4; charset=utf-8',
      sizeBytes: text.length,
      etag: `W/"${app.clock.now().toString(36)}"`,
      async *read(start, end) {
        yield text.subarray(start, end)
      },
    })
  },
})
