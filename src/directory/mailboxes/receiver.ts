// Resolves a recipient address to a mailbox.

import { DAY_MS } from '../../base/durations.ts'
import { unquote } from '../../mime/local-part.ts'
import { basesOf, SEPARATOR_DEFAULT } from '../../mime/local-patterns.ts'
import type { ReceivingDomain } from '../domains/domain-record.ts'
import type { Domains } from '../domains/domains.ts'
import { TLS_REPORTS_TO } from '../domains/tls-records.ts'
import type { Mailbox } from './mailbox-record.ts'

/** Which step of the resolution found the mailbox (docs/design/directory.md §6.4). */
export const ADDRESS_STEPS = ['address', 'throw_away', 'sub_address', 'role', 'pattern'] as const
export type AddressStep = (typeof ADDRESS_STEPS)[number]

/** Whether the owner of the mailbox does not have the address in their mail programs: a throw-away address, or one of a pattern. */
export function isUnlisted(step: AddressStep): boolean {
  return step === 'throw_away' || step === 'pattern'
}

/** The mailbox of a recipient address, or why there is none. */
export type ReceiverLookup =
  /** `reached`: the address or alias that it is a sub-address of, or the address itself, lower-case. */
  | { reason: null; mailbox: Mailbox; domain: ReceivingDomain; step: AddressStep; reached: string }
  | { reason: 'unknown_domain' }
  /** `domain` is null for names that belong to the appliance rather than to a team. */
  | { reason: 'unknown_recipient'; domain: ReceivingDomain | null }
  | { reason: 'mailbox_suspended'; mailbox: Mailbox; domain: ReceivingDomain }
  /** A throw-away address that its mailbox has paused. */
  | { reason: 'address_paused'; mailbox: Mailbox; domain: ReceivingDomain }
  /** `deferred` while mail gets a temporary error; afterwards it is rejected (docs/design/directory.md §3). */
  | { reason: 'team_suspended'; domain: ReceivingDomain; deferred: boolean }

/** Facts about the recipient address, stored and used with a copy of a message. */
export interface Reach {
  /** The address or alias that it is a sub-address of, or the address itself, lower-case. */
  reached: string
  step: AddressStep
  /** The domain whose pattern led here, for an address that is no mailbox and no alias; null otherwise. */
  patternOf: string | null
}

export function reachOf({ reached, step, domain }: Extract<ReceiverLookup, { reason: null }>): Reach {
  return { reached, step, patternOf: step === 'pattern' ? domain.id : null }
}

/** The mailbox that exactly an address leads to. */
export interface ReachedMailbox {
  mailbox: Mailbox
  isThrowAway: boolean
  isPaused: boolean
}

