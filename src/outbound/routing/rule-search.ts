// Finds the routing rule for each recipient domain of a message: by its name, else by who runs its mail servers.

import type { Resolver } from '../../base/resolver.ts'
import { registeredDomain } from '../../directory/names/domain-name.ts'
import { type RoutingRule, ruleOfDomain } from '../providers/routing-rules.ts'

/** @param rules of one team @returns the rules by domain; domains without one are left out */
export async function rulesByDomain(
  resolver: Pick<Resolver, 'resolve'>,
  rules: readonly RoutingRule[],
  domains: readonly string[],
): Promise<ReadonlyMap<string, RoutingRule>> {
  const found = new Map<string, RoutingRule>()
  if (rules.length === 0) return found
  const operators = new Map(rules.flatMap((rule) => (rule.match === 'operator' ? [[rule.domain, rule]] : [])))
  await Promise.all(
    [...new Set(domains)].map(async (domain) => {
      const named = ruleOfDomain(rules, domain)
      const rule = named ?? (operators.size === 0 ? undefined : operators.get(await operatorOf(resolver, domain)))
      if (rule !== undefined) found.set(domain, rule)
    }),
  )
  return found
}

/** The registered domain of the preferred mail server; that of the name itself without an MX record (RFC 5321 §5.1), or when DNS fails. */
async function operatorOf(resolver: Pick<Resolver, 'resolve'>, domain: string): Promise<string> {
  const records = await resolver.resolve(domain, 'MX').catch(() => [])
  const [first] = (records as { priority: number; exchange: string }[]).toSorted((a, b) => a.priority - b.priority)
  const host = (first?.exchange ?? domain).toLowerCase().replace(/\.$/, '')
  return registeredDomain(host) ?? host
}
