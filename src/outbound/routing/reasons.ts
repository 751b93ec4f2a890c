// Why the router chose a route or none: one sentence for people, stored with the delivery.

import { isoTime } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import type { DomainStatus } from '../../directory/domains/domains.ts'
import type { Email, Provider } from '../model/records.ts'
import type { RoutingRule } from '../providers/routing-rules.ts'
import type { RoutingCandidate } from './candidates.ts'
import type { Decision } from './decision.ts'

/** Retry delay while no account works, and a shorter one while an account is being checked. ms */
const RETRY_MS = 5 * MINUTE_MS
const CHECK_MS = 15_000
/** Accounts named in a sentence; further ones are counted. */
const NAMED_MAX = 3
/** Maximum length of a name in a sentence. Characters. */
const NAME_SHOWN = 60

/** Accounts already tried in the same attempt. */
export interface SkippedAccounts {
  failed: readonly Provider[]
  /** The message is too large for them, or they do not forward it. */
  tooSmall: readonly Provider[]
}

/** @param others the number of candidates, and those skipped: their quota is full, or they were already tried */
export function whyChosen(
  { provider, group }: RoutingCandidate,
  others: SkippedAccounts & { among: number; full: readonly Provider[] },
): string {
  const { among, full, failed, tooSmall } = others
  const candidate = group === null ? '' : ` in the group ${shown(group.name)} (${group.strategy})`
  const chosen =
    among === 1
      ? `${shown(provider.name)} is the only sending account for this From address${candidate}`
      : `${shown(provider.name)} was chosen among ${among} sending accounts${candidate}`
  const skipped = [
    ...(full.length > 0 ? [`full: ${namesOf(full)}`] : []),
    ...(failed.length > 0 ? [`failed before: ${namesOf(failed)}`] : []),
    ...(tooSmall.length > 0 ? [`too large for: ${namesOf(tooSmall)}`] : []),
  ]
  return skipped.length === 0 ? `${chosen}.` : `${chosen}; ${skipped.join('; ')}.`
}

/** Names the rule for the recipients in the reason. @param isApplied false when it leads to no account that may carry the message */
export function underRule(decision: Decision, { match, domain }: RoutingRule, isApplied: boolean): Decision {
  const rule = match === 'domain' ? domain : `mail servers of ${domain}`
  const said = (reason: string) =>
    isApplied
      ? `By the routing rule for ${rule}. ${reason}`
      : `${reason} The routing rule for ${rule} does not apply: what it leads to may not carry this message.`
  if (decision.kind === 'reject') return { ...decision, detail: said(decision.detail) }
  return { ...decision, reason: said(decision.reason) }
}

/** @param until when the first window opens, ms */
export function whyFull(accounts: readonly Provider[], until: number): string {
  return `The quota is full until ${isoTime(until)}: ${namesOf(accounts)}.`
}

/**
 * The decision for a message that no account accepts now. A scope is a restriction: a message never bypasses the accounts of
 * its scope. A message that an account may carry once it works again is not rejected.
 * @param accounts those in the scope, and those of them that may use the From address and accept a message of that size
 * @param options.mayGoDirect whether our own MTA may deliver
 */
export function without(
  email: Email,
  domain: DomainStatus | undefined,
  accounts: SkippedAccounts & { inScope: number; able: readonly Provider[] },
  options: { mayGoDirect: boolean; now: number },
): Decision {
  const isVerified = domain?.verificationStatus === 'verified'
  if (accounts.failed.length > 0) {
    const reason = `Every sending account for this From address has failed: ${namesOf(accounts.failed)}.`
    return { kind: 'wait', until: options.now + RETRY_MS, cause: 'network', reason }
  }
  const mayGoDirect = options.mayGoDirect && isVerified && email.scope.type === 'all'
  const isRefused = accounts.able.length === 0 && accounts.tooSmall.length > 0
  if (isRefused && email.source === 'forward' && !mayGoDirect) {
    const detail = `No sending account forwards this message: ${namesOf(accounts.tooSmall)}.`
    return { kind: 'reject', reason: 'content_refused', detail }
  }
  if (isRefused && email.source !== 'forward') {
    const detail = `The message is too large for every sending account for this From address: ${namesOf(accounts.tooSmall)}.`
    return { kind: 'reject', reason: 'message_too_large', detail }
  }
  if (mayGoDirect) {
    const why =
      accounts.able.length > 0 ? 'No sending account works now' : 'No sending account is for this From address'
    return { kind: 'direct', reason: `${why}: it goes to the mail server of the recipient.` }
  }
  if (accounts.able.length > 0) {
    const states = accounts.able.map((provider) => ({ name: `${shown(provider.name)} (${provider.status})` }))
    const isChecked = accounts.able.some(({ status }) => status === 'pending')
    const until = options.now + (isChecked ? CHECK_MS : RETRY_MS)
    return { kind: 'wait', until, cause: 'network', reason: `No sending account works now: ${namesOf(states)}.` }
  }
  return { kind: 'reject', ...whyRejected(email, domain, accounts.inScope) }
}

function whyRejected(email: Email, domain: DomainStatus | undefined, inScope: number) {
  const from = email.from.email
  if (domain !== undefined && domain.verificationStatus !== 'verified') {
    return { reason: 'unverified_domain' as const, detail: `The domain ${domain.name} is not verified.` }
  }
  if (domain === undefined && inScope > 0) {
    const detail = `No sending account may use ${from}, and its domain is not one of the team.`
    return { reason: 'unverified_domain' as const, detail }
  }
  const where = email.scope.type === 'all' ? 'There is no sending account' : 'The mailbox may use no sending account'
  return { reason: 'no_provider' as const, detail: `${where} for ${from}.` }
}

function namesOf(accounts: readonly { name: string }[]): string {
  const named = accounts.slice(0, NAMED_MAX).map(({ name }) => shown(name))
  const more = accounts.length - named.length
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function shown(name: string): string {
  return name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN - 1)}…` : name
}
