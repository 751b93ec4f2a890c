// Accepts composed messages: writes log rows, queue rows, the copy in Sent and the submission in the caller's unit of work.

import { conflict, type ProductError } from '../../base/errors.ts'
import type { Steps, Tx } from '../../db/db.ts'
import type { ComposedContent } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { OriginalMessage } from '../../store/messages/original.ts'
import type { Meter } from '../billing/meter.ts'
import type { Accepted, Emails } from '../log/emails.ts'
import type { OutboundDeps, SendLimit } from '../model/deps.ts'
import { bounceAddress } from '../model/envelope-sender.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { MessageLabels } from '../model/message-labels.ts'
import type { MadeSubmission, Submitted } from '../model/new-message.ts'
import type { DeliveryTransitions } from '../queue/delivery-transitions.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'
import { foreignSender, type SenderContext, type SendingMailbox } from './sender-context.ts'

/** A composed message, ready to be stored. */
export interface Ready {
  /** `eml_…` */
  id: string
  from: Address
  bcc: readonly Address[]
  recipients: readonly string[]
  returnPath: string | null
  subject: string
  internetMessageId: string
  /** `mdom_…` of the From domain if it is one of the team's. */
  domainId: string | null
  original: OriginalMessage | null
  /** `idn_…` of the sending mailbox's identity. */
  identityId: string | null
  sendAt: number
  labels: MessageLabels
  /** See `NewMail`. */
  freedBytes: number
  /** Of a message that a mail program submitted whole: see `SubmittedMessage`. */
  fingerprint?: Uint8Array | null
  /** `dlog_…` of the failed delivery that it repeats. */
  resentFrom?: string
  /** Its content is stored in the blob store. `message` is set when a copy in Sent is requested. */
  written: ComposedContent
}

export type AcceptanceDeps = OutboundDeps & {
  /** The send limit of agents. */
  allowance: SendLimit
  emails: Emails
  transitions: DeliveryTransitions
  queue: Queue
  suppressions: Pick<Suppressions, 'of'>
  meter: Pick<Meter, 'refusal' | 'hold'>
}

const SUPPRESSED = 'The recipient is on the suppression list of the team.'

export class Acceptance {
  readonly #deps: AcceptanceDeps

  constructor(deps: AcceptanceDeps) {
    this.#deps = deps
  }

