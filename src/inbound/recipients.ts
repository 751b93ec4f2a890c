// Who a recipient is: the mailbox behind an address, or the reason why nobody takes mail for it.

import type { Clock } from '../base/clock.ts'
import type { Directory } from '../directory/directory.ts'
import { type FilterPolicy, judgeEnvelope, policyKey, policyOf } from '../directory/filter-policy.ts'
import type { FilterDecision } from '../directory/filters.ts'
import type { Mailbox } from '../directory/mailboxes.ts'
import type { Email } from '../outbound/records.ts'
import type { RecipientPath, Sender } from '../smtp/envelope.ts'
import { MAX_MAIL_BYTES } from '../smtp/limits.ts'
import type { Accounts } from '../store/accounts.ts'
import { type Refusal, refusals } from './refusals.ts'
import type { ReportAddress, ReportAddresses } from './report-address.ts'
import type { Divisions } from './split-recipients.ts'

/** Decisions §10.9: a mailbox that stays full is told apart from one that is full for a moment. */
export const FULL_DEFER_MS = 5 * 24 * 60 * 60 * 1000
/** What the trace headers may add to a mail, in bytes. */
const TRACE_BYTES = 4096

/** A recipient that was accepted. */
export interface Recipient {
  rcptTo: string
  mailbox: Mailbox
  teamId: string
  /** The domain the mail came in by. */
  domain: string
  policy: FilterPolicy
  /** Recipients of one transaction have the same company: DATA has one answer for all of them. */
  company: string
}

/** An address that reports come back to. */
export interface ReportRecipient extends ReportAddress {
  /** Who gets what is no report, such as an auto-reply: the mailbox the mail was sent from; null where none takes it. */
  reader: Recipient | null
  /** Why that mailbox does not take it at the moment. */
  deferral: Refusal | null
}

/** A recipient that was turned away, and whose log is told; no team for domains that are none of ours. */
export interface Turned {
  refusal: Refusal
  rcptTo: string
  domain: string
  teamId: string | null
  mailboxId: string | null
  filter: FilterDecision | null
}

/** What the transaction is so far. */
export interface Gathering {
  sender: Sender
  recipients: readonly Recipient[]
  report: ReportRecipient | null
}

interface Parts {
  directory: Directory
  accounts: Accounts
  clock: Clock
  divisions: Divisions
  reports: ReportAddresses
}

export class Recipients {
  readonly #directory: Directory
  readonly #accounts: Accounts
  readonly #clock: Clock
  readonly #divisions: Divisions
  readonly #reports: ReportAddresses

  constructor(parts: Parts) {
    this.#directory = parts.directory
    this.#accounts = parts.accounts
    this.#clock = parts.clock
    this.#divisions = parts.divisions
    this.#reports = parts.reports
  }

  /** Decides, and stores nothing but since when a mailbox has been full. */
  async judge(path: RecipientPath, gathering: Gathering): Promise<Recipient | ReportRecipient | Turned> {
    const isHome = this.#reports.isHome(path.domain)
    const report = isHome ? await this.#reports.find(path, gathering.sender.address !== '') : null
    if (report) return this.#judgeReport(report, gathering)
    return this.#judgeMailbox(path, isHome, gathering)
  }

  /** @param isHome the domain is one of the appliance itself: only its role names have somebody behind them */
  async #judgeMailbox(path: RecipientPath, isHome: boolean, gathering: Gathering): Promise<Recipient | Turned> {
    const domain = path.domain === '' || isHome ? null : path.domain
    const found = await this.#directory.mailboxes.receiver(path.local, domain)
    const turned = (refusal: Refusal, mailbox?: Mailbox, filter: FilterDecision | null = null): Turned => ({
      refusal,
      rcptTo: path.address,
      domain: path.domain,
      teamId: 'domain' in found ? (found.domain?.teamId ?? null) : null,
      mailboxId: mailbox?.id ?? null,
      filter,
    })
    if (found.reason === 'unknown_domain') return turned(refusals.foreign)
    if (found.reason === 'unknown_recipient') return turned(refusals.unknown)
    if (found.reason === 'team_suspended') return turned(found.deferred ? refusals.teamSuspended : refusals.suspended)
    if (found.reason === 'mailbox_suspended') return turned(refusals.suspended, found.mailbox)
    const { mailbox } = found
    const policy = await policyOf(this.#directory.filters, { mailboxId: mailbox.id, domainId: found.domain.id })
    const denied = judgeEnvelope(policy, gathering.sender.address)
    if (denied) return turned(refusals.filtered, mailbox, denied)
    const full = await this.judgeRoom(mailbox, gathering.sender.declaredBytes ?? 0)
    if (full) return turned(full, mailbox)
    const company = await this.#company(mailbox, policy, gathering.sender)
    const first = gathering.recipients[0]
    const isApart = gathering.report !== null || (first && first.company !== company)
    if (isApart) return turned(refusals.separately, mailbox)
    return { rcptTo: path.address, mailbox, teamId: mailbox.teamId, domain: found.domain.name, policy, company }
  }

