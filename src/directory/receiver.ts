// Who receives what is sent to an address.

import type { ReceivingDomain } from './domain-record.ts'
import type { Domains } from './domains.ts'
import { baseLocal } from './local-part.ts'
import type { Mailbox } from './mailbox-record.ts'

/** Who receives what is sent to an address, or why nobody does. */
export type Receiver =
  | { reason: null; mailbox: Mailbox; domain: ReceivingDomain }
  | { reason: 'unknown_domain' }
  /** `domain` is null for names that belong to the appliance rather than to a team. */
  | { reason: 'unknown_recipient'; domain: ReceivingDomain | null }
  | { reason: 'mailbox_suspended'; mailbox: Mailbox; domain: ReceivingDomain }
  /** `deferred` while the sender should try again later; afterwards the mail is refused (decisions §2.3). */
  | { reason: 'team_suspended'; domain: ReceivingDomain; deferred: boolean }

/** Where to look. The two methods read by index. */
interface Places {
  mailboxes: {
    reachedAt(domainId: string, email: string): Promise<Mailbox | undefined>
    oldest(of: { domainId: string } | { teamId: string } | 'all'): Promise<Mailbox | undefined>
  }
  domains: Pick<Domains, 'byName' | 'receivingById'>
  /** The names of the appliance itself. */
  mailHosts: readonly string[]
  /** ms */
  now: number
}

/** How long mail for a suspended team is deferred before it is refused. */
export const SUSPENDED_DEFER_MS = 7 * 86_400_000
// RFC 2142 §4-5, RFC 5321 §4.5.1: these reach somebody at every domain.
const ROLE_NAMES = ['postmaster', 'abuse']
// The DMARC records we tell owners of domains to publish ask for reports to that name at the appliance (decisions §4.2).
const OPERATOR_NAMES = [...ROLE_NAMES, 'dmarc']

/**
 * Who receives what is sent to `localPart` at `domain`: two reads by index, more for aliases and role names only.
 * @param localPart as written in the envelope: any case, quoted or not, with or without a `+tag`
 * @param domain lower-case A-labels; null for the bare `<postmaster>` of RFC 5321 §4.5.1
 */
export async function findReceiver(places: Places, localPart: string, domain: string | null): Promise<Receiver> {
  const local = baseLocal(localPart)
  if (domain === null || places.mailHosts.includes(domain)) return findOperator(places, local)
  const target = await places.domains.byName(domain)
  if (target === undefined) return { reason: 'unknown_domain' }
  if (target.teamSuspendedAt !== null) {
    const deferred = places.now < target.teamSuspendedAt + SUSPENDED_DEFER_MS
    return { reason: 'team_suspended', domain: target, deferred }
  }
  const named = await places.mailboxes.reachedAt(target.id, `${local}@${target.name}`)
  const mailbox = named ?? (ROLE_NAMES.includes(local) ? await findOwner(places, target) : undefined)
  if (mailbox === undefined) return { reason: 'unknown_recipient', domain: target }
  return { reason: mailbox.status === 'active' ? null : 'mailbox_suspended', mailbox, domain: target }
}

// The oldest mailbox of the domain, else of the team, stands for the team's owners.
async function findOwner({ mailboxes }: Places, domain: ReceivingDomain): Promise<Mailbox | undefined> {
  return (await mailboxes.oldest({ domainId: domain.id })) ?? (await mailboxes.oldest({ teamId: domain.teamId }))
}

// Role names of the appliance itself reach the oldest mailbox of all: it is the operator's.
async function findOperator({ mailboxes, domains }: Places, local: string): Promise<Receiver> {
  const mailbox = OPERATOR_NAMES.includes(local) ? await mailboxes.oldest('all') : undefined
  const domain = mailbox && (await domains.receivingById(mailbox.domainId))
  return domain ? { reason: null, mailbox, domain } : { reason: 'unknown_recipient', domain: null }
}
