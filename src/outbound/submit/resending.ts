// Sends the content of a message whose delivery failed again, as a new message to the same recipient.

import { conflict, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { SingleDeliveries, SingleDelivery } from '../log/single-deliveries.ts'
import type { Sender } from '../model/new-message.ts'
import type { EmailSource } from '../model/records.ts'
import type { Router } from '../routing/router.ts'
import { Acceptance, type AcceptanceDeps, type Ready } from './acceptance.ts'
import { SenderContext } from './sender-context.ts'

type Deps = AcceptanceDeps & {
  router: Pick<Router, 'defaultFrom' | 'sharedFullUntil' | 'hasAccountFor'>
  singleDeliveries: SingleDeliveries
}

export interface Resent {
  /** `eml_…` */
  emailId: string
  /** `dlog_…` */
  deliveryId: string
}

export class Resending {
  readonly #deps: Deps
  readonly #acceptance: Acceptance

  constructor(deps: Deps) {
    this.#deps = deps
    this.#acceptance = new Acceptance(deps)
  }

  /**
   * Sends the same bytes to the same recipient; sender, tags and metadata are those of the failed message. The checks of a new
   * message apply.
   * @param id `dlog_…`
   * @param extra writes of the caller in the same unit of work
   * @throws ProductError not_found; conflict when the delivery has not failed, was resent already, its recipient is suppressed, or
   * the content is no longer kept; what the checks of a new message throw
   */
  async resend(teamId: string, id: string, extra: (tx: Tx, resent: Resent) => void = () => {}): Promise<Resent> {
    const { db, singleDeliveries } = this.#deps
    const found = this.#failed(db.read, teamId, id)
    const context = SenderContext.open(this.#deps, senderOf(found))
    const ready = await this.#ready(context, found)
    const acceptance = this.#acceptance
    const check = (tx: Tx) => this.#failed(tx, teamId, id)
    return db.writeInSteps(function* (tx) {
      // Another person may have resent it at the same time.
      check(tx)
      const [result] = yield* acceptance.accept(tx, context, [ready])
      if (result!.kind === 'failed') throw result!.error
      const { id: deliveryId } = singleDeliveries.resentAs(id, tx)!
      const resent = { emailId: ready.id, deliveryId }
      extra(tx, resent)
      return resent
    })
  }

  #failed(reader: Reader, teamId: string, id: string): SingleDelivery {
    const { singleDeliveries, suppressions } = this.#deps
    const found = singleDeliveries.get(teamId, id, reader)
    if (found === undefined) throw notFound('delivery log row')
    const { delivery, email } = found
    if (delivery.status !== 'failed' && delivery.status !== 'rejected') {
      throw conflict('Only a delivery that failed or was rejected can be resent.')
    }
    if (/^approval_(?:denied|expired):/.test(delivery.statusReason ?? '')) {
      throw conflict('The message was not approved. Send it again from its source, so that a person sees it.')
    }
    const again = singleDeliveries.resentAs(id, reader)
    if (again !== undefined) throw conflict(`The delivery was resent as ${again.id}.`)
    if (email.hash === null)
      throw conflict('The content of the message is no longer kept. Send it again from its source.')
    if (suppressions.of(reader, teamId, [delivery.to]).size > 0) {
      throw conflict('The recipient is on the suppression list. Delete the suppression first.')
    }
    return found
  }

  async #ready(context: SenderContext, { delivery, email, labels }: SingleDelivery): Promise<Ready> {
    const { clock } = this.#deps
    const now = clock.now()
    const { from, returnPath, subject, internetMessageId, hash, sizeBytes } = email
    const { identityId } = await context.from(from)
    context.requireSendable(from)
    await context.requireRoom(from, now)
    return {
      ...{ id: newId('email'), from, subject, internetMessageId, identityId, labels },
      ...{ bcc: [], recipients: [delivery.to], original: null, answers: [], sendAt: now, freedBytes: 0 },
      returnPath: returnPath === null ? null : context.returnPath(returnPath),
      domainId: context.domainOf(from.email)?.id ?? null,
      written: { hash: hash!, sizeBytes, chunks: [], message: null },
      resentFrom: delivery.id,
    }
  }
}

/** @throws ProductError conflict for a forwarded message */
function senderOf({ email: { teamId, mailboxId, source } }: SingleDelivery): Sender {
  if (!isWritten(source)) throw conflict('A forwarded message cannot be resent.')
  return mailboxId === null ? { source, kind: 'team', teamId } : { source, kind: 'mailbox', teamId, mailboxId }
}

function isWritten(source: EmailSource): source is Sender['source'] {
  return source !== 'forward' && source !== 'system'
}
