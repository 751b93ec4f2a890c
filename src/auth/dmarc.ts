// Evaluates DMARC: the policy of the author domain, or the strictest one when the From field is ambiguous.

import mailauthDmarc from 'mailauth/lib/dmarc/index.js'
import tools from 'mailauth/lib/tools.js'
import { getDomain } from 'tldts'
import type { Author } from '../mime/author.ts'
import type { AuthResult, SignatureVerdict } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'
import { KnownOutcomes } from './known-outcomes.ts'
import { answerOf, type RecordingResolver } from './recording-resolver.ts'
import { resultOf } from './signatures.ts'

const REASON_MAX = 300
/** From the mildest to the strictest; "" when there is no policy. */
const POLICIES = ['', 'none', 'quarantine', 'reject']

/** The results of SPF and DKIM for a message. */
export interface AuthenticatedIdentifiers {
  spf: { result: AuthResult; domain: string }
  signatures: readonly SignatureVerdict[]
  /** Domains with a signature that passes and covers the message. */
  signed: readonly string[]
}

export interface Dmarc {
  result: AuthResult
  policy: string
  /** The domain the result is about; "" when there is none. */
  domain: string
  reason: string
  fromAligned: boolean
  aligned(signature: SignatureVerdict): boolean
}

type Lookups = Pick<RecordingResolver, 'resolve' | 'known'>

type DomainEvaluation = Omit<Dmarc, 'fromAligned'>

export class DmarcCheck {
  readonly #author: Author
  readonly #dns: Lookups

  /** Starts the policy lookups immediately: slow name servers of the sender must not use up the time for them. */
  constructor(author: Author, dns: RecordingResolver) {
    this.#author = author
    this.#dns = memoized(dns)
    const nothing: AuthenticatedIdentifiers = { spf: { result: 'none', domain: '' }, signatures: [], signed: [] }
    for (const domain of author.domains) void this.#evaluate(domain, nothing)
  }

