// The change feed: notifies subscribers of an account that it changed. One listener and one poller per process serve all of them.

import type { Clock, Timer } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Service } from '../../base/lifecycle.ts'
import type { Log } from '../../base/log.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { ReceivedEvents, ReceivedMessage } from '../../events/received-events.ts'
import type { Accounts } from './accounts.ts'
import type { Account } from './records.ts'

/** Receives the changes of one account. */
export interface ChangeSubscriber {
  /**
   * Something changed, or may have.
   * @param received messages received since the last call, at most the first RECEIVED_MAX
   * @param since when the first change was notified, ms of the monotonic clock; null when that is not known
   */
  accountChanged(account: Account, received: readonly ReceivedMessage[], since: number | null): void
  /** The appliance is shutting down: this is the last call. */
  closing(): void
}

/** Changes within this time are combined (docs/design/mailbox.md §12): a subscriber is called at most this often, ms. */
export const COALESCE_MS = 250
/** Changes without a notification, such as those of CLI commands in another process, are found by polling this often, ms. */
export const POLL_INTERVAL_MS = 5_000
/** Maximum number of received messages passed to a subscriber per call. */
export const RECEIVED_MAX = 100

interface Deps {
  clock: Clock
  log: Log
  notifier: Notifier
  accounts: Pick<Accounts, 'byNumbers'>
  received: Pick<ReceivedEvents, 'newest' | 'after'>
}

interface SubscribedAccount {
  /** As of the last call. */
  account: Account
  subscribers: Set<ChangeSubscriber>
  received: ReceivedMessage[]
  /** When the first change since the last call was notified. */
  since: number | null
}

export class ChangeFeed implements Service {
  readonly name = 'change-feed'
  readonly #deps: Deps
  /** By account number. */
  readonly #accounts = new Map<number, SubscribedAccount>()
  /** Last event read; null without subscribers. */
  #lastEvent: number | null = null
  /** Accounts that changed, or may have, since the last publication. */
  readonly #changed = new Set<number>()
  #publishTimer: Timer | undefined
  /** Polls and publications run one after another. */
  #queue: Promise<void> = Promise.resolve()
  #unlisten = () => {}
  #pollTimer: Timer | undefined
  #stopped = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    this.#unlisten = this.#deps.notifier.listen('accounts', (numbers) => {
      const now = this.#deps.clock.monotonic()
      for (const n of numbers) this.#mark(n, now)
    })
  }

  /** Calls `closing` of all subscribers, and waits for the running publication. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unlisten()
    for (const { subscribers } of this.#accounts.values()) {
      for (const subscriber of subscribers) subscriber.closing()
    }
    this.#accounts.clear()
    this.#reset()
    await this.#queue
  }

  /**
   * Subscribes to an account. Changes since `account` was read are reported as well.
   * @returns unsubscribes
   * @throws ProductError service_unavailable while the appliance is shutting down
   */
  subscribe(account: Account, subscriber: ChangeSubscriber): () => void {
    if (this.#lastEvent === null) {
      const newest = this.#deps.received.newest()
      this.#lastEvent ??= newest
    }
    if (this.#stopped) throw new ProductError('service_unavailable', 'The appliance is shutting down. Try again later.')
    const subscribed = this.#accounts.get(account.n) ?? {
      ...{ account, subscribers: new Set(), received: [], since: null },
    }
    this.#accounts.set(account.n, subscribed)
    subscribed.subscribers.add(subscriber)
    this.#pollTimer ??= this.#deps.clock.every(POLL_INTERVAL_MS, () => this.#enqueue(() => this.#poll()))
    this.#mark(account.n)
    return () => this.#unsubscribe(account.n, subscriber)
  }

  #unsubscribe(n: number, subscriber: ChangeSubscriber): void {
    const subscribed = this.#accounts.get(n)
    if (subscribed === undefined) return
    subscribed.subscribers.delete(subscriber)
    if (subscribed.subscribers.size > 0) return
    this.#accounts.delete(n)
    if (this.#accounts.size === 0) this.#reset()
  }

  /** Stops polling: there are no subscribers left. */
  #reset(): void {
    this.#lastEvent = null
    this.#changed.clear()
    this.#pollTimer?.cancel()
    this.#publishTimer?.cancel()
    this.#pollTimer = undefined
    this.#publishTimer = undefined
  }

  #mark(n: number, notifiedAt: number | null = null): void {
    const subscribed = this.#accounts.get(n)
    if (subscribed === undefined) return
    subscribed.since ??= notifiedAt
    this.#changed.add(n)
    // One publication serves all subscribers, so that its cost does not grow with the number of changes.
    this.#publishTimer ??= this.#deps.clock.after(COALESCE_MS, () => {
      this.#publishTimer = undefined
      this.#enqueue(() => this.#publish())
    })
  }

  #enqueue(work: () => void): void {
    this.#queue = this.#queue.then(work).catch((error: unknown) => {
      this.#deps.log.error(
        { event: 'changes.publish_failed', err: error },
        'Changes could not be published to subscribers',
      )
    })
  }

  /** Finds changes without a notification. */
  #poll(): void {
    for (const account of this.#deps.accounts.byNumbers([...this.#accounts.keys()])) {
      const last = this.#accounts.get(account.n)?.account
      if (last !== undefined && !isSame(last, account)) this.#mark(account.n)
    }
  }

  #publish(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#readReceivedEvents()
    for (const account of this.#deps.accounts.byNumbers(changed)) {
      const subscribed = this.#accounts.get(account.n)
      if (subscribed === undefined) continue
      subscribed.account = account
      const received = subscribed.received.splice(0)
      const { since } = subscribed
      subscribed.since = null
      for (const subscriber of subscribed.subscribers) subscriber.accountChanged(account, received, since)
    }
  }

  /** Reads new `message.received` events for all subscribers. */
  #readReceivedEvents(): void {
    const byMailbox = new Map(
      [...this.#accounts.values()].map((subscribed) => [subscribed.account.mailboxId, subscribed]),
    )
    for (let more = true; more && this.#lastEvent !== null; ) {
      const from = this.#lastEvent
      const page = this.#deps.received.after(from, [...byMailbox.keys()])
      // In the meantime the last subscriber may have left and another one subscribed.
      if (this.#lastEvent !== from) return
      this.#lastEvent = page.last
      more = page.more
      for (const message of page.messages) {
        const received = byMailbox.get(message.mailboxId)?.received
        if (received !== undefined && received.length < RECEIVED_MAX) received.push(message)
      }
    }
  }
}

function isSame(a: Account, b: Account): boolean {
  return JSON.stringify(a.states) === JSON.stringify(b.states)
}
