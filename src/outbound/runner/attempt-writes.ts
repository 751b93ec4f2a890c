// The writes of hand-overs: the start and the outcomes of concurrent messages are joined, so that a transaction serves many.

import { WriteBatches } from '../../base/write-batches.ts'
import type { Tx } from '../../db/db.ts'
import type { DeliveryOutcome } from '../log/delivery-transitions.ts'
import type { Carrier } from '../records.ts'
import type { RunnerDeps } from './deps.ts'

/** Messages in one unit of work. */
const BATCH_MAX = 64

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

  constructor(deps: Pick<RunnerDeps, 'db' | 'queue' | 'emails' | 'transitions'>, token: string) {
    this.#deps = deps
    this.#token = token
    const { db } = deps
    this.#starts = new WriteBatches({
      most: BATCH_MAX,
      overlap: true,
      write: (take) => db.write((tx) => this.#writeStarts(tx, take())),
    })
    this.#outcomes = new WriteBatches({
      most: BATCH_MAX,
      overlap: true,
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
    return this.#outcomes.write(outcomes)
  }

  #writeStarts(tx: Tx, starts: readonly AttemptStart[]): (readonly number[])[] {
    const { queue, emails } = this.#deps
    const all = starts.flatMap(({ deliveries }) => deliveries)
    const held = new Set(queue.markHanded(tx, this.#token, all))
    const heldOf = starts.map(({ deliveries }) => deliveries.filter((n) => held.has(n)))
    emails.countAttempt(
      tx,
      starts.flatMap(({ counted }, index) => heldOf[index]!.filter((n) => !counted.has(n))),
      null,
    )
    const routes = Map.groupBy(starts.keys(), (index) => {
      const { carrier, reason } = starts[index]!
      return JSON.stringify([carrier.id, carrier.name, reason])
    })
    for (const indexes of routes.values()) {
      const { carrier, reason } = starts[indexes[0]!]!
      emails.recordRoute(
        tx,
        indexes.flatMap((index) => heldOf[index]!),
        carrier,
        reason,
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
