// The webhook worker: fans events out to subscriptions and sends due deliveries; a slow endpoint does not delay other subscriptions.

import type { Clock, Timer } from '../../base/clock.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import type { Log } from '../../base/log.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Courier } from './courier.ts'
import type { PendingDeliveries } from './pending.ts'
import type { PendingDelivery } from './records.ts'
import type { Webhooks } from './subscriptions.ts'

/** Concurrent requests to one subscription (docs/design/events.md §3). */
const PER_WEBHOOK = 4
/** Concurrent requests in total. */
const IN_ALL = 400
/** Deliveries claimed ahead for one subscription: at first, and while its endpoint uses them up within {@link QUICK_MS}. */
const AHEAD = 16
const AHEAD_MAX = 512
const QUICK_MS = 1000
/** When this share of the claimed deliveries is left, the next ones are claimed. */
const FEW = 0.25
/** Subscriptions for which deliveries are claimed concurrently. */
const LANES_AT_ONCE = 64
/** Poll interval, ms: the delay after a lost notification. */
const POLL_EVERY_MS = 1000

/** A subscription with due deliveries. */
interface WebhookLane {
  n: number
  inFlight: number
  claimed: PendingDelivery[]
  claiming: boolean
  /** How many are claimed ahead, and when (ms) they were last claimed. */
  ahead: number
  claimedAt: number
}

interface Deps {
  clock: Clock
  log: Log
  notifier: Notifier
  webhooks: Webhooks
  pending: PendingDeliveries
  courier: Courier
}

export class Dispatcher implements Service {
  readonly name = 'webhooks'
  readonly #deps: Deps
  readonly #lanes = new Map<number, WebhookLane>()
  readonly #running = new Set<Promise<void>>()
  readonly #lease = randomName()
  #inFlight = 0
  #polling: Promise<void> | undefined
  #pollAgain = false
  #stopped = false
  #timer: Timer | undefined
  #unlisten: (() => void) | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    const { pending, notifier, clock } = this.#deps
    // Leases of an earlier process: that process has ended.
    await pending.release()
    this.#unlisten = notifier.listen('webhooks', () => this.#poll())
    this.#timer = clock.every(POLL_EVERY_MS, () => this.#poll())
    this.#poll()
  }

  /** Finishes running requests and releases the claimed deliveries that were not sent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    this.#unlisten?.()
    for (const lane of this.#lanes.values()) lane.claimed = []
    await this.#untilIdle()
    await this.#deps.pending.release(this.#lease)
  }

  /** Resolves when nothing is due and no request is running. */
  async settle(): Promise<void> {
    for (;;) {
      this.#poll()
      await this.#untilIdle()
      const { pending } = this.#deps
      if (pending.countUndispatched() === 0 && pending.due().length === 0 && this.#running.size === 0) return
    }
  }

  async #untilIdle(): Promise<void> {
    while (this.#polling !== undefined || this.#running.size > 0) {
      await this.#polling
      await Promise.all(this.#running)
    }
  }

  #poll(): void {
    this.#pollAgain = true
    this.#polling ??= this.#pollUntilIdle()
      .catch((error: unknown) =>
        this.#deps.log.error({ event: 'webhook.poll_failed', err: error }, 'Polling for webhook deliveries failed'),
      )
      .finally(() => {
        this.#polling = undefined
      })
  }

  async #pollUntilIdle(): Promise<void> {
    while (this.#pollAgain && !this.#stopped) {
      this.#pollAgain = false
      const { more } = await this.#deps.pending.fanOut()
      if (more) this.#pollAgain = true
      const due = this.#deps.pending.due()
      for (let at = 0; at < due.length; at += LANES_AT_ONCE) {
        await this.#fill(due.slice(at, at + LANES_AT_ONCE).map((n) => this.#laneOf(n)))
      }
    }
  }

  #laneOf(n: number): WebhookLane {
    const lane = this.#lanes.get(n) ?? {
      ...{ n, inFlight: 0, claimed: [], claiming: false, ahead: AHEAD, claimedAt: 0 },
    }
    this.#lanes.set(n, lane)
    return lane
  }

  /** Claims deliveries of the subscriptions that have few left, in one unit of work. */
  async #fill(all: readonly WebhookLane[]): Promise<void> {
    const lanes = all.filter((lane) => lane.claimed.length <= lane.ahead * FEW && !lane.claiming)
    if (lanes.length === 0 || this.#stopped) return
    for (const lane of lanes) lane.claiming = true
    try {
      const enabled: WebhookLane[] = []
      for (const lane of lanes) {
        if (this.#deps.webhooks.byN(lane.n)?.status === 'enabled') enabled.push(lane)
        else await this.#deps.pending.dropFor(lane.n)
      }
      if (enabled.length > 0) await this.#claim(enabled)
    } finally {
      for (const lane of lanes) {
        lane.claiming = false
        if (lane.inFlight === 0 && lane.claimed.length === 0) this.#lanes.delete(lane.n)
      }
    }
  }

  async #claim(lanes: readonly WebhookLane[]): Promise<void> {
    const { pending, clock } = this.#deps
    const now = clock.now()
    for (const lane of lanes) {
      const isQuick = now - lane.claimedAt < QUICK_MS
      lane.ahead = isQuick ? Math.min(lane.ahead * 2, AHEAD_MAX) : AHEAD
      lane.claimedAt = now
    }
    const requests = lanes.map(({ n, ahead, claimed }) => ({ webhook: n, limit: ahead - claimed.length }))
    const claimed = await pending.claim(requests, this.#lease)
    for (const lane of lanes) lane.claimed.push(...(claimed.get(lane.n) ?? []))
    this.#serve()
  }

  /** Starts requests round-robin over the subscriptions, so that a silent endpoint does not block the others. */
  #serve(): void {
    for (const lane of [...this.#lanes.values()]) {
      while (lane.inFlight < PER_WEBHOOK && lane.claimed.length > 0 && this.#inFlight < IN_ALL && !this.#stopped) {
        this.#begin(lane, lane.claimed.shift()!)
        // Move it to the end of the round.
        this.#lanes.delete(lane.n)
        this.#lanes.set(lane.n, lane)
      }
    }
  }

  #begin(lane: WebhookLane, delivery: PendingDelivery): void {
    lane.inFlight++
    this.#inFlight++
    const work = this.#deliver(lane, delivery)
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  async #deliver(lane: WebhookLane, delivery: PendingDelivery): Promise<void> {
    const { webhooks, courier, log } = this.#deps
    let writeOutcome: (() => Promise<void>) | undefined
    try {
      // Read for each request: the subscription may have been disabled or got another URL since the claim.
      const to = webhooks.target(lane.n)
      if (to?.webhook.status === 'enabled') writeOutcome = await courier.send(to, delivery)
      else lane.claimed = []
    } catch (error) {
      log.error({ event: 'webhook.send_failed', err: error, event_id: delivery.event.id }, 'Webhook request failed')
    } finally {
      lane.inFlight--
      this.#inFlight--
      this.#serve()
    }
    if (lane.claimed.length <= lane.ahead * FEW) this.#poll()
    // The next request does not wait for the disk.
    await writeOutcome?.().catch((error: unknown) =>
      log.error(
        { event: 'webhook.outcome_write_failed', err: error, event_id: delivery.event.id },
        'Outcome of a webhook request could not be stored',
      ),
    )
    // A retry may be due soon, or this delivery was the last one that kept the lane from claiming more.
    if (lane.claimed.length === 0) this.#poll()
  }
}