  async result(identities: AuthenticatedIdentifiers): Promise<Dmarc> {
    const evaluations = await Promise.all(this.#author.domains.map((domain) => this.#evaluate(domain, identities)))
    const { problem } = this.#author
    if (problem === '') return { ...evaluations[0]!, fromAligned: isAligned(evaluations[0]!, identities) }
    // RFC 7489 6.6.1: apply the strictest policy of the domains whose check does not pass. The message is not aligned.
    const worst = evaluations.filter(({ result }) => result === 'fail' || result === 'temperror').sort(byStrictness)[0]
    const none = { result: 'permerror', policy: '', domain: '' } as const
    const reason = clean(worst ? `${problem} ${worst.reason}` : problem, REASON_MAX)
    return { ...(worst ?? none), reason, fromAligned: false, aligned: () => false }
  }

  async #evaluate(domain: string, identities: AuthenticatedIdentifiers): Promise<DomainEvaluation> {
    const { spf, signed } = identities
    try {
      const spfDomain = spf.result === 'pass' ? spf.domain : null
      const { response, dkimAligned } = await evaluated(domain, spfDomain, signed, this.#dns)
      if (response === false) return undecidable(domain, 'The domain in the From field is ambiguous.')
      const passing = new Set(signed.map((name) => tools.formatDomain(name)))
      const aligned = (signature: SignatureVerdict) => {
        if (signature.result !== 'pass') return related(domain, signature.domain)
        return (
          passing.has(signature.domain) && (dkimAligned?.has(signature.domain) ?? related(domain, signature.domain))
        )
      }
      const result = undecided(domain, resultOf(response.status.result), identities)
      const reason = clean(reasonOf(result, domain, response.error), REASON_MAX)
      const isUnknown = result === 'temperror' && response.policy === undefined
      const policy = isUnknown ? await this.#inherited(domain) : (response.policy ?? '')
      return { result, policy, domain, reason, aligned }
    } catch (error) {
      return undecidable(domain, clean(`DMARC could not be checked: ${error}`, REASON_MAX))
    }
  }

  /**
   * What the registered domain asks for of its subdomains: the strictest a message of a name can meet whose own name servers do not
   * answer. Large zones have delegations without a working server, and a forger may choose one of them.
   */
  async #inherited(domain: string): Promise<string> {
    const registered = getDomain(domain)
    if (registered === null || registered === domain) return ''
    const { response } = await evaluated(registered, null, [], this.#dns)
    return response === false ? '' : (response.sp ?? response.policy ?? '')
  }
}

type Evaluation = Awaited<ReturnType<typeof mailauthDmarc.evaluateDmarc>>

/** By author domain and authenticated domains. */
const known = new KnownOutcomes<Evaluation>()

function evaluated(domain: string, spfDomain: string | null, signed: readonly string[], dns: Lookups) {
  return known.get(JSON.stringify([domain, spfDomain, ...signed]), dns, (resolver) =>
    mailauthDmarc.evaluateDmarc({
      headerFrom: [`author@${domain}`],
      fromFields: 1,
      spfDomains: spfDomain === null ? [] : [spfDomain],
      dkimDomains: signed.map((name) => ({ domain: name })),
      resolver,
      strict: true,
    }),
  )
}

/** Without a DMARC record, alignment means the same organizational domain. */
function related(domain: string, other: string): boolean {
  return Boolean(tools.getAlignment(domain, [other]))
}

function isAligned({ result, domain }: DomainEvaluation, { spf, signed }: AuthenticatedIdentifiers): boolean {
  if (result === 'pass') return true
  const byIdentity =
    (spf.result === 'pass' && related(domain, spf.domain)) || signed.some((name) => related(domain, name))
  return result === 'none' && byIdentity
}

/** Strictest policy first; with equal policies "fail" before "temperror". */
function byStrictness(a: DomainEvaluation, b: DomainEvaluation): number {
  const byPolicy = POLICIES.indexOf(b.policy) - POLICIES.indexOf(a.policy)
  return byPolicy || Number(b.result === 'fail') - Number(a.result === 'fail')
}

function undecidable(domain: string, reason: string): DomainEvaluation {
  return { result: 'permerror', policy: '', domain, reason, aligned: () => false }
}

/** A "fail" becomes "temperror" while an aligned SPF or DKIM check had a temporary error: a permanent rejection would be wrong. */
function undecided(domain: string, result: AuthResult, { spf, signatures }: AuthenticatedIdentifiers): AuthResult {
  if (result !== 'fail') return result
  const open = (other: { result: AuthResult; domain: string }) =>
    other.result === 'temperror' && related(domain, other.domain)
  return open(spf) || signatures.some(open) ? 'temperror' : 'fail'
}

function reasonOf(result: AuthResult, domain: string, error: string | undefined): string {
  if (result === 'pass') return `SPF or a DKIM signature is aligned with ${domain}.`
  if (result === 'none') return `There is no DMARC policy for ${domain}.`
  if (result === 'fail') return `Neither SPF nor a DKIM signature is aligned with ${domain}.`
  return `DMARC of ${domain} could not be decided: ${error ?? 'SPF or DKIM has no result yet'}.`
}

/** Looks up each record once, so that early answers remain available after the deadline. */
function memoized(dns: Lookups): Lookups {
  const asked = new Map<string, Promise<unknown[]>>()
  const texts = new Map<string, string>()
  const keyOf = (name: string, type: string) => `${type} ${name.toLowerCase()}`
  return {
    known: (name, type) => {
      const key = keyOf(name, type)
      const text = texts.get(key) ?? dns.known(name, type)
      if (text !== undefined) texts.set(key, text)
      return text
    },
    resolve: (name, type) => {
      const key = keyOf(name, type)
      const text = texts.get(key)
      const answer = asked.get(key) ?? (text === undefined ? dns.resolve(name, type) : answerOf(text))
      asked.set(key, answer)
      return answer
    },
  }
}
