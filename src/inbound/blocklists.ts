// Asks blocklists and allowlists on the DNS about the sending host and the domains of a message (RFC 5782).

import type { Clock } from '../base/clock.ts'
import { HOUR_MS, SECOND_MS } from '../base/durations.ts'
import type { Log } from '../base/log.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Config } from '../config/config.ts'
import { askList, type BlocklistKind, testList } from '../net/blocklist.ts'
import { reversedLabels } from '../net/reverse-name.ts'
import { type Fact, type FactName, factOf } from '../spam/catalog.ts'

/** All lists together answer in this time, or say nothing. */
const DEADLINE_MS = 2 * SECOND_MS
/** Domains of one message that are asked about. */
const DOMAINS_MAX = 10
/** How long the test of a list holds, ms. */
const TESTED_MS = HOUR_MS
interface Deps {
  config: Pick<Config, 'DNSBL' | 'DNSWL' | 'DOMAIN_BLOCKLISTS'>
  resolver: Pick<Resolver, 'resolve'>
  clock: Clock
  log: Log
}

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
    const look = async (kind: BlocklistKind, list: string, entry: string, fact: FactName, detail: string) => {
      if ((await this.#isUsable(kind, list)) && (await askList(this.#deps.resolver, `${entry}.${list}`)) === 'listed')
        facts.push(factOf(fact, detail))
    }
    const reversed = reversedLabels(address)
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
  #isUsable(kind: BlocklistKind, list: string): Promise<boolean> {
    const { clock } = this.#deps
    const now = clock.monotonic()
    const known = this.#tests.get(list)
    if (known !== undefined && now < known.until) return known.isUsable
    const isUsable = this.#test(kind, list)
    this.#tests.set(list, { isUsable, until: now + TESTED_MS })
    return isUsable
  }

  async #test(kind: BlocklistKind, list: string): Promise<boolean> {
    const state = await testList(this.#deps.resolver, kind, list)
    if (state !== 'usable')
      this.#deps.log.warn({ event: 'smtp.blocklist_unusable', list, state }, 'Blocklist does not pass its test')
    return state === 'usable'
  }
}

/** Several lists that say the same count once. */
function strongest(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [fact.name, fact])).values()]
}
