// What a team does with one delivery of its log: retry it now, or cancel it.

import { conflict, notFound } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import type { SingleDeliveries, SingleDelivery } from '../log/single-deliveries.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { DeliveryTransitions } from './delivery-transitions.ts'
import type { Queue, QueueRow } from './queue.ts'

interface Deps extends OutboundDeps {
  queue: Pick<Queue, 'ofDelivery' | 'retryDelivery'>
  transitions: Pick<DeliveryTransitions, 'apply'>
  singleDeliveries: SingleDeliveries
}

export class DeliveryActions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Makes the next attempt of a pending delivery due now.
   * @param id `dlog_…`
   * @returns when it is due, ms
   * @throws ProductError not_found, conflict when it is not pending, has an attempt in progress, or its send time is in the future
   */
  async retry(teamId: string, id: string): Promise<number> {
    const { db, clock, queue, notifier } = this.#deps
    return db.write((tx) => {
      const { delivery, sendAt } = this.#waiting(tx, teamId, id)
      const now = clock.now()
      if (sendAt > now) throw conflict('The message is scheduled for later. Cancel it instead.')
      queue.retryDelivery(tx, delivery.n, now)
      tx.afterCommit(() => notifier.notify('deliver'))
      return now
    })
  }

  /**
   * Cancels a pending delivery, whether or not it was attempted. Other recipients of the message are not affected.
   * @param id `dlog_…`
   * @throws ProductError not_found, conflict when it is not pending or has an attempt in progress
   */
  async cancel(teamId: string, id: string): Promise<void> {
    const { db, transitions } = this.#deps
    await db.write((tx) => {
      const { delivery } = this.#waiting(tx, teamId, id)
      transitions.apply(tx, delivery.n, { kind: 'cancelled' }, null)
    })
  }

  #waiting(tx: Tx, teamId: string, id: string): SingleDelivery & { row: QueueRow } {
    const found = this.#deps.singleDeliveries.get(teamId, id, tx)
    if (found === undefined) throw notFound('delivery log row')
    const row = this.#deps.queue.ofDelivery(tx, found.delivery.n)
    if (found.delivery.status !== 'pending' || row === undefined) throw conflict('The delivery is no longer pending.')
    if (row.isLeased) throw conflict('An attempt is in progress. Repeat the request when it has ended.')
    return { ...found, row }
  }
}
