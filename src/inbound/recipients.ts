// Who a recipient is: the mailbox behind an address, or the reason why nobody takes mail for it.

import type { Clock } from '../base/clock.ts'
import type { Directory } from '../directory/directory.ts'
import type { FilterDecision } from '../directory/filters.ts'
import type { Mailbox } from '../directory/mailboxes.ts'
import type { Accounts } from '../store/accounts.ts'
import type { Divisions } from './divisions.ts'
import type { RecipientPath, Sender } from './envelope.ts'
import { type FilterPolicy, judgeEnvelope, policyKey } from './filter.ts'
import { MAX_MAIL_BYTES } from './limits.ts'
import { type Refusal, refusals } from './replies.ts'

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
}

export class Recipients {
  readonly #directory: Directory
  readonly #accounts: Accounts
  readonly #clock: Clock
  readonly #divisions: Divisions

  constructor(parts: { directory: Directory; accounts: Accounts; clock: Clock; divisions: Divisions }) {
    this.#directory = parts.directory
    this.#accounts = parts.accounts
    this.#clock = parts.clock
    this.#divisions = parts.divisions
  }

  /** Decides, and stores nothing but since when a mailbox has been full. */
  async judge(path: RecipientPath, gathering: Gathering): Promise<Recipient | Turned> {
    const found = await this.#directory.mailboxes.receiver(path.local, path.domain === '' ? null : path.domain)
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
    const { mailbox, domain } = found
    const policy = await this.#policy(mailbox, domain.id)
    const denied = judgeEnvelope(policy, gathering.sender.address)
    if (denied) return turned(refusals.filtered, mailbox, denied)
    const full = await this.judgeRoom(mailbox, gathering.sender.declaredBytes ?? 0)
    if (full) return turned(full, mailbox)
    const company = await this.#company(mailbox, policy, gathering.sender)
    const first = gathering.recipients[0]
    if (first && first.company !== company) return turned(refusals.separately, mailbox)
    return { rcptTo: path.address, mailbox, teamId: mailbox.teamId, domain: domain.name, policy, company }
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

  async #policy(mailbox: Mailbox, domainId: string): Promise<FilterPolicy> {
    const [mailboxFilter, domainFilter] = await Promise.all([
      this.#directory.filters.get(mailbox.id),
      this.#directory.filters.get(domainId),
    ])
    return { mailboxFilter, domainFilter }
  }

  /** A mailbox that may turn out too small once the mail is there, because the client did not say how long it is. */
  async #isTight(mailbox: Mailbox, sender: Sender): Promise<boolean> {
    if (sender.declaredBytes !== null) return false
    const account = await this.#accounts.byMailbox(mailbox.id)
    return account !== undefined && account.usedBytes + MAX_MAIL_BYTES + TRACE_BYTES > mailbox.quotaBytes
  }
}

export function isTurned(verdict: Recipient | Turned): verdict is Turned {
  return 'refusal' in verdict
}
