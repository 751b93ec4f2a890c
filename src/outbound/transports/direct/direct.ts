// Direct delivery: finds the mail servers of a domain in DNS and hands the message to the first that accepts it (RFC 5321 §5.1).

import { closeAll } from '../../../base/lifecycle.ts'
import { openResolver } from '../../../base/resolver.ts'
import { SafeFetch } from '../../../base/safe-fetch.ts'
import { domainOf } from '../../../mime/address.ts'
import type { OutboundDeps } from '../../model/deps.ts'
import type { DelayCause } from '../../model/records.ts'
import type {
  Answered,
  CheckResult,
  DirectHandover,
  DirectTransport,
  NotTried,
  Verdict,
} from '../../model/transport.ts'
import type { DomainTls } from '../../tls/domain-tls.ts'
import { StsPolicies, type StsState } from '../../tls/sts-policies.ts'
import { SmtpError } from '../smtp/errors.ts'
import { ownReply } from '../smtp/reply.ts'
import { Backoff } from './backoff.ts'
import { findRoute } from './route.ts'
import { ServerSearch } from './search.ts'
import { Servers } from './servers.ts'

type Deps = Pick<OutboundDeps, 'clock' | 'config' | 'resolver'> & {
  /** Policies of the domains; none are looked up without it. */
  policies?: Pick<StsPolicies, 'of'>
}

type GuardedDeps = Pick<OutboundDeps, 'clock' | 'config' | 'resolver' | 'db' | 'log'>

/** Causes that delay every message to a destination. Unreachable hosts are recorded by address instead. */
const HOLDS_FOR_ALL = new Set<DelayCause>(['dns', 'throttled'])

const NO_POLICY: StsState = { kind: 'none' }

/** All recipients of one hand-over share a domain. */
export function openDirect(deps: Deps): DirectTransport {
  return new Direct(deps)
}

/** The same under the TLS policies of domains, and with the resolvers that validate, where there are some. */
export function openGuardedDirect(deps: GuardedDeps): DirectTransport {
  const { config, clock, log } = deps
  const servers = config.DNSSEC_RESOLVERS
  const own = servers.length === 0 ? null : openResolver({ servers, clock, isTrusted: true })
  const resolver = own ?? deps.resolver
  const fetch = new SafeFetch({ resolver, log, allowPrivate: config.ALLOW_PRIVATE_SMTP_HOSTS })
  const direct = openDirect({ ...deps, resolver, policies: new StsPolicies({ ...deps, resolver, fetch }) })
  const parts = [direct, fetch, ...(own === null ? [] : [own])]
  const close = () => closeAll(parts.map((part) => () => part.close()))
  return { hand: (handover) => direct.hand(handover), check: (to) => direct.check(to), close }
}

class Direct implements DirectTransport {
  readonly #deps: Deps
  readonly #servers: Servers
  /** Domains whose DNS does not answer, or whose servers throttle us. */
  readonly #destinations: Backoff

  constructor(deps: Deps) {
    const { clock, config } = deps
    this.#deps = deps
    this.#servers = new Servers({ clock, port: config.DIRECT_PORT, helo: config.MAIL_HOSTS[0]! })
    this.#destinations = new Backoff(clock)
  }

  async hand(handover: DirectHandover): Promise<Answered | NotTried> {
    const first = handover.recipients[0]!
    const domain = domainOf(first)
    if (handover.isUrgent) this.#destinations.lift(domain)
    const failure = this.#destinations.get(domain)
    if (failure !== null) return { kind: 'not_tried', until: failure.until, failure: failure.error }
    const { resolver, config, policies } = this.#deps
    const isName = policies !== undefined && !domain.startsWith('[')
    const [route, sts] = await Promise.all([
      findRoute(resolver, domain, config.MAIL_HOSTS),
      isName ? policies.of(domain) : NO_POLICY,
    ])
    if (route.kind === 'hosts') {
      return this.#search({ domain, sts, isMxAuthentic: route.isAuthentic === true }, route.hosts, handover)
    }
    const all = (verdict: Verdict): Answered => {
      const verdicts = handover.recipients.map(() => verdict)
      return { kind: 'answered', verdicts, confirmation: 'recipient_mx', remoteIds: [], peer: domain }
    }
    if (route.kind === 'later') {
      return all(this.#failed(domain, new SmtpError('unreachable', 'dns', ownReply(route.sentence), 'dns')))
    }
    const reply = ownReply(route.sentence, route.enhancedCode)
    return { ...all({ kind: 'never', reply, about: 'recipient' }), isUnroutable: true }
  }

  /** Always succeeds: direct delivery has no server to authenticate to. */
  async check(): Promise<CheckResult> {
    const message = 'Messages are delivered directly to the mail servers of their recipients.'
    return { success: true, stage: 'dns', smtpCode: null, message }
  }

  close(): Promise<void> {
    return this.#servers.close()
  }

  async #search(tls: DomainTls, hosts: readonly string[], handover: DirectHandover): Promise<Answered | NotTried> {
    const { clock, resolver, config } = this.#deps
    const { domain } = tls
    const { ALLOW_PRIVATE_SMTP_HOSTS: allowPrivate, DIRECT_PORT: port, DIRECT_IPV6: usesIpv6 } = config
    const settings = { allowPrivate, port, usesIpv6 }
    const deps = { clock, resolver, servers: this.#servers, tls, ...settings }
    const search = new ServerSearch(deps, handover)
    const handed = await search.run(hosts)
    const { unreached } = search
    if (handed.kind === 'not_tried') return handed
    if (unreached === null) this.#destinations.succeed(domain)
    else if (HOLDS_FOR_ALL.has(unreached.cause)) {
      const failed = this.#failed(domain, unreached)
      return { ...handed, verdicts: handed.verdicts.map((verdict) => (verdict.kind === 'later' ? failed : verdict)) }
    }
    return handed
  }

  /** Records a failure of the destination, so that all messages to it back off. */
  #failed(domain: string, error: SmtpError): Verdict {
    this.#destinations.fail(domain, error)
    const notBefore = this.#destinations.get(domain)?.until ?? 0
    return { kind: 'later', reply: error.reply, cause: error.cause, notBefore }
  }
}
