// Routing rules of a team: messages to some recipient domains leave by one sending account, by a group, or straight (docs/design/sending.md §3).

import { invalid, ProductError } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import { key, type RecordOf, table, text } from '../../db/table.ts'
import { domainName, isHostName, registeredDomain } from '../../directory/names/domain-name.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { ownProviders } from './row.ts'

export const RULE_MATCHES = ['domain', 'operator'] as const
/** `domain`: that of the recipient's address; `operator`: the registered domain of its mail servers. */
export type RuleMatch = (typeof RULE_MATCHES)[number]
export const RULE_ROUTES = ['provider', 'group', 'direct'] as const
/** `direct`: straight to the mail server of the recipient. */
export type RuleRoute = (typeof RULE_ROUTES)[number]

export const ROUTING_RULES = table('routing_rules', {
  n: key(),
  team_id: text().hidden(),
  match: text<RuleMatch>(),
  /** Lower-case A-labels; `*.` before it stands for all names below it. */
  domain: text(),
  via: text<RuleRoute>(),
  /** An account or a group; null for `direct`. */
  target_id: text().orNull(),
})

export type RoutingRule = Omit<RecordOf<typeof ROUTING_RULES>, 'n'>

export const RULES_MAX = 200
/** Teams whose rules are in memory. */
const TEAMS_MAX = 500
const BELOW = '*.'

interface Deps extends OutboundDeps {
  groups: {
    /** Filters the ids to the groups of the team. */
    own(reader: Reader, teamId: string, ids: readonly string[]): ReadonlySet<string>
  }
}

export class RoutingRules {
  readonly #deps: Deps
  /** By team: read for each message that is sent. */
  readonly #known: RowCache<string, readonly RoutingRule[]>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new RowCache(deps.db, TEAMS_MAX)
  }

  /** In the order of their domains. */
  list(teamId: string, reader: Reader = this.#deps.db.read): RoutingRule[] {
    const rows = ROUTING_RULES.all(reader, 'WHERE team_id = ? ORDER BY match, domain', [teamId])
    return rows.map(({ n: _, ...rule }) => rule)
  }

  /** The same for routing, from memory. */
  of(teamId: string): readonly RoutingRule[] {
    return this.#known.get(teamId, () => this.list(teamId))!
  }

  /**
   * Replaces the rules of a team. Messages that are queued follow the new ones with their next attempt.
   * @param check receives the current rules inside the unit of work; throws to refuse
   * @throws ProductError validation_error, and what the check throws
   */
  put(
    teamId: string,
    rules: readonly RoutingRule[],
    check: (current: readonly RoutingRule[]) => void = () => {},
  ): Promise<RoutingRule[]> {
    if (rules.length > RULES_MAX) throw invalid('rules', 'too_big', `A team has at most ${RULES_MAX} rules.`)
    const normal = rules.map(normalRule)
    refuseRepeated(normal)
    return this.#deps.db.write((tx) => {
      check(this.list(teamId, tx))
      this.#refuseForeign(tx, teamId, normal)
      tx.run('DELETE FROM routing_rules WHERE team_id = ?', [teamId])
      for (const rule of normal) ROUTING_RULES.insert(tx, { teamId, ...rule })
      return this.list(teamId, tx)
    })
  }

  #refuseForeign(tx: Tx, teamId: string, rules: readonly RoutingRule[]): void {
    const { groups } = this.#deps
    for (const [index, { via, targetId }] of rules.entries()) {
      if (via === 'direct') continue
      const own = via === 'group' ? groups.own(tx, teamId, [targetId!]) : ownProviders(tx, teamId, [targetId!])
      if (own.has(targetId!)) continue
      throw invalid(
        `rules.${index}.${via}_id`,
        'not_found',
        `There is no such ${via === 'group' ? 'group' : 'provider'}.`,
      )
    }
  }
}

/** The domain of one rule that leads to an account or group. */
export function ruleNaming(tx: Tx, targetId: string): string | undefined {
  return tx.get<{ domain: string }>('SELECT domain FROM routing_rules WHERE target_id = ? LIMIT 1', [targetId])?.domain
}

/** Ends the rules that lead to an account, in the unit of work that removes it. */
export function dropRulesTo(tx: Tx, targetId: string): void {
  tx.run('DELETE FROM routing_rules WHERE target_id = ?', [targetId])
}

/** @throws ProductError conflict while a rule leads to the account or group */
export function refuseWhileRouted(tx: Tx, targetId: string, what: string): void {
  const domain = ruleNaming(tx, targetId)
  if (domain === undefined) return
  const message = `The ${what} is still used by the routing rule for ${domain}.`
  throw new ProductError('conflict', message, { issues: [{ field: 'rules', code: 'in_use', message }] })
}

/** The rule for a recipient domain: that for the name itself, else that for the longest name above it. @param domain lower-case */
export function ruleOfDomain(rules: readonly RoutingRule[], domain: string): RoutingRule | undefined {
  const matching = rules.filter(({ match, domain: named }) => match === 'domain' && isNamed(named, domain))
  const precision = ({ domain: named }: RoutingRule) => (named === domain ? Number.POSITIVE_INFINITY : named.length)
  return matching.toSorted((a, b) => precision(b) - precision(a))[0]
}

function isNamed(named: string, domain: string): boolean {
  return named.startsWith(BELOW) ? domain.endsWith(named.slice(1)) : domain === named
}

/** @throws ProductError validation_error */
function normalRule(rule: RoutingRule, index: number): RoutingRule {
  const field = `rules.${index}.domain`
  const isBelow = rule.match === 'domain' && rule.domain.startsWith(BELOW)
  const name = domainName(isBelow ? rule.domain.slice(BELOW.length) : rule.domain)
  if (name === null || !isHostName(name)) throw invalid(field, 'invalid_format', 'Give a domain, such as outlook.com.')
  if (rule.match === 'operator' && registeredDomain(name) !== name) {
    const message = 'Give the registered domain of the mail servers, such as outlook.com or google.com.'
    throw invalid(field, 'invalid_format', message)
  }
  return { ...rule, domain: isBelow ? BELOW + name : name }
}

function refuseRepeated(rules: readonly RoutingRule[]): void {
  const seen = new Set<string>()
  for (const [index, { match, domain }] of rules.entries()) {
    const name = `${match} ${domain}`
    if (seen.has(name)) throw invalid(`rules.${index}.domain`, 'duplicate', 'Two rules are for the same domain.')
    seen.add(name)
  }
}