/** What the lookup needs. Both mailbox methods read by index. */
interface ReceiverDeps {
  mailboxes: {
    reachedAt(domainId: string, email: string): ReachedMailbox | undefined
    oldest(of: { domainId: string } | { teamId: string } | 'all'): Mailbox | undefined
    byId(id: string): Mailbox | undefined
  }
  addressing: { leadsTo(domainId: string, local: string): string | undefined }
  retired: { has(domainId: string, email: string): boolean }
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
// Certificate authorities send proofs of control there: they match no pattern (CA/Browser Forum BR §3.2.2.4.4).
const CONTROL_NAMES = ['admin', 'administrator', 'hostmaster', 'webmaster', ...ROLE_NAMES]
// The records of domains name dmarc@ and tlsrpt@ at the appliance as report addresses (docs/design/directory.md §5.2).
const OPERATOR_NAMES = [...ROLE_NAMES, 'dmarc', TLS_REPORTS_TO]

/**
 * Resolves `localPart` at `domain`: two reads by index, more only for aliases, sub-addresses, role names and patterns.
 * @param localPart as written in the envelope: any case, quoted or not, with or without a tag
 * @param domain lower-case A-labels; null for the bare `<postmaster>` of RFC 5321 §4.5.1
 */
export function findReceiver(deps: ReceiverDeps, localPart: string, domain: string | null): ReceiverLookup {
  const local = unquote(localPart).toLowerCase()
  if (domain === null || deps.mailHosts.includes(domain)) return findOperator(deps, local)
  const target = deps.domains.byName(domain)
  if (target === undefined) return { reason: 'unknown_domain' }
  if (target.teamSuspendedAt !== null) {
    const deferred = deps.now < target.teamSuspendedAt + SUSPENDED_DEFER_MS
    return { reason: 'team_suspended', domain: target, deferred }
  }
  const resolution =
    findNamed(deps, local, target) ?? findRole(deps, local, target) ?? findByPattern(deps, local, target)
  if (resolution === undefined) return { reason: 'unknown_recipient', domain: target }
  if (resolution.mailbox.status !== 'active')
    return { reason: 'mailbox_suspended', mailbox: resolution.mailbox, domain: target }
  const { isPaused, ...found } = resolution
  if (isPaused) return { reason: 'address_paused', mailbox: found.mailbox, domain: target }
  return { reason: null, domain: target, ...found }
}

interface Resolution {
  mailbox: Mailbox
  step: AddressStep
  reached: string
  isPaused?: boolean
}

/** By the address itself, or else by the longest base of a sub-address (RFC 5233). A throw-away address has none. */
function findNamed({ mailboxes }: ReceiverDeps, local: string, domain: ReceivingDomain): Resolution | undefined {
  for (const base of [local, ...basesOf(local, domain.separators)]) {
    // No mailbox and no alias has a name with them.
    if (/[+=]/.test(base)) continue
    const reached = `${base}@${domain.name}`
    const found = mailboxes.reachedAt(domain.id, reached)
    const isWhole = base === local
    if (found === undefined || (found.isThrowAway && !isWhole)) continue
    const { mailbox, isThrowAway, isPaused } = found
    if (isThrowAway) return { mailbox, step: 'throw_away', reached, isPaused }
    return { mailbox, step: isWhole ? 'address' : 'sub_address', reached }
  }
  return undefined
}

function findRole(deps: ReceiverDeps, local: string, domain: ReceivingDomain): Resolution | undefined {
  const role = bareLocal(local, domain.separators)
  const mailbox = ROLE_NAMES.includes(role) ? findOwner(deps, domain) : undefined
  return mailbox && { mailbox, step: 'role', reached: `${role}@${domain.name}` }
}

/** An address that ended, a tag of one, or a tag of a throw-away address matches no pattern: who ended or paused it wants no more mail to it. */
function findByPattern(deps: ReceiverDeps, local: string, domain: ReceivingDomain): Resolution | undefined {
  if (CONTROL_NAMES.includes(bareLocal(local, domain.separators))) return undefined
  const id = deps.addressing.leadsTo(domain.id, local)
  const mailbox = id === undefined ? undefined : deps.mailboxes.byId(id)
  if (mailbox === undefined || mailbox.status === 'deleted') return undefined
  const bases = basesOf(local, domain.separators).map((base) => `${base}@${domain.name}`)
  const reached = `${local}@${domain.name}`
  if ([reached, ...bases].some((address) => deps.retired.has(domain.id, address))) return undefined
  if (bases.some((base) => deps.mailboxes.reachedAt(domain.id, base)?.isThrowAway === true)) return undefined
  return { mailbox, step: 'pattern', reached }
}

/** Without any tag. */
function bareLocal(local: string, separators: string): string {
  return basesOf(local, separators).at(-1) ?? local
}

// Role names reach the oldest mailbox of the domain, or else of the team.
function findOwner({ mailboxes }: ReceiverDeps, domain: ReceivingDomain): Mailbox | undefined {
  return mailboxes.oldest({ domainId: domain.id }) ?? mailboxes.oldest({ teamId: domain.teamId })
}

// Role names of the appliance itself reach its oldest mailbox, which is the operator's.
function findOperator({ mailboxes, domains }: ReceiverDeps, local: string): ReceiverLookup {
  const mailbox = OPERATOR_NAMES.includes(bareLocal(local, SEPARATOR_DEFAULT)) ? mailboxes.oldest('all') : undefined
  const domain = mailbox?.domainId == null ? undefined : domains.receivingById(mailbox.domainId)
  if (!mailbox || !domain) return { reason: 'unknown_recipient', domain: null }
  return { reason: null, mailbox, domain, step: 'role', reached: mailbox.email }
}
