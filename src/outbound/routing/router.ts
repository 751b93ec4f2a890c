// Decides through whom a mail goes, and says why (decisions §3.3).

import { domainName } from '../../directory/domain-name.ts'
import type { Domain } from '../../directory/domains.ts'
import type { DeliveryGroup, Groups } from '../groups.ts'
import type { OutboundParts } from '../parts.ts'
import type { Providers } from '../providers/providers.ts'
import type { Email, Provider } from '../records.ts'
import type { Decision } from '../runner/parts.ts'
import type { SharedLimit } from '../shared-limit.ts'
import { type Candidate, orderOf } from './choose.ts'
import { QuotaCounts } from './quotas.ts'

export interface RouterParts extends OutboundParts {
  providers: Providers
  groups: Groups
  sharedLimit: Pick<SharedLimit, 'take'>
  /** 0 to 1, for weighted draws. */
  random?: () => number
}

const DAY_MS = 86_400_000

interface Route extends Candidate {
  provider: Provider
  group: DeliveryGroup | null
}

export class Router {
  readonly #parts: RouterParts
  readonly #quotas: QuotaCounts

  constructor(parts: RouterParts) {
    this.#parts = parts
    this.#quotas = new QuotaCounts(parts)
  }

  /**
   * Chooses an account for a mail and takes room for its recipients there.
   * @param recipients how many of them travel together
   * @param exclude ids of accounts that have failed in this try
   */
  async decide(email: Email, recipients: number, exclude: ReadonlySet<string>): Promise<Decision> {
    const domain = await this.#domainOf(email)
    const groups = await this.#groupsOf(email)
    const active = await this.#parts.providers.activeOf(email.teamId)
    const inScope = active.flatMap((provider) => routesOf(provider, email, groups))
    const able = inScope.filter(({ provider }) => mayUse(provider, email.from.email, domain))
    const routes = able.filter(({ id }) => !exclude.has(id))
    if (routes.length === 0) return this.#without(email, domain, { tried: able.length, inScope: inScope.length })
    const ordered = await this.#order(routes, groups)
    return this.#takeFirst(ordered, email, recipients, routes.length)
  }

  /** An account whose From address may stand in for one that was not given; weighted like every other choice. */
  async defaultFrom(teamId: string): Promise<Provider | undefined> {
    const active = await this.#parts.providers.activeOf(teamId)
    const routes = active
      .filter(({ fromEmail, oauthEmail }) => (oauthEmail ?? fromEmail) !== null)
      .map((provider) => ({ id: provider.id, weight: provider.percentage, position: 0, provider }))
    return orderOf(routes, 'weighted', 0, this.#parts.random ?? Math.random)[0]?.provider
  }

  async #domainOf(email: Email): Promise<Domain | undefined> {
    const { directory, db } = this.#parts
    const name = domainName(email.from.email.slice(email.from.email.lastIndexOf('@') + 1))
    return name === null ? undefined : directory.domains.ofTeam(db.read, email.teamId, name)
  }

  async #groupsOf({ scope, teamId }: Email): Promise<DeliveryGroup[] | null> {
    return scope.type === 'group' ? this.#parts.groups.many(teamId, scope.groupIds) : null
  }

  /** The strategy of a single group holds; accounts of several groups are shared by weight. */
  async #order(routes: readonly Route[], groups: readonly DeliveryGroup[] | null): Promise<Route[]> {
    const group = groups?.length === 1 ? groups[0]! : null
    const strategy = group?.strategy ?? 'weighted'
    const turn =
      strategy === 'round_robin' ? await this.#parts.db.write((tx) => this.#parts.groups.nextTurn(tx, group!.n)) : 0
    return orderOf(routes, strategy, turn, this.#parts.random ?? Math.random)
  }

  async #takeFirst(ordered: readonly Route[], email: Email, recipients: number, among: number): Promise<Decision> {
    let until = Number.POSITIVE_INFINITY
    for (const route of ordered) {
      const opensAt = await this.#take(route.provider, email, recipients)
      if (opensAt === null) return { kind: 'provider', provider: route.provider, reason: reasonOf(route, among) }
      until = Math.min(until, opensAt)
    }
    const names = ordered.map(({ provider }) => provider.name).join(', ')
    return { kind: 'wait', until, reason: `The quota is full: ${names}.` }
  }

  async #take(provider: Provider, email: Email, recipients: number): Promise<number | null> {
    if (provider.type !== 'amazon_ses' && this.#quotas.isFree(provider)) return null
    return this.#parts.db.write(async (tx) => {
      const opensAt = await this.#quotas.take(tx, provider, recipients)
      if (opensAt !== null || provider.type !== 'amazon_ses') return opensAt
      const now = this.#parts.clock.now()
      if (await this.#parts.sharedLimit.take(tx, email.teamId, recipients)) return null
      return now - (now % DAY_MS) + DAY_MS
    })
  }

  #without(email: Email, domain: Domain | undefined, counts: { tried: number; inScope: number }): Decision {
    const { config } = this.#parts
    const verified = domain?.verificationStatus === 'verified'
    // Whoever names the accounts a mailbox may use does not want it to go past them.
    if (config.DIRECT_DELIVERY && verified && email.scope.type === 'all' && counts.tried === 0) {
      return {
        kind: 'direct',
        reason: 'No sending account may use this From address: handed to the recipient’s server.',
      }
    }
    if (counts.tried > 0) {
      const reason = 'Every sending account that may use this From address has failed.'
      return { kind: 'wait', until: this.#parts.clock.now(), reason }
    }
    if (!verified && domain === undefined) {
      const detail = `No sending account may use ${email.from.email}, and its domain is not one of the team's.`
      return { kind: 'reject', reason: counts.inScope === 0 ? 'no_provider' : 'unverified_domain', detail }
    }
    if (!verified) {
      return { kind: 'reject', reason: 'unverified_domain', detail: `The domain ${domain!.name} is not verified.` }
    }
    const why = email.scope.type === 'all' ? 'There is no sending account' : 'The mailbox may use no sending account'
    return { kind: 'reject', reason: 'no_provider', detail: `${why} for ${email.from.email}.` }
  }
}

/** The account's place in the scope of the sender: none, once, or once for its first group. */
function routesOf(provider: Provider, { scope }: Email, groups: readonly DeliveryGroup[] | null): Route[] {
  const plain = { id: provider.id, weight: provider.percentage, position: 0, provider, group: null }
  if (scope.type === 'all') return [plain]
  if (scope.type === 'providers') return scope.providerIds.includes(provider.id) ? [plain] : []
  for (const group of groups ?? []) {
    const member = group.members.find(({ providerId }) => providerId === provider.id)
    if (member) return [{ ...plain, weight: member.weight ?? provider.percentage, position: member.position, group }]
  }
  return []
}

/** Whether an account may carry mail from that address. */
function mayUse(provider: Provider, from: string, domain: Domain | undefined): boolean {
  const address = from.toLowerCase()
  const verified = domain?.verificationStatus === 'verified'
  if (provider.type === 'amazon_ses') return verified && domain.sesDkimStatus === 'success'
  if (provider.type === 'smtp') return verified || provider.fromEmail?.toLowerCase() === address
  return provider.oauthEmail?.toLowerCase() === address
}

function reasonOf({ provider, group }: Route, among: number): string {
  const inGroup = group === null ? '' : ` in the group ${group.name} (${group.strategy})`
  return among === 1
    ? `${provider.name} is the only sending account for this From address${inGroup}.`
    : `${provider.name} was chosen among ${among} sending accounts${inGroup}.`
}
