// Accepts messages that mail programs submit whole: the checks of their envelope, and the path from the bytes to committed rows.

import { HOUR_MS } from '../../base/durations.ts'
import { ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { clientHost } from '../../config/client-protocols.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { OwnAddresses } from '../../mime/own-addresses.ts'
import { identityFor } from '../../store/mailbox/identities.ts'
import type { Submission, SubmittedMessage } from '../../store/mailbox/submissions.ts'
import type { RawSource } from '../../workers/compose-thread.ts'
import { Composer } from '../../workers/composer.ts'
import { isBounceDomain } from '../model/envelope-sender.ts'
import { NO_LABELS } from '../model/message-labels.ts'
import { submissionStatus } from '../model/submission-status.ts'
import type { Router } from '../routing/router.ts'
import { Acceptance, type AcceptanceDeps, hasRoom, mailboxFull, type Ready } from './acceptance.ts'
import { SenderContext, type SendingMailbox } from './sender-context.ts'

type Deps = AcceptanceDeps & { router: Pick<Router, 'defaultFrom' | 'sharedFullUntil' | 'hasAccountFor'> }

/** A mailbox whose mail program submits messages. */
interface SubmittingMailbox {
  teamId: string
  mailboxId: string
  /** Its credential. */
  keyId?: string
}

/** A message as it was submitted. */
interface RawSubmission {
  /** Envelope recipients, each once. */
  recipients: readonly string[]
  source: RawSource
  /** As RFC 3848 and RFC 6531 name it for the Received field. */
  protocol: string
  /** Whether a copy is kept in Sent. */
  savesSent: boolean
}

/** Why a recipient is refused; `unknown` and `suppressed` for good. */
export type RecipientRefusal = 'unknown' | 'suppressed' | 'limit' | 'balance'

interface AcceptedRaw {
  /** `eml_…` */
  emailId: string
  /** True when the same message was accepted before: it is not sent again. */
  isRepeated: boolean
}

/**
 * For so long the same message (bytes, recipients) is accepted once: a program that did not get the reply to the end of data submits it
 * again (RFC 5321 §4.5.4.1). One that has failed for all recipients, or was canceled, does not count. ms
 */
export const REPEATED_MS = HOUR_MS

/** The result of a submission, for the metrics. */
type SubmissionResult = 'accepted' | 'repeated' | 'refused' | 'deferred'

export class RawSubmitter {
  readonly #deps: Deps
  /** Submitted messages by result, since the start. */
  readonly results: Record<SubmissionResult, number> = { accepted: 0, repeated: 0, refused: 0, deferred: 0 }
  readonly #acceptance: Acceptance
  readonly #composer = new Composer()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#acceptance = new Acceptance(deps)
  }

  /** @throws ProductError insufficient_permissions for a mailbox that may not send now, service_unavailable while it is being set up */
  #open({ teamId, mailboxId, keyId }: SubmittingMailbox): { context: SenderContext; box: SendingMailbox } {
    try {
      const context = SenderContext.open(this.#deps, { source: 'smtp', kind: 'mailbox', teamId, mailboxId, keyId })
      return { context, box: context.box! }
    } catch (cause) {
      if (!(cause instanceof ProductError) || cause.code === 'service_unavailable') throw cause
      // Later conflicts of a message may pass; this one does not.
      throw new ProductError('insufficient_permissions', cause.message, { cause })
    }
  }

  /**
   * The addresses that the mailbox may write as, for an envelope sender that is none of them; null for one that is, and for the null sender.
   * @throws ProductError insufficient_permissions for a mailbox that may not send now, service_unavailable while it is being set up
   */
  ownAddressesUnless(sender: SubmittingMailbox, address: string): OwnAddresses | null {
    const { db, directory } = this.#deps
    const { mailbox } = this.#open(sender).box
    if (address === '' || directory.aliases.mayWriteAs(db.read, mailbox, address)) return null
    return directory.aliases.ownAddresses(db.read, mailbox)
  }

  /**
   * Why the message would not reach a recipient, as far as that is known before its content.
   * @param envelope the sender of the transaction and the number of recipients accepted before
   * @throws ProductError see `ownAddressesUnless`
   */
  refusalOf(
    sender: SubmittingMailbox,
    { local, domain, address }: { local: string; domain: string; address: string },
    envelope: { mailFrom: string; recipients: number },
  ): RecipientRefusal | null {
    const { db, config, directory, suppressions, meter, router } = this.#deps
    const { context, box } = this.#open(sender)
    if (!isBounceDomain(config, domain) && directory.mailboxes.receiver(local, domain).reason === 'unknown_recipient') {
      return 'unknown'
    }
    if (suppressions.of(db.read, sender.teamId, [address]).size > 0) return 'suppressed'
    // The author is in the content; the envelope sender is mostly the same.
    const from = { email: envelope.mailFrom || box.mailbox.email, name: '' }
    const { teamId, mailboxId } = sender
    const recipients = envelope.recipients + 1
    if (router.sharedFullUntil({ teamId, mailboxId, scope: context.scope, from }, recipients) !== null) return 'limit'
    return meter.refusal(db.read, teamId, recipients) === null ? null : 'balance'
  }

  /**
   * Checks, completes and accepts a message. All rows are written in one unit of work; it is durable when the promise resolves.
   * @throws ProductError validation_error on `from` (also unverified_domain), `attachments` or `message`; payload_too_large; conflict when
   * the balance of the team or the quota of the mailbox does not cover it; rate_limit_exceeded; see also `ownAddressesUnless`
   */
  async submit(sender: SubmittingMailbox, message: RawSubmission): Promise<AcceptedRaw> {
    const { store, db } = this.#deps
    const { context, box } = this.#open(sender)
    const { ready, submitted } = await this.#prepare(context, box, message)
    const earlier = this.#repeated(box, submitted)
    if (earlier !== undefined) return { emailId: earlier.emailId, isRepeated: true }
    if (!hasRoom(box, ready)) throw mailboxFull()
    await store.blobs.putAll([ready.written])
    const acceptance = this.#acceptance
    const repeated = (tx: Tx) => this.#repeated(box, submitted, tx)
    return db.writeInSteps(function* (tx) {
      // Two sessions may submit it at the same time.
      const other = repeated(tx)
      if (other !== undefined) return { emailId: other.emailId, isRepeated: true }
      const [result] = yield* acceptance.accept(tx, context, [ready])
      if (result!.kind === 'failed') throw result!.error
      return { emailId: result!.emailId, isRepeated: false }
    })
  }

  /** Counts a submitted message, also one of which only the listener knows that it is refused. */
  count(result: SubmissionResult): void {
    this.results[result]++
  }

  /** Stops the worker thread that prepares large messages. */
  close(): Promise<void> {
    return this.#composer.close()
  }

  async #prepare(
    context: SenderContext,
    box: SendingMailbox,
    { recipients, source, protocol, savesSent }: RawSubmission,
  ): Promise<{ ready: Ready; submitted: SubmittedMessage }> {
    const { clock, config, db, directory, store } = this.#deps
    const id = newId('email')
    const now = clock.now()
    const own = directory.aliases.ownAddresses(db.read, box.mailbox)
    const rules = { id, hostName: clientHost(config), protocol, now, recipients, own }
    const raw = await this.#composer.prepareRaw(source, rules, savesSent)
    const { from, subject, messageId, hidden, answers, written, fingerprint } = raw
    context.requireSendable(from)
    await context.requireRoom(from, now)
    const identity = identityFor(store.sending.identities.list(box.account), from.email.toLowerCase())
    const submitted = { internetMessageId: messageId, fingerprint }
    const ready: Ready = {
      ...{ id, from, bcc: hidden, recipients, returnPath: null, subject, internetMessageId: messageId },
      ...{ domainId: context.domainOf(from.email)?.id ?? null, original: null, identityId: identity.id },
      ...{ answers, sendAt: now, labels: NO_LABELS, freedBytes: 0, fingerprint, written },
    }
    return { ready, submitted }
  }

  #repeated(
    { account }: SendingMailbox,
    submitted: SubmittedMessage,
    reader: Reader = this.#deps.db.read,
  ): Submission | undefined {
    const { store, clock } = this.#deps
    const found = store.sending.submissions.repeatedOf(reader, account, {
      ...submitted,
      since: clock.now() - REPEATED_MS,
    })
    return found === undefined || this.#hasFailed(found) ? undefined : found
  }

  /** No recipient got it or will: submitted again, it is meant to be sent. */
  #hasFailed(submission: Submission): boolean {
    const { emails, clock } = this.#deps
    const email = emails.byId(submission.emailId)
    if (email === undefined) return false
    const status = submissionStatus(submission, emails.deliveriesOf(email.n), clock.now())
    return status === 'failed' || status === 'canceled'
  }
}
