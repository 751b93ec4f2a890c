// Which accounts the sender of a message may use, and their positions. Pure functions.

import type { DomainStatus } from '../../directory/domains/domains.ts'
import type { SendScope } from '../../directory/mailboxes/mailbox-input.ts'
import type { Provider } from '../model/records.ts'
import type { DeliveryGroup, GroupStrategy } from '../providers/groups.ts'
import type { Candidate } from './choose.ts'

/** A candidate account, and its group in the sender's scope. */
export interface RoutingCandidate extends Candidate {
  provider: Provider
  group: DeliveryGroup | null
}

/** The accounts in a scope, each once; accounts of several groups are in the order of the groups. */
export function candidatesOf(
  accounts: readonly Provider[],
  scope: SendScope,
  groups: readonly DeliveryGroup[],
): RoutingCandidate[] {
  if (scope.type === 'group') return membersOf(accounts, groups)
  const named = scope.type === 'all' ? accounts : accounts.filter(({ id }) => scope.providerIds.includes(id))
  return named.map((provider, position) => ({
    ...{ id: provider.id, weight: provider.percentage, position },
    ...{ provider, group: null },
  }))
}

function membersOf(accounts: readonly Provider[], groups: readonly DeliveryGroup[]): RoutingCandidate[] {
  const byId = new Map(accounts.map((provider) => [provider.id, provider]))
  const candidates = new Map<string, RoutingCandidate>()
  for (const group of groups) {
    for (const { providerId: id, weight } of group.members) {
      const provider = byId.get(id)
      if (provider === undefined || candidates.has(id)) continue
      // Members are sorted by position.
      candidates.set(id, { id, weight: weight ?? provider.percentage, position: candidates.size, provider, group })
    }
  }
  return [...candidates.values()]
}

/** The strategy of the groups if all have the same one, else `weighted`. */
export function commonStrategy(groups: readonly DeliveryGroup[]): GroupStrategy {
  const strategies = new Set(groups.map(({ strategy }) => strategy))
  const [only] = strategies
  return strategies.size === 1 ? only! : 'weighted'
}

/**
 * Whether an account may carry forwarded messages of a mailbox. Their From field names anybody: the APIs of Gmail and Outlook write
 * that of their account instead, and SES refuses others than its verified identities.
 */
export function mayForward(provider: Provider, from: string, domain: DomainStatus | undefined): boolean {
  return provider.type === 'smtp' && mayCarry(provider, from, domain)
}

/** Whether an account may carry messages from that address (docs/design/sending.md §3). */
export function mayCarry(provider: Provider, from: string, domain: DomainStatus | undefined): boolean {
  // That of an outside account carries what its mailbox writes, never other mail of the team.
  if (provider.remoteAccountId !== null) return isSame(provider.fromEmail, from)
  const isVerified = domain?.verificationStatus === 'verified'
  if (provider.type === 'amazon_ses') return isVerified && domain.sesDkimStatus === 'success'
  if (provider.type === 'smtp') return isVerified || isSame(provider.fromEmail, from)
  return isSame(provider.oauthEmail, from)
}

function isSame(one: string | null, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase()
}