  /** @returns the result of each message, in their order; a message whose copy exceeds the mailbox quota fails */
  *accept(tx: Tx, context: SenderContext, messages: readonly Ready[]): Steps<Submitted[]> {
    const { suppressions, notifier } = this.#deps
    const recipients = new Set(messages.flatMap(({ recipients }) => recipients))
    const suppressed = suppressions.of(tx, context.sender.teamId, [...recipients])
    const submitted: Submitted[] = []
    for (const message of messages) {
      submitted.push(this.#acceptOne(tx, context, message, suppressed))
      yield
    }
    tx.afterCommit(() => notifier.notify('deliver'))
    return submitted
  }

  #acceptOne(tx: Tx, context: SenderContext, message: Ready, suppressed: ReadonlySet<string>): Submitted {
    const { emails, transitions, queue, meter, clock } = this.#deps
    const foreign = context.box && this.#foreignSender(tx, context.box, message)
    if (foreign !== null) return { kind: 'failed', error: foreign }
    if (context.box !== null && !hasRoom(this.#withUsage(tx, context.box), message)) {
      return { kind: 'failed', error: mailboxFull() }
    }
    const unpaid = meter.refusal(tx, context.sender.teamId, message.recipients.length)
    if (unpaid !== null) return { kind: 'failed', error: unpaid }
    if (context.box?.mailbox.isAgent === true) {
      const { allowance } = this.#deps
      const refused = allowance.take(tx, context.box.mailbox.id, message.recipients.length)
      if (refused !== null) return { kind: 'failed', error: refused }
    }
    const accepted = emails.insert(tx, this.#rowOf(context, message))
    meter.hold(tx, context.sender.teamId, accepted.deliveries.length)
    const submission = context.box && this.#createSubmission(tx, context.box, message, accepted)
    const open: Accepted['deliveries'] = []
    for (const delivery of accepted.deliveries) {
      if (!suppressed.has(delivery.to.toLowerCase())) open.push(delivery)
      else transitions.apply(tx, delivery.n, { kind: 'rejected', reason: 'suppressed', detail: SUPPRESSED }, null)
    }
    queue.add(tx, accepted.email, open, message.sendAt)
    const waits = message.sendAt > clock.now() ? 'scheduled' : 'queued'
    const state = open.length === 0 ? 'rejected' : waits
    return { kind: 'accepted', emailId: message.id, sendAt: message.sendAt, state, submission }
  }

  #rowOf({ sender, scope }: SenderContext, message: Ready) {
    const { id, from, returnPath, subject, internetMessageId, domainId, recipients, sendAt, labels, written } = message
    return {
      id,
      teamId: sender.teamId,
      mailboxId: sender.kind === 'mailbox' ? sender.mailboxId : null,
      source: sender.source,
      scope,
      from,
      returnPath,
      subject,
      internetMessageId,
      domainId,
      hash: written.hash,
      sizeBytes: written.sizeBytes,
      queuedAt: this.#deps.clock.now(),
      expiresAt: sendAt + LIFETIME_MS,
      recipients,
      sendAt,
      labels,
      resentFrom: message.resentFrom,
    }
  }

  /** The error for a sender whose alias or identity was removed while the message was composed. */
  #foreignSender(tx: Tx, { mailbox, account }: SendingMailbox, { from, identityId }: Ready): ProductError | null {
    const { directory, store } = this.#deps
    const isOwn = directory.aliases.mayWriteAs(tx, mailbox, from.email)
    if (isOwn && store.sending.identities.has(tx, account, identityId!)) return null
    return foreignSender(directory.aliases.ownAddresses(tx, mailbox))
  }

  /** The mailbox with its current usage, read in the transaction. */
  #withUsage(tx: Tx, { mailbox }: SendingMailbox): SendingMailbox {
    return { mailbox, account: this.#deps.store.accounts.byMailbox(mailbox.id, tx)! }
  }

  #createSubmission(
    tx: Tx,
    { mailbox, account }: SendingMailbox,
    message: Ready,
    { email, deliveries }: Accepted,
  ): MadeSubmission {
    const { store, vault, config } = this.#deps
    const { written, bcc, original, recipients, subject, sendAt } = message
    const { hash, sizeBytes, message: read } = written
    // Each delivery has an address of its own; a submission shows the one of its first recipient.
    const mailFrom = message.returnPath ?? bounceAddress(vault, config, deliveries[0]!.n)
    const kept = store.sending.copies.record(tx, account, {
      emailId: email.id,
      internetMessageId: message.internetMessageId,
      subject,
      copy: read && { parsed: read, bcc, hash, sizeBytes },
      envelope: { mailFrom, rcptTo: recipients },
      ownAddresses: [mailbox.email, message.from.email],
      answers: original,
      identityId: message.identityId!,
      sendAt,
      fingerprint: message.fingerprint,
    })
    return { id: kept.submissionId, messageId: kept.messageId }
  }
}

/** Whether the mailbox quota has room for the copy in Sent, if one is requested (docs/design/mailbox.md §9). */
export function hasRoom(
  { mailbox, account }: SendingMailbox,
  { written, freedBytes }: { written: ComposedContent; freedBytes: number },
): boolean {
  return written.message === null || account.usedBytes - freedBytes + written.sizeBytes <= mailbox.quotaBytes
}

export function mailboxFull(): ProductError {
  return conflict('The mailbox quota has no room for the copy in Sent. Delete messages first.')
}
