// Asks blocklists and allowlists on the DNS about the sending host and the domains of a message (RFC 5782).

import type { Clock } from '../base/clock.ts'
import { HOUR_MS, SECOND_MS } from '../base/durations.ts'
import type { Log } from '../base/log.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Config } from '../config/config.ts'
import { reverseName } from '../net/reverse-name.ts'
import { type Fact, type FactName, factOf } from '../spam/catalog.ts'

/** All lists together answer in this time, or say nothing. */
const DEADLINE_MS = 2 * SECOND_MS
/** Domains of one message that are asked about. */
const DOMAINS_MAX = 10
/** How long the test of a list holds, ms. */
const TESTED_MS = HOUR_MS
/** RFC 5782 §5: every list of addresses lists 127.0.0.2, and none 127.0.0.1. */
const TEST_ENTRIES = { address: ['2.0.0.127', '1.0.0.127'], domain: ['test', 'invalid'] } as const

type ListKind = keyof typeof TEST_ENTRIES

interface Deps {
  config: Pick<Config, 'DNSBL' | 'DNSWL' | 'DOMAIN_BLOCKLISTS'>
  resolver: Pick<Resolver, 'resolve'>
  clock: Clock
  log: Log
}

/** What a list says: `error` also for an answer that is no listing, such as that of a limit. */
type Answer = 'listed' | 'unlisted' | 'error'

export class Blocklists {
  readonly #deps: Deps
  readonly #tests = new Map<string, { isUsable: Promise<boolean>; until: number }>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @param domains of links and of the author. Never throws, and takes no longer than the deadline. */
  async ask(address: string, domains: readonly string[]): Promise<Fact[]> {
    const { DNSBL, DNSWL, DOMAIN_BLOCKLISTS } = this.#deps.config
    if (DNSBL.length + DNSWL.length + DOMAIN_BLOCKLISTS.length === 0) return []
    const facts: Fact[] = []
    const look = async (kind: ListKind, list: string, entry: string, fact: FactName, detail: string) => {
      if ((await this.#isUsable(kind, list)) && (await this.#answer(`${entry}.${list}`)) === 'listed')
        facts.push(factOf(fact, detail))
    }
    const reversed = reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '')
    const asked = [
      ...DNSBL.map((list) => look('address', list, reversed, 'host_listed', list)),
      ...DNSWL.map((list) => look('address', list, reversed, 'host_welcome', list)),
      ...DOMAIN_BLOCKLISTS.flatMap((list) =>
        [...new Set(domains)]
          .slice(0, DOMAINS_MAX)
          .map((domain) => look('domain', list, domain, 'domain_listed', `${domain}: ${list}`)),
      ),
    ]
    const late = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(DEADLINE_MS, late.resolve)
    await Promise.race([Promise.all(asked), late.promise])
    timer.cancel()
    return strongest(facts)
  }

  /** A list that lists everything, or nothing any more, says nothing. */
  #isUsable(kind: ListKind, list: string): Promise<boolean> {
    const { clock } = this.#deps
    const now = clock.monotonic()
    const known = this.#tests.get(list)
    if (known !== undefined && now < known.until) return known.isUsable
    const isUsable = this.#test(kind, list)
    this.#tests.set(list, { isUsable, until: now + TESTED_MS })
    return isUsable
  }

  async #test(kind: ListKind, list: string): Promise<boolean> {
    const [present, absent] = TEST_ENTRIES[kind]
    const [first, second] = await Promise.all([this.#answer(`${present}.${list}`), this.#answer(`${absent}.${list}`)])
    // Few lists of domains have the test entries: one that lists what cannot exist is wrong.
    const isUsable = second === 'unlisted' && (kind === 'domain' || first === 'listed')
    if (!isUsable)
      this.#deps.log.warn({ event: 'smtp.blocklist_unusable', list, first, second }, 'Blocklist does not pass its test')
    return isUsable
  }

  async #answer(name: string): Promise<Answer> {
    try {
      const records = (await this.#deps.resolver.resolve(name, 'A')) as string[]
      return records.some(isListing) ? 'listed' : 'error'
    } catch (error) {
      const { code = '' } = error as { code?: string }
      return code === 'ENOTFOUND' || code === 'ENODATA' ? 'unlisted' : 'error'
    }
  }
}

/** Lists answer in 127.0.0.0/16 (RFC 5782 §2.1); 127.255.255.0/24 says that the question was refused, another address that the list is gone. */
function isListing(record: string): boolean {
  return record.startsWith('127.0.')
}

/** Several lists that say the same count once. */
function strongest(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [fact.name, fact])).values()]
}
