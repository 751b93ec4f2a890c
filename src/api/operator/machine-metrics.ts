// Metrics in the Prometheus text format: read from the database at each scrape, and those counted since; without addresses or teams.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Registry } from 'prom-client'
import { Type } from 'typebox'
import { HOUR_MS } from '../../base/durations.ts'
import type { Context } from '../../context.ts'
import { bytes, route } from '../../http/route.ts'
import { COUNTED } from '../../store/log/tally.ts'

const NANOSECONDS = 1e9
const QUANTILES = [50, 99] as const

const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()

/** All metrics at this moment. */
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
  submission(app, registry)
  remotes(app, registry)
  const { queued, leased, oldestDueAt } = await app.outbound.queue.entries.depth()
  gauge('queue_deliveries', 'Deliveries in the queue.', queued)
  gauge('queue_in_hand', 'Deliveries with an attempt in progress.', leased)
  const age = oldestDueAt === null ? 0 : Math.max(0, app.clock.now() - oldestDueAt) / 1000
  gauge('queue_oldest_due_seconds', 'Age of the oldest due delivery since it became due.', age)
  const hooks = await app.eventDispatch.backlog()
  gauge('webhook_events_untold', 'Events not yet dispatched to webhooks.', hooks.undispatched)
  gauge('webhook_deliveries_waiting', 'Pending webhook deliveries, retries included.', hooks.pending)
  gauge(
    'webhook_oldest_due_seconds',
    'Age of the oldest due webhook delivery since it became due.',
    Math.max(0, hooks.lagMs) / 1000,
  )
  const { lastGood, isLate } = await app.maintenance.backups.plan()
  gauge(
    'backup_last_good_timestamp_seconds',
    'When the last good backup was begun; 0 without one.',
    (lastGood?.at ?? 0) / 1000,
  )
  gauge('backup_late', '1 while the last good backup is older than the schedule allows.', isLate ? 1 : 0)
  for (const [name, { counts }] of Object.entries({ mail: app.db, blobs: app.blobsDb })) {
    counter(`${name}_db_commits_total`, `Transactions committed to ${name}.db by this thread.`, counts.commits)
    counter(
      `${name}_db_units_total`,
      'Units of work in them: divided by the commits, the size of a batch.',
      counts.units,
    )
    counter(`${name}_db_flushes_total`, `Flushes that made them durable.`, counts.flushes)
    counter(
      `${name}_db_commit_seconds_total`,
      'Duration of the transactions, waiting and commit included: divided by the commits, the duration of one.',
      counts.commitMs / 1000,
    )
    counter(`${name}_db_flush_seconds_total`, 'Duration of the flushes.', counts.flushMs / 1000)
  }
  process(registry, gauge)
  return [await registry.metrics(), ...(await app.metrics.texts())].join('')
}

async function inbound(app: Context, registry: Registry): Promise<void> {
  const metric = new Gauge({
    name: 'mailstead_inbound_last_hour',
    help: 'Copies of messages received within the last hour, by outcome and reason.',
    labelNames: ['status', 'reason'],
    registers: [registry],
  })
  const counts = await app.store.log.inbound.counts(app.clock.now() - HOUR_MS)
  for (const { status, reason, count } of counts) metric.set({ status, reason: reason ?? 'none' }, count)
}

/** Final outcomes are the events "delivered", "failed" and "rejected"; other deliveries are in the queue. */
async function hourly(app: Context, registry: Registry): Promise<void> {
  const metric = new Gauge({
    name: 'mailstead_mail_hourly',
    help: 'Events of recipients in the current UTC hour and the one before, as /emails/metrics counts them.',
    labelNames: ['fact', 'hour'],
    registers: [registry],
  })
  const now = Math.floor(app.clock.now() / HOUR_MS)
  for (const [hour, back] of Object.entries({ current: 0, previous: 1 })) {
    const counts = await app.store.log.reports.totalsOfHour(now - back)
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

function submission(app: Context, registry: Registry): void {
  const metric = new Counter({
    name: 'mailstead_submission_messages_total',
    help: 'Messages of mail programs since the start, by result: accepted, repeated (accepted before), refused, deferred.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const [result, count] of Object.entries(app.outbound.submit.rawSubmitter.results)) metric.inc({ result }, count)
}

function remotes({ sync, clock }: Context, registry: Registry): void {
  const metric = new Gauge({
    name: 'mailstead_remote_accounts',
    help: 'Outside accounts, by status.',
    labelNames: ['status'],
    registers: [registry],
  })
  for (const [status, count] of sync.accounts.countByStatus()) metric.set({ status }, count)
  const messages = new Counter({
    name: 'mailstead_remote_messages_total',
    help: 'Messages of outside accounts that were stored, by direction: in (here), out (at their servers).',
    labelNames: ['direction'],
    registers: [registry],
  })
  for (const { direction, messages: count } of sync.accounts.carried()) messages.inc({ direction }, count)
  const lag = new Gauge({
    name: 'mailstead_remote_lag_seconds',
    help: 'Time since the outside account that was compared longest ago, of those that are followed, was compared.',
    registers: [registry],
  })
  const at = sync.accounts.comparedLast()
  lag.set(at === null ? 0 : Math.max(0, clock.now() - at) / 1000)
}

function process(registry: Registry, gauge: (name: string, help: string, value: number) => void): void {
  const { rss, heapUsed } = globalThis.process.memoryUsage()
  gauge('resident_memory_bytes', 'Resident memory of the process.', rss)
  gauge('heap_used_bytes', 'Heap of this thread in use.', heapUsed)
  gauge('uptime_seconds', 'Seconds since the process started.', globalThis.process.uptime())
  const loop = new Gauge({
    name: 'mailstead_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last measurement.',
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
  docs: {
    operation: 'getMetrics',
    tag: 'Service',
    summary: 'Get the metrics of the appliance in the Prometheus text format',
    description: 'For a scraper in the machine or its network; the operator listener alone serves it.',
  },
  access: { as: 'operator' },
  reply: { types: ['text/plain'], schema: Type.Unknown() },
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
