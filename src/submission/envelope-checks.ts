// Decides on envelope senders and recipients of a submission, before its content is known (docs/design/mail-programs.md §3).

import { ProductError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import { routingProblem } from '../mime/compose/draft-rules.ts'
import type { RawSubmitter } from '../outbound/submit/raw-submitter.ts'
import type { RecipientPath } from '../smtp/envelope.ts'
import type { SmtpReply } from '../smtp/replies.ts'
import { foreignSender, recipientReplies, replyOf, submissionReplies } from './replies.ts'
import type { SubmissionUser, SubmittedTransaction } from './session.ts'

interface Deps {
  submitter: Pick<RawSubmitter, 'ownAddressesUnless' | 'refusalOf'>
  config: Pick<Config, 'MAIL_HOSTS'>
  log: Log
}

export class EnvelopeChecks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @returns the reply that refuses the envelope sender; null when it is accepted */
  senderRefusal({ access }: SubmissionUser, address: string): SmtpReply | null {
    try {
      const own = this.#deps.submitter.ownAddressesUnless(access.principal, address)
      return own === null ? null : foreignSender(own)
    } catch (error) {
      return this.#replyTo(error)
    }
  }

  /** @returns the recipient's address, or the reply that refuses it */
  evaluate(
    { access }: SubmissionUser,
    written: RecipientPath,
    { sender, recipients }: SubmittedTransaction,
  ): string | SmtpReply {
    const path = written.domain === '' ? this.#postmaster() : written
    if (routingProblem(path) !== null) return submissionReplies.notRoutable
    try {
      const envelope = { mailFrom: sender.address, recipients: recipients.length }
      const refusal = this.#deps.submitter.refusalOf(access.principal, path, envelope)
      return refusal === null ? path.address : recipientReplies[refusal]
    } catch (error) {
      return this.#replyTo(error)
    }
  }

  /** The bare `<postmaster>` of RFC 5321 §4.5.1: that of the appliance. */
  #postmaster(): RecipientPath {
    const domain = this.#deps.config.MAIL_HOSTS[0]!
    return { address: `postmaster@${domain}`, local: 'postmaster', domain }
  }

  #replyTo(error: unknown): SmtpReply {
    if (error instanceof ProductError) return replyOf(error)
    this.#deps.log.error({ event: 'submission.envelope_failed', err: error }, 'Envelope could not be checked')
    return submissionReplies.failure
  }
}
