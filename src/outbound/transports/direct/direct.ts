// Direct delivery: finds the mail servers of a domain in DNS and hands the message to the first that accepts it (RFC 5321 §5.1).

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
import { SmtpError } from '../smtp/errors.ts'
import { ownReply } from '../smtp/reply.ts'
import { Backoff } from './backoff.ts'
import { findRoute } from './route.ts'
import { ServerSearch } from './search.ts'
import { Servers } from './servers.ts'

type Deps = Pick<OutboundDeps, 'clock' | 'config' | 'resolver'>

/** Causes that delay every message to a destination. Unreachable hosts are recorded by address instead. */
const HOLDS_FOR_ALL = new Set<DelayCause>(['dns', 'throttled'])

/** All recipients of one hand-over share a domain. */
export function openDirect(deps: Deps): DirectTransport {
  return new Direct(deps)
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
    const { resolver, config } = this.#deps
    const route = await findRoute(resolver, domain, config.MAIL_HOSTS)
    if (route.kind === 'hosts') return this.#search(domain, route.hosts, handover)
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

  async #search(domain: string, hosts: readonly string[], handover: DirectHandover): Promise<Answered | NotTried> {
    const { clock, resolver, config } = this.#deps
    const deps = { clock, resolver, servers: this.#servers, allowPrivate: config.ALLOW_PRIVATE_SMTP_HOSTS }
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
