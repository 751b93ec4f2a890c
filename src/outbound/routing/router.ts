// Chooses the route of a message and gives the reason (docs/design/sending.md §3).

import { DAY_MS } from '../../base/durations.ts'
import type { DomainStatus } from '../../directory/domains/domains.ts'
import { SYSTEM_TEAM_ID } from '../../directory/keys/teams.ts'
import type { SendScope } from '../../directory/mailboxes/mailbox-input.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Email, Provider } from '../model/records.ts'
import type { DeliveryGroup, Groups } from '../providers/groups.ts'
import type { Providers } from '../providers/providers.ts'
import { QuotaCounts } from '../providers/quotas.ts'
import type { RoutingRule, RoutingRules } from '../providers/routing-rules.ts'
import type { SharedLimit } from '../providers/shared-limit.ts'
import { candidatesOf, commonStrategy, mayCarry, mayForward, type RoutingCandidate } from './candidates.ts'
import { orderOf } from './choose.ts'
import type { Decision, KnownDomainStatus } from './decision.ts'
import { type SkippedAccounts, underRule, whyChosen, whyFull, without } from './reasons.ts'
import { rulesByDomain } from './rule-search.ts'

export interface RouterDeps extends OutboundDeps {
  providers: Pick<Providers, 'switchedOn' | 'activeOf'>
  groups: Pick<Groups, 'many' | 'nextTurn'>
  rules: Pick<RoutingRules, 'of'>
  sharedLimit: Pick<SharedLimit, 'take' | 'limitOf'>
  /** Returns 0 to 1, for weighted draws; defaults to `Math.random`. */
  random?: () => number
}

/** What decides on the accounts of a message; without a source it is no forwarded one. */
type RoutedMessage = Pick<Email, 'teamId' | 'mailboxId' | 'scope' | 'from'> & { source?: Email['source'] }

interface Accounts {
  domain: DomainStatus | undefined
  teamId: string
  groups: readonly DeliveryGroup[]
  inScope: readonly RoutingCandidate[]
  able: readonly RoutingCandidate[]
}

/** What is chosen from; see `decide`. */
interface Choice extends Accounts {
  isRuled: boolean
  exclude: ReadonlySet<string>
  tooSmall: ReadonlySet<string>
}

export class Router {
  readonly #deps: RouterDeps
  readonly #quotas: QuotaCounts
  readonly #random: () => number

  constructor(deps: RouterDeps) {
    this.#deps = deps
    this.#quotas = new QuotaCounts(deps)
    this.#random = deps.random ?? Math.random
  }

