// Resolves a recipient address to a mailbox.

import { DAY_MS } from '../../base/durations.ts'
import { baseLocal } from '../../mime/local-part.ts'
import type { ReceivingDomain } from '../domains/domain-record.ts'
import type { Domains } from '../domains/domains.ts'
import { TLS_REPORTS_TO } from '../domains/tls-records.ts'
import type { Mailbox } from './mailbox-record.ts'

/** The mailbox of a recipient address, or why there is none. */
export type ReceiverLookup =
  | { reason: null; mailbox: Mailbox; domain: ReceivingDomain }
  | { reason: 'unknown_domain' }
  /** `domain` is null for names that belong to the appliance rather than to a team. */
  | { reason: 'unknown_recipient'; domain: ReceivingDomain | null }
  | { reason: 'mailbox_suspended'; mailbox: Mailbox; domain: ReceivingDomain }
  /** `deferred` while mail gets a temporary error; afterwards it is rejected (docs/design/directory.md §3). */
  | { reason: 'team_suspended'; domain: ReceivingDomain; deferred: boolean }

/** What the lookup needs. Both mailbox methods read by index. */
interface ReceiverDeps {
  mailboxes: {
    reachedAt(domainId: string, email: string): Mailbox | undefined
    oldest(of: { domainId: string } | { teamId: string } | 'all'): Mailbox | undefined
  }
  domains: Pick<Domains, 'byName' | 'receivingById'>
  /** The names of the appliance itself. */
  mailHosts: readonly string[]
  /** ms */
  now: number
}

/** How long mail for a suspended team is deferred before it is rejected, ms. */
export const SUSPENDED_DEFER_MS = 7 * DAY_MS
// RFC 2142 §4-5, RFC 5321 §4.5.1: these must be deliverable at every domain.
const ROLE_NAMES = ['postmaster', 'abuse']
// The records of domains name dmarc@ and tlsrpt@ at the appliance as report addresses (docs/design/directory.md §5.2).
const OPERATOR_NAMES = [...ROLE_NAMES, 'dmarc', TLS_REPORTS_TO]

/**
 * Resolves `localPart` at `domain`: two reads by index, more only for aliases and role names.
 * @param localPart as written in the envelope: any case, quoted or not, with or without a `+tag`
 * @param domain lower-case A-labels; null for the bare `<postmaster>` of RFC 5321 §4.5.1
 */
export function findReceiver(deps: ReceiverDeps, localPart: string, domain: string | null): ReceiverLookup {
  const local = baseLocal(localPart)
  if (domain === null || deps.mailHosts.includes(domain)) return findOperator(deps, local)
  const target = deps.domains.byName(domain)
  if (target === undefined) return { reason: 'unknown_domain' }
  if (target.teamSuspendedAt !== null) {
    const deferred = deps.now < target.teamSuspendedAt + SUSPENDED_DEFER_MS
    return { reason: 'team_suspended', domain: target, deferred }
  }
  const named = deps.mailboxes.reachedAt(target.id, `${local}@${target.name}`)
  const mailbox = named ?? (ROLE_NAMES.includes(local) ? findOwner(deps, target) : undefined)
  if (mailbox === undefined) return { reason: 'unknown_recipient', domain: target }
  return { reason: mailbox.status === 'active' ? null : 'mailbox_suspended', mailbox, domain: target }
}

// Role names reach the oldest mailbox of the domain, or else of the team.
function findOwner({ mailboxes }: ReceiverDeps, domain: ReceivingDomain): Mailbox | undefined {
  return mailboxes.oldest({ domainId: domain.id }) ?? mailboxes.oldest({ teamId: domain.teamId })
}

// Role names of the appliance itself reach its oldest mailbox, which is the operator's.
function findOperator({ mailboxes, domains }: ReceiverDeps, local: string): ReceiverLookup {
  const mailbox = OPERATOR_NAMES.includes(local) ? mailboxes.oldest('all') : undefined
  const domain = mailbox?.domainId == null ? undefined : domains.receivingById(mailbox.domainId)
  return mailbox && domain ? { reason: null, mailbox, domain } : { reason: 'unknown_recipient', domain: null }
}
