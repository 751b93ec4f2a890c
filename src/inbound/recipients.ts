// Resolves a recipient address at RCPT: the mailbox behind it, a report address, or the reason to reject it.

import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import type { Directory } from '../directory/directory.ts'
import { evaluateEnvelope, type FilterPolicy, policyKey, policyOf } from '../directory/domains/filter-policy.ts'
import type { FilterDecision } from '../directory/domains/filters.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { NEW_PER_TRANSACTION } from '../directory/mailboxes/pattern-addresses.ts'
import { type Reach, reachOf } from '../directory/mailboxes/receiver.ts'
import { networkOf } from '../net/connections.ts'
import type { Email } from '../outbound/model/records.ts'
import type { EnvelopeSender, RecipientPath } from '../smtp/envelope.ts'
import { MAX_MESSAGE_BYTES } from '../smtp/limits.ts'
import type { Accounts } from '../store/rows/accounts.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'
import type { ReportAddress, ReportAddresses } from './report-address.ts'
import type { SplitRecipients } from './split-recipients.ts'

/** docs/design/mailbox.md §9: a mailbox that has been full for longer than this rejects permanently (552) instead of deferring (452). */
export const FULL_DEFER_MS = 5 * DAY_MS
/** Bytes the trace fields may add to a message. */
const TRACE_BYTES = 4096
/** The usual size of what one client has, for counting the new addresses that it brings. */
const NETWORK_BITS = { ipv4: 24, ipv6: 64 }

/** A recipient that was accepted. */
export interface AcceptedRecipient extends Reach {
  rcptTo: string
  mailbox: Mailbox
  teamId: string
  /** The domain of the recipient address. */
  domain: string
  policy: FilterPolicy
  /** Recipients of one transaction share the batch key: DATA has one reply for all of them. */
  batchKey: string
}

/** A bounce or feedback address. */
export interface ReportRecipient extends ReportAddress {
  /** Gets messages that are not reports, such as auto-replies: the mailbox that sent the message; null when it cannot receive. */
  reader: AcceptedRecipient | null
  /** Why that mailbox cannot receive at the moment; null otherwise. */
  deferral: SmtpRefusal | null
}

/** A rejected recipient, and the team whose log gets a row; no team for domains not hosted here. */
export interface RejectedRecipient {
  refusal: SmtpRefusal
  rcptTo: string
  domain: string
  teamId: string | null
  mailboxId: string | null
  filter: FilterDecision | null
}

/** The transaction so far. */
export interface PendingTransaction {
  sender: EnvelopeSender
  recipients: readonly AcceptedRecipient[]
  report: ReportRecipient | null
  /** The address of the client. */
  source: string
}

interface Deps {
  directory: Pick<Directory, 'mailboxes' | 'filters'>
  accounts: Pick<Accounts, 'byMailbox'>
  /** See `Accounts.fullSince`, which writes. */
  fullSince(mailboxId: string, quotaBytes: number, sizeBytes: number): Promise<number | null>
  /** See `PatternAddresses.admit`, which counts. */
  admitByPattern(domainId: string, email: string, source: string): Promise<boolean>
  clock: Clock
  splitRecipients: Pick<SplitRecipients, 'has'>
  reports: ReportAddresses
}

export class Recipients {
  readonly #directory: Deps['directory']
  readonly #accounts: Deps['accounts']
  readonly #fullSince: Deps['fullSince']
  readonly #admitByPattern: Deps['admitByPattern']
  readonly #clock: Clock
  readonly #splitRecipients: Deps['splitRecipients']
  readonly #reports: ReportAddresses

  constructor(deps: Deps) {
    this.#directory = deps.directory
    this.#accounts = deps.accounts
    this.#fullSince = deps.fullSince
    this.#admitByPattern = deps.admitByPattern
    this.#clock = deps.clock
    this.#splitRecipients = deps.splitRecipients
    this.#reports = deps.reports
  }

  /** Stores nothing but the time since which a mailbox has been full, through the writer. */
  async evaluate(
    path: RecipientPath,
    transaction: PendingTransaction,
  ): Promise<AcceptedRecipient | ReportRecipient | RejectedRecipient> {
    const isOwn = this.#reports.isBounceDomain(path.domain)
    const report = isOwn ? this.#reports.find(path, transaction.sender.address !== '') : null
    if (report) return this.#evaluateReport(report, transaction)
    return this.#evaluateMailbox(path, isOwn, transaction)
  }

