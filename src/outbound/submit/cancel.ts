// Cancels a submission of a mailbox before any hand-over (decisions §10.7).

import { conflict, notFound } from '../../base/errors.ts'
import type { Account } from '../../store/records.ts'
import type { OutboundDeps } from '../deps.ts'
import type { DeliveryTransitions } from '../log/delivery-transitions.ts'
import type { Emails } from '../log/emails.ts'
import type { Queue } from '../queue.ts'

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'byId' | 'pendingOfEmail'>
  transitions: Pick<DeliveryTransitions, 'apply'>
  queue: Pick<Queue, 'ofEmail'>
}

const NOT_PENDING = 'The submission can no longer be cancelled.'

export class Cancelling {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Cancels in one unit of work: the runner either claims a delivery before it or no longer finds it. The copy moves to Drafts.
   * @param id `sub_…`
   * @throws ProductError not_found, conflict once a delivery was handed over or its send time has passed
   */
  async cancel(account: Account, id: string): Promise<void> {
    const { db, clock, store, emails, transitions, queue } = this.#deps
    const submission = await store.submissions.get(account, id)
    if (submission === undefined) throw notFound('submission')
    const email = await emails.byId(submission.emailId)
    if (email === undefined) throw conflict(NOT_PENDING)
    await db.write(async (tx) => {
      const now = clock.now()
      const waiting = await emails.pendingOfEmail(tx, email.n)
      const inQueue = await queue.ofEmail(tx, email.n)
      const isUntouched = waiting.length > 0 && waiting.every(({ attempts }) => attempts === 0)
      if (!isUntouched || inQueue.some(({ isLeased }) => isLeased) || submission.sendAt <= now)
        throw conflict(NOT_PENDING)
      if (!(await store.submissions.cancel(tx, account, id))) throw conflict(NOT_PENDING)
      for (const { n } of waiting) await transitions.apply(tx, n, { kind: 'cancelled' }, null)
      if (submission.messageId !== null) await this.#toDrafts(tx, account, submission.messageId)
    })
  }

  async #toDrafts(tx: Parameters<Parameters<OutboundDeps['db']['write']>[0]>[0], account: Account, messageId: string) {
    const { store } = this.#deps
    const drafts = await store.folders.byRole(account.n, 'drafts', tx)
    await store.edits.changeIn(tx, account, [messageId], {
      folders: { set: [drafts.id] },
      keywords: { add: ['$draft'] },
    })
  }
}