  async #judgeReport(report: ReportAddress, gathering: Gathering): Promise<ReportRecipient | Turned> {
    const { rcptTo, domain, email } = report
    if (gathering.report !== null || gathering.recipients.length > 0) {
      const { teamId = null, mailboxId = null } = email ?? {}
      return { refusal: refusals.separately, rcptTo, domain, teamId, mailboxId, filter: null }
    }
    const mailbox = email === null ? undefined : await this.#sendingMailbox(email)
    if (!mailbox) return { ...report, reader: null, deferral: null }
    const at = mailbox.email.lastIndexOf('@')
    const path = { address: rcptTo, local: mailbox.email.slice(0, at), domain: mailbox.email.slice(at + 1) }
    const reader = await this.#judgeMailbox(path, false, gathering)
    // The address may be somebody else's since: what is meant for the one before is none of hers.
    if (!isTurned(reader))
      return { ...report, reader: reader.mailbox.id === mailbox.id ? reader : null, deferral: null }
    const isForNow = reader.mailboxId === mailbox.id && reader.refusal.reply.code < 500
    return { ...report, reader: null, deferral: isForNow ? reader.refusal : null }
  }

  /** The mailbox a message was sent from; for a root key the team's own mailbox at its From address. */
  async #sendingMailbox({ mailboxId, teamId, from }: Email): Promise<Mailbox | undefined> {
    const { mailboxes } = this.#directory
    if (mailboxId !== null) return mailboxes.byId(mailboxId)
    const at = from.email.lastIndexOf('@')
    const found = await mailboxes.receiver(from.email.slice(0, at), from.email.slice(at + 1).toLowerCase())
    return found.reason === null && found.mailbox.teamId === teamId ? found.mailbox : undefined
  }

  /** @returns null when a mail of that size fits into the mailbox */
  async judgeRoom(mailbox: Mailbox, sizeBytes: number): Promise<Refusal | null> {
    const least = sizeBytes + TRACE_BYTES
    const since = await this.#accounts.fullSince(mailbox.id, mailbox.quotaBytes, least)
    if (since === null) return null
    return this.#clock.now() - since > FULL_DEFER_MS ? refusals.longFull : refusals.full
  }

  /** Who may travel together: all, but for senders whose mail was divided before, and mailboxes that may be too small. */
  async #company(mailbox: Mailbox, policy: FilterPolicy, sender: Sender): Promise<string> {
    if (await this.#isTight(mailbox, sender)) return `alone ${mailbox.id}`
    return this.#divisions.has(sender.address) ? policyKey(policy) : ''
  }

  /** A mailbox that may turn out too small once the mail is there, because the client did not say how long it is. */
  async #isTight(mailbox: Mailbox, sender: Sender): Promise<boolean> {
    if (sender.declaredBytes !== null) return false
    const account = await this.#accounts.byMailbox(mailbox.id)
    return account !== undefined && account.usedBytes + MAX_MAIL_BYTES + TRACE_BYTES > mailbox.quotaBytes
  }
}

export function isTurned(verdict: Recipient | ReportRecipient | Turned): verdict is Turned {
  return 'refusal' in verdict
}

export function isForReports(verdict: Recipient | ReportRecipient): verdict is ReportRecipient {
  return 'reader' in verdict
}
