// The writes of hand-overs: the start and the outcomes of concurrent messages are joined, so that a transaction serves many.

import { WriteBatches } from '../../base/write-batches.ts'
import type { Tx } from '../../db/db.ts'
import type { Carrier } from '../model/records.ts'
import type { DeliveryOutcome } from '../queue/delivery-transitions.ts'
import type { RunnerDeps } from './deps.ts'

/** Messages in one unit of work. */
const BATCH_MAX = 64
/**
 * Outcomes wait so long (ms) for those of other messages in flight: a transaction has some ten statements, and writes the same pages
 * again, whatever the number of its messages. After a crash, messages whose outcome is not recorded are sent again.
 */
const GATHER_MS = 20
/** Outcomes that wait at most: so many more messages are sent again after a crash than were in flight. */
const GATHER_MAX = 8

/** The start of a hand-over. */
export interface AttemptStart {
  /** Keys of deliveries of one message. */
  deliveries: readonly number[]
  /** Those of them whose attempt has been counted already. */
  counted: ReadonlySet<number>
  carrier: Carrier
  /** Why the router chose the carrier. */
  reason: string
}

/** The outcomes of one message. */
export interface AttemptOutcomes {
  email: number
  outcomes: readonly DeliveryOutcome[]
  /** Ids that the provider assigned to the message. */
  remoteIds: readonly string[]
}

export class AttemptWrites {
  readonly #deps: Pick<RunnerDeps, 'db' | 'queue' | 'emails' | 'transitions'>
  /** Token of the runner's leases. */
  readonly #token: string
  readonly #starts: WriteBatches<AttemptStart, readonly number[]>
  readonly #outcomes: WriteBatches<AttemptOutcomes>

  /** Messages in flight. */
  readonly #running: () => number
  /** Ends the wait for more outcomes. */
  #writeNow: (() => void) | undefined

  constructor(
    deps: Pick<RunnerDeps, 'db' | 'queue' | 'emails' | 'transitions'>,
    { token, running }: { token: string; running: () => number },
  ) {
    this.#deps = deps
    this.#token = token
    this.#running = running
    const { db } = deps
    this.#starts = new WriteBatches({
      most: BATCH_MAX,
      write: (take) => db.write((tx) => this.#writeStarts(tx, take())),
    })
    this.#outcomes = new WriteBatches({
      most: BATCH_MAX,
      overlap: true,
      gather: () => this.#gather(),
      write: (take) => db.write((tx) => this.#writeOutcomes(tx, take())),
    })
  }

  /**
   * Marks deliveries as handed over, durably, before their first byte is sent: after a crash their outcome is unknown.
   * @returns those that the runner still leases
   */
  start(start: AttemptStart): Promise<readonly number[]> {
    return this.#starts.write(start)
  }

  /** Records the outcomes of the deliveries of one message, in one unit of work with those of other messages. */
  record(outcomes: AttemptOutcomes): Promise<void> {
    const written = this.#outcomes.write(outcomes)
    this.checkWaiting()
    return written
  }

  /** Called when a message is no longer in flight: outcomes may have waited for its own. */
  checkWaiting(): void {
    if (this.#isComplete()) this.#writeNow?.()
  }

  /** True when no message is in flight whose outcome could join those that wait. */
  #isComplete(): boolean {
    return this.#outcomes.waiting >= Math.min(this.#running(), GATHER_MAX)
  }

  /** @returns undefined when nothing is to be waited for; a promise that resolves then, or when the outcomes have waited long enough */
  #gather(): Promise<void> | undefined {
    if (this.#isComplete()) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#writeNow?.(), GATHER_MS)
      this.#writeNow = () => {
        clearTimeout(timer)
        this.#writeNow = undefined
        resolve()
      }
    })
  }

  #writeStarts(tx: Tx, starts: readonly AttemptStart[]): (readonly number[])[] {
    const { queue, emails } = this.#deps
    // Only rows of the queue and of deliveries are written.
    tx.keepsCaches()
    const all = starts.flatMap(({ deliveries }) => deliveries)
    const held = new Set(queue.markHanded(tx, this.#token, all))
    const heldOf = starts.map(({ deliveries }) => deliveries.filter((n) => held.has(n)))
    const routes = Map.groupBy(
      starts.flatMap(({ counted, carrier, reason }, index) =>
        heldOf[index]!.map((n) => ({ n, carrier, reason, attempts: counted.has(n) ? 0 : 1 })),
      ),
      ({ carrier, reason, attempts }) => JSON.stringify([carrier.id, carrier.name, reason, attempts]),
    )
    for (const same of routes.values()) {
      emails.recordRoute(
        tx,
        same.map(({ n }) => n),
        same[0]!,
      )
    }
    return heldOf
  }

  #writeOutcomes(tx: Tx, all: readonly AttemptOutcomes[]): undefined[] {
    const { emails, transitions } = this.#deps
    for (const { email, remoteIds } of all) emails.addRemoteIds(tx, email, remoteIds)
    transitions.applyAll(
      tx,
      all.flatMap(({ outcomes }) => outcomes),
    )
    return all.map(() => undefined)
  }
}
