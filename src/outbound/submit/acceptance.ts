// Accepts composed messages: writes log rows, queue rows, the copy in Sent and the submission in the caller's unit of work.

import { conflict, type ProductError } from '../../base/errors.ts'
import type { Steps, Tx } from '../../db/db.ts'
import type { ComposedContent } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { OriginalMessage } from '../../store/messages/original.ts'
import type { Meter } from '../billing/meter.ts'
import type { KnownContacts } from '../held/contacts.ts'
import type { Holds } from '../held/holds.ts'
import type { PolicyVerdict, SendRules } from '../held/rules.ts'
import type { Accepted, Emails } from '../log/emails.ts'
import type { OutboundDeps, SendLimit } from '../model/deps.ts'
import { bounceAddress } from '../model/envelope-sender.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { MessageLabels } from '../model/message-labels.ts'
import type { MadeSubmission, Submitted } from '../model/new-message.ts'
import type { Email } from '../model/records.ts'
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
  /** Message-IDs of In-Reply-To and References. */
  answers: readonly string[]
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
  held: {
    /** The policy check of messages of programs. */
    rules: Pick<SendRules, 'rule'>
    holds: Pick<Holds, 'hold'>
    contacts: Pick<KnownContacts, 'note'>
  }
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
    const { emails, transitions, meter } = this.#deps
    const foreign = context.box && this.#foreignSender(tx, context.box, message)
    if (foreign !== null) return { kind: 'failed', error: foreign }
    const verdict = this.#checkPolicy(tx, context, message)
    if (verdict.kind === 'refuse') return { kind: 'failed', error: verdict.error }
    const error = this.#refusal(tx, context, message)
    if (error !== null) return { kind: 'failed', error }
    const accepted = emails.insert(tx, this.#rowOf(context, message))
    meter.hold(tx, context.sender.teamId, accepted.deliveries.length)
    const submission = context.box && this.#createSubmission(tx, context.box, message, accepted)
    const open: Accepted['deliveries'] = []
    for (const delivery of accepted.deliveries) {
      if (!suppressed.has(delivery.to.toLowerCase())) open.push(delivery)
      else transitions.apply(tx, delivery.n, { kind: 'rejected', reason: 'suppressed', detail: SUPPRESSED }, null)
    }
    const state = this.#queue(tx, context, message, { email: accepted.email, open, submission, verdict })
    return { kind: 'accepted', emailId: message.id, sendAt: message.sendAt, state, submission }
  }

  /** Queues the deliveries, or holds them. */
  #queue(
    tx: Tx,
    { sender }: SenderContext,
    message: Ready,
    accepted: { email: Email; open: Accepted['deliveries']; submission: MadeSubmission | null; verdict: PolicyVerdict },
  ): 'rejected' | 'held' | 'scheduled' | 'queued' {
    const { queue, held, clock } = this.#deps
    const { email, open, submission, verdict } = accepted
    const { recipients, sendAt, domainId } = message
    if (open.length === 0) return 'rejected'
    if (verdict.kind === 'hold') {
      const deliveries = open.map(({ n }) => n)
      const credential = sender.keyId ?? null
      held.holds.hold(tx, {
        ...{ email, domainId, deliveries, recipients, sendAt, credential, submission },
        ...verdict,
      })
      return 'held'
    }
    if (sender.kind === 'mailbox' && sender.person) held.contacts.note(tx, sender.mailboxId, recipients)
    queue.add(tx, email, open, sendAt)
    return sendAt > clock.now() ? 'scheduled' : 'queued'
  }

  /** Messages of signed-in persons need no one's approval. */
  #checkPolicy(tx: Tx, { box, sender }: SenderContext, { recipients, original, answers }: Ready): PolicyVerdict {
    if (box === null || sender.person !== undefined) return { kind: 'send' }
    const { mailbox, account } = box
    const { store, held } = this.#deps
    const message = { mailboxId: mailbox.id, teamId: mailbox.teamId, account, recipients }
    return held.rules.rule(
      tx,
      message,
      () => original?.thread ?? store.read.messages.threadNaming(tx, account, answers),
    )
  }

  /** Quota, balance, and the limit of agents, which takes the recipients. */
  #refusal(tx: Tx, { box, sender }: SenderContext, message: Ready): ProductError | null {
    if (box !== null && !hasRoom(this.#withUsage(tx, box), message)) return mailboxFull()
    const unpaid = this.#deps.meter.refusal(tx, sender.teamId, message.recipients.length)
    if (unpaid !== null || box?.mailbox.isAgent !== true) return unpaid
    return this.#deps.allowance.take(tx, box.mailbox.id, message.recipients.length)
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
