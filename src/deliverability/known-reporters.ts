// Which reporters are receivers of mail that left here: anyone can sign a report, and only these count for advice.

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import type { Resolver } from '../base/resolver.ts'
import { registeredDomain } from '../directory/names/domain-name.ts'
import type { Store } from '../store/store.ts'

/** Deliveries before count no more. */
const DELIVERED_DAYS = 90
/** Recipient domains whose mail servers are looked up. */
const DOMAINS_MAX = 50
/** Registered domains of mail servers whose operator reports under another one. */
const REPORTS_AS: ReadonlyMap<string, string> = new Map([
  ['outlook.com', 'microsoft.com'],
  ['yahoodns.net', 'yahoo.com'],
  ['googlemail.com', 'google.com'],
])

interface Deps {
  resolver: Resolver
  store: Pick<Store, 'log'>
}

/** Who reports: names below a registered domain cost nothing, and are one reporter. */
export function reporterOf(domain: string): string {
  return registeredDomain(domain) ?? domain
}

/** The registered domains of receivers of a domain's mail, and of those who run their mail servers. @param now ms */
export async function receiversOf(
  { resolver, store }: Deps,
  { name, teamId }: { name: string; teamId: string },
  now: number,
): Promise<Set<string>> {
  const span = { from: Math.floor((now - DELIVERED_DAYS * DAY_MS) / HOUR_MS), to: Math.floor(now / HOUR_MS) + 1 }
  const filter = { by: 'recipient_domain', domain: name, limit: DOMAINS_MAX } as const
  const { shares } = await store.log.reports.breakdown(teamId, span, filter)
  const delivered = shares.filter(({ key, counts }) => key !== null && counts.delivered > 0).map(({ key }) => key!)
  const hosts = await Promise.all(delivered.map((domain) => exchangesOf(resolver, domain)))
  const names = [...delivered, ...hosts.flat()].map(reporterOf)
  return new Set(names.flatMap((each) => [each, ...(REPORTS_AS.has(each) ? [REPORTS_AS.get(each)!] : [])]))
}

async function exchangesOf(resolver: Resolver, domain: string): Promise<string[]> {
  try {
    const records = (await resolver.resolve(domain, 'MX')) as { exchange: string }[]
    return records.map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '')).filter(Boolean)
  } catch {
    // The domain itself remains.
    return []
  }
}