  /** The team's rules for the recipient domains of a message, by domain. @param found as in `decide` */
  async rulesFor(
    email: Email,
    domains: readonly string[],
    found: KnownDomainStatus,
  ): Promise<ReadonlyMap<string, RoutingRule>> {
    const { rules, resolver } = this.#deps
    return rulesByDomain(resolver, rules.of(this.#senderOf(email, found).teamId), domains)
  }

  /**
   * Chooses an account for a message and reserves quota for its recipients. Reads all rows on each call: another thread writes them.
   * @param recipients the number of recipients of the hand-over
   * @param exclude ids of accounts that have failed in this attempt
   * @param found status of the From domain if the caller has just read it
   * @param tooSmall ids of accounts for which the message is too large
   * @param rule of the recipients' domains: its accounts alone carry the message, where one of them may
   */
  async decide(
    email: Email,
    recipients: number,
    exclude: ReadonlySet<string>,
    found: KnownDomainStatus = null,
    tooSmall: ReadonlySet<string> = new Set(),
    rule: RoutingRule | null = null,
  ): Promise<Decision> {
    const accounts = this.#accountsFor(email, found)
    const ruled = rule && this.#underRule(rule, email, accounts, tooSmall)
    const decision =
      ruled === 'direct'
        ? ({ kind: 'direct', reason: 'It goes to the mail server of the recipient.' } as const)
        : await this.#choose(email, recipients, { ...accounts, ...ruled, isRuled: ruled !== null, exclude, tooSmall })
    return rule === null ? decision : underRule(decision, rule, ruled !== null)
  }

  async #choose(
    email: Email,
    recipients: number,
    { domain, groups, inScope, able: all, isRuled, exclude, tooSmall }: Choice,
  ): Promise<Decision> {
    const { config, clock } = this.#deps
    const able = all.filter(({ id }) => !tooSmall.has(id))
    const skipped = { failed: accountsIn(able, exclude), tooSmall: accountsIn(all, tooSmall) }
    const candidates = able.filter(({ id, provider }) => provider.status === 'active' && !exclude.has(id))
    if (candidates.length > 0) return this.#reserveFirst(await this.#order(candidates, groups), recipients, skipped)
    const accounts = { inScope: inScope.length, able: able.map(({ provider }) => provider), ...skipped }
    return without(email, domain, accounts, { mayGoDirect: config.DIRECT_DELIVERY && !isRuled, now: clock.now() })
  }

  /** An account whose From address is the default for a message without one; a weighted choice. That of an outside account is none. */
  defaultFrom(teamId: string): Provider | undefined {
    const accounts = this.#deps.providers.activeOf(teamId)
    const named = accounts.filter(
      ({ fromEmail, oauthEmail, remoteAccountId }) => (oauthEmail ?? fromEmail) !== null && remoteAccountId === null,
    )
    const candidates = candidatesOf(named, { type: 'all' }, [])
    return orderOf(candidates, 'weighted', 0, this.#random)[0]?.provider
  }

  /**
   * When messages can be accepted again (ms), if only the shared account may carry them and its daily limit is used up; null
   * otherwise. Messages accepted earlier wait until then (docs/design/sending.md §5, §12).
   * @param recipients how many must fit; a message with more than the daily limit would never be sent
   */
  sharedFullUntil(
    message: Pick<Email, 'teamId' | 'mailboxId' | 'scope' | 'from'>,
    recipients: number = 1,
  ): number | null {
    const { sharedLimit, clock } = this.#deps
    const { able } = this.#accountsFor(message, null)
    if (able.length === 0 || able.some(({ provider }) => provider.type !== 'amazon_ses')) return null
    const { dailyLimit, sentToday } = sharedLimit.limitOf(message.teamId)
    return dailyLimit === null || sentToday + recipients <= dailyLimit ? null : nextDay(clock.now())
  }

  /** Whether an account of the sender may use the From address, whatever state the account is in. */
  hasAccountFor(message: Pick<Email, 'teamId' | 'mailboxId' | 'scope' | 'from'>): boolean {
    return this.#accountsFor(message, null).able.length > 0
  }

  /** Whether messages that a mailbox forwards can leave. @param isLocal whether the address is at a domain of this appliance */
  canForward(sender: Omit<RoutedMessage, 'source'>, isLocal: boolean): boolean {
    const { domain, able } = this.#accountsFor({ ...sender, source: 'forward' }, null)
    if (able.length > 0) return true
    const isVerified = domain?.verificationStatus === 'verified'
    return isVerified && (isLocal || (this.#deps.config.DIRECT_DELIVERY && sender.scope.type === 'all'))
  }

  /**
   * What a rule leaves of the accounts; null where none of them may carry the message: a rule never loosens the scope of a sender nor
   * the rights of an account.
   */
  #underRule(
    { via, targetId }: RoutingRule,
    { scope }: Email,
    { domain, teamId, able }: Accounts,
    tooSmall: ReadonlySet<string>,
  ): Pick<Accounts, 'able' | 'groups'> | 'direct' | null {
    if (via === 'direct') {
      const isVerified = domain?.verificationStatus === 'verified'
      return this.#deps.config.DIRECT_DELIVERY && isVerified && scope.type === 'all' ? 'direct' : null
    }
    const groups = via === 'group' ? this.#deps.groups.many(teamId, [targetId!]) : []
    const target: SendScope =
      via === 'group' ? { type: 'group', groupIds: [targetId!] } : { type: 'providers', providerIds: [targetId!] }
    const accounts = able.flatMap(({ id, provider }) => (tooSmall.has(id) ? [] : [provider]))
    const left = candidatesOf(accounts, target, groups)
    return left.length === 0 ? null : { able: left, groups }
  }

  /** The status of the From domain, and the team whose accounts and rules count. */
  #senderOf(message: RoutedMessage, found: KnownDomainStatus) {
    const { directory, db, config } = this.#deps
    const domain = found === null ? directory.domains.statusFor(db.read, message, message.from.email) : found.found
    // Messages from the appliance's own domains use the accounts of AGENT_ROUTE_TEAM (docs/design/agents.md §7).
    return { domain, teamId: domain?.teamId === SYSTEM_TEAM_ID ? config.AGENT_ROUTE_TEAM : message.teamId }
  }

  /** The accounts in the sender's scope, and those of them that may use the From address. */
  #accountsFor(message: RoutedMessage, found: KnownDomainStatus): Accounts {
    const { scope, from, source } = message
    const { providers, groups: kept } = this.#deps
    const { domain, teamId } = this.#senderOf(message, found)
    const groups = scope.type === 'group' ? kept.many(teamId, scope.groupIds) : []
    const inScope = candidatesOf(providers.switchedOn(teamId), scope, groups)
    const may = source === 'forward' ? mayForward : mayCarry
    const able = inScope.filter(({ provider }) => may(provider, from.email, domain))
    return { domain, teamId, groups, inScope, able }
  }

  async #order(candidates: readonly RoutingCandidate[], groups: readonly DeliveryGroup[]): Promise<RoutingCandidate[]> {
    const { db, groups: kept } = this.#deps
    const strategy = commonStrategy(groups)
    const turn = strategy === 'round_robin' ? await db.write((tx) => kept.nextTurn(tx, groups[0]!.n)) : 0
    return orderOf(candidates, strategy, turn, this.#random)
  }

  async #reserveFirst(
    ordered: readonly RoutingCandidate[],
    recipients: number,
    skipped: SkippedAccounts,
  ): Promise<Decision> {
    const full: Provider[] = []
    let until = Number.POSITIVE_INFINITY
    for (const candidate of ordered) {
      const opensAt = await this.#reserve(candidate.provider, recipients)
      if (opensAt === null) {
        const reason = whyChosen(candidate, { among: ordered.length, full, ...skipped })
        return { kind: 'provider', provider: candidate.provider, reason }
      }
      full.push(candidate.provider)
      until = Math.min(until, opensAt)
    }
    return { kind: 'wait', until, cause: 'provider_quota', reason: whyFull(full, until) }
  }

  /** @returns null when the quota was reserved, else when (ms) to try again */
  async #reserve(provider: Provider, recipients: number): Promise<number | null> {
    if (provider.type !== 'amazon_ses' && this.#quotas.isFree(provider)) return null
    const { db, sharedLimit, clock } = this.#deps
    return db.write((tx) => {
      if (provider.type !== 'amazon_ses') return this.#quotas.take(tx, provider, recipients)
      if (sharedLimit.take(tx, provider.teamId, recipients)) return null
      return nextDay(clock.now())
    })
  }
}

function accountsIn(candidates: readonly RoutingCandidate[], ids: ReadonlySet<string>): Provider[] {
  return candidates.filter(({ id }) => ids.has(id)).map(({ provider }) => provider)
}

/** 00:00 UTC of the next day. */
function nextDay(now: number): number {
  return now - (now % DAY_MS) + DAY_MS
}
