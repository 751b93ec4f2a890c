// Everything that tells outside, put together.

import { type Clock, isoTime } from '../../base/clock.ts'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import { conflict, notFound } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Wake } from '../../base/notifier.ts'
import type { Resolver } from '../../base/resolver.ts'
import { SafeFetch } from '../../base/safe-fetch.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../db/db.ts'
import type { Outbox } from '../outbox.ts'
import { Attempts } from './attempts.ts'
import { Courier } from './courier.ts'
import { Dispatcher } from './dispatcher.ts'
import { Waiting } from './pending.ts'
import type { Webhook } from './records.ts'
import { type WebhookInput, Webhooks } from './subscriptions.ts'

export interface TellingParts {
  db: Db
  clock: Clock
  guard: ClockDoubt
  log: Log
  config: Config
  vault: Vault
  resolver: Resolver
  wake: Wake
  outbox: Outbox
}

export class Telling {
  readonly webhooks: Webhooks
  readonly attempts: Attempts
  readonly #parts: TellingParts
  readonly #fetch: SafeFetch
  readonly #waiting: Waiting
  readonly #courier: Courier

  constructor(parts: TellingParts) {
    const { db, config } = parts
    this.#parts = parts
    this.#fetch = new SafeFetch({ resolver: parts.resolver, allowPrivate: config.ALLOW_PRIVATE_WEBHOOKS })
    this.webhooks = new Webhooks({ ...parts, fetch: this.#fetch })
    this.attempts = new Attempts(db)
    this.#waiting = new Waiting({ ...parts, webhooks: this.webhooks })
    const { webhooks, attempts } = this
    const payloadDays = config.WEBHOOK_PAYLOAD_RETENTION_DAYS
    this.#courier = new Courier({
      ...parts,
      fetch: this.#fetch,
      webhooks,
      attempts,
      waiting: this.#waiting,
      payloadDays,
    })
  }

  /** The worker; one in a house. */
  dispatcher(): Dispatcher {
    return new Dispatcher({ ...this.#parts, webhooks: this.webhooks, waiting: this.#waiting, courier: this.#courier })
  }

  /**
   * Changes a subscription. One that is switched on again is not told what waited when it was switched off.
   * @throws ProductError what {@link Webhooks.update} throws
   */
  async update(
    teamId: string,
    id: string,
    input: WebhookInput,
    precondition: (current: Webhook) => void,
  ): Promise<Webhook> {
    const before = await this.webhooks.get(teamId, id)
    if (before?.status === 'disabled' && input.enabled === true) await this.#waiting.dropUnwanted(before.n)
    return this.webhooks.update(teamId, id, input, precondition)
  }

  /**
   * Tells a `service.test` event to one subscription now, and waits for the answer.
   * @param triggeredBy the key that asked
   * @returns the ids of the event and of the attempt
   * @throws ProductError conflict when the subscription is disabled
   */
  async test(webhook: Webhook, triggeredBy: string): Promise<{ eventId: string; attemptId: string }> {
    if (webhook.status !== 'enabled') throw conflict('The webhook is disabled.')
    const { db, clock, outbox } = this.#parts
    const event = await db.write((tx) =>
      outbox.recordTold(tx, {
        teamId: webhook.teamId,
        type: 'service.test',
        mailboxId: null,
        domainId: null,
        at: clock.now(),
        data: { message: 'Test event', triggered_by: triggeredBy },
      }),
    )
    return { eventId: event.id, attemptId: await this.#courier.test(webhook, event) }
  }

  /** Mends the times of what waits after the clock was wrong. */
  async redate(): Promise<void> {
    await this.#waiting.redate()
    this.#parts.wake.ring('webhooks')
  }

  /** What is still to be told: events, tellings of them, and how late (ms) the oldest is. */
  async backlog(): Promise<{ untold: number; waiting: number; lagMs: number }> {
    return { untold: await this.#waiting.untold(), ...(await this.#waiting.backlog()) }
  }

  /**
   * Tells the event of an attempt once more, as a new series of tries.
   * @returns the event, and when the first try is due (ISO 8601)
   * @throws ProductError not_found, conflict (the payload has expired, or the subscription is disabled)
   */
  async replay(webhook: Webhook, attemptId: string): Promise<{ eventId: string; scheduledAt: string }> {
    const { db, clock, wake } = this.#parts
    const attempt = await this.attempts.get(webhook.n, attemptId, clock.now())
    if (attempt === undefined) throw notFound('webhook delivery')
    if (webhook.status !== 'enabled') throw conflict('The webhook is disabled.')
    if (attempt.payload === null) throw conflict('The payload of this delivery has expired.')
    await db.write(async (tx) => {
      await this.#waiting.again(tx, webhook.n, attempt.event)
      tx.afterCommit(() => wake.ring('webhooks'))
    })
    return { eventId: attempt.eventId, scheduledAt: isoTime(clock.now()) }
  }

  /** Erases what has been kept long enough. @returns how many attempts and waiting events */
  async prune(before: number): Promise<number> {
    return (await this.attempts.prune(before)) + (await this.#waiting.dropOrphans())
  }

  async close(): Promise<void> {
    await this.#fetch.close()
  }
}