  /** @param isOwn the domain belongs to the appliance itself: only its role addresses exist */
  async #evaluateMailbox(
    path: RecipientPath,
    isOwn: boolean,
    transaction: PendingTransaction,
  ): Promise<AcceptedRecipient | RejectedRecipient> {
    const domain = path.domain === '' || isOwn ? null : path.domain
    const lookup = this.#directory.mailboxes.receiver(path.local, domain)
    const reject = (
      refusal: SmtpRefusal,
      mailbox?: Mailbox,
      filter: FilterDecision | null = null,
    ): RejectedRecipient => ({
      refusal,
      rcptTo: path.address,
      domain: path.domain,
      teamId: 'domain' in lookup ? (lookup.domain?.teamId ?? null) : null,
      mailboxId: mailbox?.id ?? null,
      filter,
    })
    if (lookup.reason === 'unknown_domain') return reject(refusals.foreign)
    if (lookup.reason === 'unknown_recipient') return reject(refusals.unknown)
    if (lookup.reason === 'team_suspended') return reject(lookup.deferred ? refusals.teamSuspended : refusals.suspended)
    if (lookup.reason === 'mailbox_suspended') return reject(refusals.suspended, lookup.mailbox)
    if (lookup.reason === 'address_paused') return reject(refusals.paused, lookup.mailbox)
    const { mailbox } = lookup
    const policy = await policyOf(this.#directory.filters, { mailboxId: mailbox.id, domainId: lookup.domain.id })
    const denied = evaluateEnvelope(policy, transaction.sender.address)
    if (denied) return reject(refusals.filtered, mailbox, denied)
    const full = await this.checkQuota(mailbox, transaction.sender.declaredBytes ?? 0)
    if (full) return reject(full, mailbox)
    const reach = reachOf(lookup)
    const isFew = reach.patternOf === null || (await this.#mayBringNew(reach.patternOf, reach.reached, transaction))
    if (!isFew) return reject(refusals.manyNew, mailbox)
    const batchKey = this.#batchKey(mailbox, policy, transaction.sender)
    const first = transaction.recipients[0]
    const isApart = transaction.report !== null || (first && first.batchKey !== batchKey)
    if (isApart) return reject(refusals.separately, mailbox)
    const { teamId } = mailbox
    return { rcptTo: path.address, ...reach, mailbox, teamId, domain: lookup.domain.name, policy, batchKey }
  }

  /** Guesses must not fill the mailbox that a pattern leads to. */
  async #mayBringNew(domainId: string, email: string, { recipients, source }: PendingTransaction): Promise<boolean> {
    const others = recipients.filter(({ patternOf }) => patternOf !== null).length
    return (
      others < NEW_PER_TRANSACTION && (await this.#admitByPattern(domainId, email, networkOf(source, NETWORK_BITS)))
    )
  }

  async #evaluateReport(
    report: ReportAddress,
    transaction: PendingTransaction,
  ): Promise<ReportRecipient | RejectedRecipient> {
    const { rcptTo, domain, email } = report
    if (transaction.report !== null || transaction.recipients.length > 0) {
      const { teamId = null, mailboxId = null } = email ?? {}
      return { refusal: refusals.separately, rcptTo, domain, teamId, mailboxId, filter: null }
    }
    const mailbox = email === null ? undefined : this.#sendingMailbox(email)
    if (!mailbox) return { ...report, reader: null, deferral: null }
    const at = mailbox.email.lastIndexOf('@')
    const path = { address: rcptTo, local: mailbox.email.slice(0, at), domain: mailbox.email.slice(at + 1) }
    const reader = await this.#evaluateMailbox(path, false, transaction)
    // The address may belong to another mailbox by now, which must not receive the previous owner's mail.
    if (!isRejected(reader))
      return { ...report, reader: reader.mailbox.id === mailbox.id ? reader : null, deferral: null }
    const isForNow = reader.mailboxId === mailbox.id && reader.refusal.reply.code < 500
    return { ...report, reader: null, deferral: isForNow ? reader.refusal : null }
  }

  /** The mailbox a message was sent from; for a root key the team's own mailbox at its From address. */
  #sendingMailbox({ mailboxId, teamId, from }: Email): Mailbox | undefined {
    const { mailboxes } = this.#directory
    if (mailboxId !== null) return mailboxes.byId(mailboxId)
    const at = from.email.lastIndexOf('@')
    const found = mailboxes.receiver(from.email.slice(0, at), from.email.slice(at + 1).toLowerCase())
    return found.reason === null && found.mailbox.teamId === teamId ? found.mailbox : undefined
  }

  /** @returns null when a message of that size fits into the mailbox */
  async checkQuota(mailbox: Mailbox, sizeBytes: number): Promise<SmtpRefusal | null> {
    const least = sizeBytes + TRACE_BYTES
    const account = this.#accounts.byMailbox(mailbox.id)
    if (!account || account.usedBytes + least <= mailbox.quotaBytes) return null
    const since = await this.#fullSince(mailbox.id, mailbox.quotaBytes, least)
    if (since === null) return null
    return this.#clock.now() - since > FULL_DEFER_MS ? refusals.longFull : refusals.full
  }

  /** "" for most recipients; senders with recently split recipients are batched by filter policy and script, mailboxes near their quota alone. */
  #batchKey(mailbox: Mailbox, policy: FilterPolicy, sender: EnvelopeSender): string {
    if (this.#mayOverflow(mailbox, sender)) return `alone ${mailbox.id}`
    if (!this.#splitRecipients.has(sender.address)) return ''
    // A script may refuse the message for one mailbox, and keep it for another.
    return `${policyKey(policy)} ${mailbox.scriptKey === null ? '' : mailbox.id}`
  }

  /** True when the client declared no SIZE and a message of the maximum size would exceed the quota. */
  #mayOverflow(mailbox: Mailbox, sender: EnvelopeSender): boolean {
    if (sender.declaredBytes !== null) return false
    const account = this.#accounts.byMailbox(mailbox.id)
    return account !== undefined && account.usedBytes + MAX_MESSAGE_BYTES + TRACE_BYTES > mailbox.quotaBytes
  }
}

export function isRejected(
  verdict: AcceptedRecipient | ReportRecipient | RejectedRecipient,
): verdict is RejectedRecipient {
  return 'refusal' in verdict
}

export function isForReports(verdict: AcceptedRecipient | ReportRecipient): verdict is ReportRecipient {
  return 'reader' in verdict
}
