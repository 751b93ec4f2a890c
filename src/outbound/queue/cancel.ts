// Cancels a message, or a submission of a mailbox, before any hand-over (docs/design/mailbox.md §7).

import { conflict, notFound } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import type { Submission } from '../../store/mailbox/submissions.ts'
import type { Account } from '../../store/rows/records.ts'
import type { Emails } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Email } from '../model/records.ts'
import type { DeliveryTransitions } from './delivery-transitions.ts'
import type { Queue } from './queue.ts'
import { toDrafts } from './to-drafts.ts'

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'byId' | 'pendingOfEmail' | 'hasBegun' | 'markCanceled'>
  transitions: Pick<DeliveryTransitions, 'apply'>
  queue: Pick<Queue, 'ofEmail'>
}

const NOT_PENDING = 'The message can no longer be canceled.'

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
    const { db, trustedClock, store, emails, queue } = this.#deps
    const submission = store.sending.submissions.get(account, id)
    if (submission === undefined) throw notFound('submission')
    const email = emails.byId(submission.emailId)
    if (email === undefined) throw conflict(NOT_PENDING)
    await db.write((tx) => {
      // A message that waits for a person has no time of its own.
      const hasBegun = submission.sendAt <= trustedClock.now()
      if (hasBegun && queue.ofEmail(tx, email.n).length > 0) throw conflict(NOT_PENDING)
      this.#cancelIn(tx, email)
      this.#cancelSubmission(tx, account, submission)
    })
  }

  /**
   * Cancels a message, and its submission when a mailbox sent it.
   * @param mailboxId of the caller; null for one who may cancel all messages of the team
   * @param id `eml_…`
   * @returns when, ms
   * @throws ProductError not_found, conflict once a delivery was handed over
   */
  async cancelEmail(teamId: string, mailboxId: string | null, id: string): Promise<number> {
    const { db, clock, store, emails } = this.#deps
    const email = emails.byId(id)
    const isTheirs = email?.teamId === teamId && (mailboxId === null || email.mailboxId === mailboxId)
    if (email === undefined || !isTheirs || email.source === 'system') throw notFound('message')
    return db.write((tx) => {
      const at = clock.now()
      this.#cancelIn(tx, email)
      const account = email.mailboxId === null ? undefined : store.accounts.byMailbox(email.mailboxId, tx)
      const submission = account && store.sending.submissions.byEmail(account, id)
      if (submission) this.#cancelSubmission(tx, account, submission)
      return at
    })
  }

  /** @throws ProductError conflict */
  #cancelIn(tx: Tx, { n: email }: Email): void {
    const { clock, emails, transitions, queue } = this.#deps
    const waiting = emails.pendingOfEmail(tx, email)
    const isUntouched = waiting.length > 0 && !emails.hasBegun(tx, email)
    if (!isUntouched || queue.ofEmail(tx, email).some(({ isLeased }) => isLeased)) throw conflict(NOT_PENDING)
    emails.markCanceled(tx, email, clock.now())
    for (const { n } of waiting) transitions.apply(tx, n, { kind: 'cancelled' }, null)
  }

  #cancelSubmission(tx: Tx, account: Account, { id, messageId }: Submission): void {
    if (!this.#deps.store.sending.submissions.cancel(tx, account, id)) throw conflict(NOT_PENDING)
    if (messageId !== null) toDrafts(this.#deps.store, tx, account, messageId)
  }
}
