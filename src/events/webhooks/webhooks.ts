// Wires the event dispatch: subscriptions, the delivery queue, the courier and the worker.

import { type Clock, isoTime } from '../../base/clock.ts'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Resolver } from '../../base/resolver.ts'
import { SafeFetch } from '../../base/safe-fetch.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import { isTrial } from '../../config/reserved-names.ts'
import type { Db } from '../../db/db.ts'
import type { Outbox } from '../outbox.ts'
import { Attempts } from './attempts.ts'
import { Courier } from './courier.ts'
import { Dispatcher } from './dispatcher.ts'
import { PendingDeliveries } from './pending.ts'
import { Payload, type TeamAttempt, type Webhook } from './records.ts'
import { type WebhookInput, Webhooks } from './subscriptions.ts'

/** Events that one request delivers again. */
export const REPLAYED_MAX = 1000
/** Attempts listed for the events of one delivery. */
const TEAM_ATTEMPTS_MAX = 200

export interface EventDispatchDeps {
  db: Db
  clock: Clock
  guard: ClockDoubt
  log: Log
  config: Config
  vault: Vault
  resolver: Resolver
  notifier: Notifier
  outbox: Outbox
}

export class EventDispatch {
  readonly webhooks: Webhooks
  readonly attempts: Attempts
  readonly #deps: EventDispatchDeps
  readonly #fetch: SafeFetch
  readonly #pending: PendingDeliveries
  readonly #courier: Courier

  constructor(deps: EventDispatchDeps) {
    const { db, config, log, resolver } = deps
    this.#deps = deps
    this.#fetch = new SafeFetch({
      resolver,
      log,
      allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS,
      allowLoopback: isTrial(config),
    })
    this.webhooks = new Webhooks({ ...deps, fetch: this.#fetch })
    this.attempts = new Attempts(db)
    this.#pending = new PendingDeliveries({ ...deps, webhooks: this.webhooks })
    const { webhooks, attempts } = this
    const payloadDays = config.WEBHOOK_PAYLOAD_RETENTION_DAYS
    this.#courier = new Courier({
      ...deps,
      fetch: this.#fetch,
      webhooks,
      attempts,
      pending: this.#pending,
      payloadDays,
    })
  }

  /** Creates the worker; one per appliance. */
  dispatcher(): Dispatcher {
    return new Dispatcher({ ...this.#deps, webhooks: this.webhooks, pending: this.#pending, courier: this.#courier })
  }

  /**
   * Updates a subscription. Enabling it again drops the deliveries that were pending when it was disabled.
   * @throws ProductError what {@link Webhooks.update} throws
   */
  async update(
    teamId: string,
    id: string,
    input: WebhookInput,
    precondition: (current: Webhook) => void,
  ): Promise<Webhook> {
    const before = this.webhooks.get(teamId, id)
    if (before?.status === 'disabled' && input.enabled === true) await this.#pending.dropFor(before.n)
    return this.webhooks.update(teamId, id, input, precondition)
  }

  /**
   * Sends a `service.test` event to one subscription now, and waits for the response.
   * @param triggeredBy id of the API key
   * @returns the ids of the event and of the attempt
   * @throws ProductError conflict when the subscription is disabled
   */
  async test(webhook: Webhook, triggeredBy: string): Promise<{ eventId: string; attemptId: string }> {
    if (webhook.status !== 'enabled') throw conflict('The webhook is disabled. Enable it first.')
    const { db, clock, outbox } = this.#deps
    const event = await db.write((tx) =>
      outbox.recordDispatched(tx, {
        teamId: webhook.teamId,
        type: 'service.test',
        mailboxId: null,
        domainId: null,
        at: clock.now(),
        data: { message: 'Test event', triggered_by: triggeredBy },
      }),
    )
    return {
      eventId: event.id,
      attemptId: await this.#courier.test(webhook, { ...event, payload: new Payload(event.body) }),
    }
  }

  /** Resets the times of pending deliveries after the clock was wrong. */
  async reschedule(): Promise<void> {
    await this.#pending.reschedule()
    this.#deps.notifier.notify('webhooks')
  }

  /** Undispatched events, pending deliveries, and for how long (ms) the oldest has been due. */
  async backlog(): Promise<{ undispatched: number; pending: number; lagMs: number }> {
    return { undispatched: this.#pending.countUndispatched(), ...(await this.#pending.backlog()) }
  }

  /**
   * Delivers the event of an attempt again, with a new series of attempts.
   * @returns the event, and when the first attempt is due (ISO 8601)
   * @throws ProductError not_found, conflict (the payload has expired, the subscription is disabled, or not sent such events)
   */
  async replay(webhook: Webhook, attemptId: string): Promise<{ eventId: string; scheduledAt: string }> {
    const { db, clock, notifier } = this.#deps
    const attempt = this.attempts.get(webhook.n, attemptId, clock.now())
    if (attempt === undefined) throw notFound('webhook delivery')
    if (webhook.status !== 'enabled') throw conflict('The webhook is disabled. Enable it first.')
    if (attempt.payload === null) throw conflict('The payload of this delivery has expired.')
    await db.write((tx) => {
      this.#pending.requeue(tx, webhook, attempt.event)
      tx.afterCommit(() => notifier.notify('webhooks'))
    })
    return { eventId: attempt.eventId, scheduledAt: isoTime(clock.now()) }
  }

  /**
   * The number of events that were not delivered and can be delivered again, at most {@link REPLAYED_MAX}.
   * @param since ms, when the last attempt ended
   */
  async failedEvents(webhook: Webhook, since: number): Promise<{ events: number; hasMore: boolean }> {
    const failed = await this.attempts.failedEvents(webhook, since, this.#deps.clock.now(), REPLAYED_MAX + 1)
    return { events: Math.min(failed.length, REPLAYED_MAX), hasMore: failed.length > REPLAYED_MAX }
  }

  /**
   * Delivers the events that were not delivered again, each with a new series of attempts, the oldest first.
   * @returns the number of events, and whether there are more
   * @throws ProductError conflict when the subscription is disabled
   */
  async replayFailed(webhook: Webhook, since: number): Promise<{ events: number; hasMore: boolean }> {
    if (webhook.status !== 'enabled') throw conflict('The webhook is disabled. Enable it first.')
    const { db, clock, notifier } = this.#deps
    const failed = await this.attempts.failedEvents(webhook, since, clock.now(), REPLAYED_MAX + 1)
    const events = await db.write((tx) => {
      tx.afterCommit(() => notifier.notify('webhooks'))
      return this.#pending.requeueAll(tx, webhook.n, failed.slice(0, REPLAYED_MAX))
    })
    return { events, hasMore: failed.length > REPLAYED_MAX }
  }

  /** The attempts to deliver some events to the subscriptions of a team, oldest first. */
  attemptsOf(teamId: string, eventIds: readonly string[]): TeamAttempt[] {
    const webhooks = new Map(this.webhooks.allOf(teamId).map((webhook) => [webhook.n, webhook]))
    const attempts = this.attempts.ofEvents([...webhooks.values()], eventIds, TEAM_ATTEMPTS_MAX)
    return attempts.map((attempt) => {
      const { id, url } = webhooks.get(attempt.webhook)!
      return { ...attempt, webhookId: id, url }
    })
  }

  /** Deletes attempts older than `before` (ms) and orphaned deliveries. @returns how many */
  async prune(before: number): Promise<number> {
    return (await this.attempts.prune(before)) + (await this.#pending.dropOrphans())
  }

  async close(): Promise<void> {
    await this.#fetch.close()
  }
}
