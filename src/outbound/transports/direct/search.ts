// Offers one message to the mail servers of a domain in turn: after a temporary failure the next server may accept it (RFC 5321 §5.1).

import { isIPv4 } from 'node:net'
import type { Clock } from '../../../base/clock.ts'
import type { Resolver } from '../../../base/resolver.ts'
import { namesHost } from '../../../tls-policy/sts.ts'
import type { RemoteReply } from '../../model/records.ts'
import type { Answered, DirectHandover, NotTried, Verdict } from '../../model/transport.ts'
import { type DomainTls, hostTls } from '../../tls/domain-tls.ts'
import { policyName, type TlsRequirement } from '../../tls/requirement.ts'
import { findAddresses } from '../smtp/addresses.ts'
import type { Connection } from '../smtp/connection.ts'
import { moreInformative, NO_ROUTE, noAddress, policyError, SmtpError } from '../smtp/errors.ts'
import { overConnection } from '../smtp/hand-over.ts'
import { ADDRESSES_MAX } from '../smtp/limits.ts'
import { isVerdict, offer, outgoingMessageOf } from '../smtp/offer.ts'
import { TEXT_MAX } from '../smtp/reply.ts'
import type { TransferResult } from '../smtp/verdicts.ts'
import { NotConnected } from './host-gate.ts'
import { LOOP, type Servers } from './servers.ts'

/** Time in ms after which no further server is tried; the queue retries later. */
export const SEARCH_MS = 300_000
/** Maximum number of servers that may hold the message without a final reply: each can cause a duplicate (RFC 1047). */
const DOUBTS_MAX = 2
/** Reply codes of a host that accepts no mail (RFC 7504). */
const NO_MAIL_HERE = new Set([521, 556])

const CANCELLED = never({ smtpCode: null, enhancedCode: null, text: 'The delivery was canceled.' })

type Later = Extract<Verdict, { kind: 'later' }>

interface SearchDeps {
  clock: Clock
  resolver: Resolver
  servers: Servers
  /** Whether private IP addresses are allowed. */
  allowPrivate: boolean
  /** Whether IPv6 is used where a host has an IPv4 address as well. */
  usesIpv6: boolean
  /** TCP port of the servers. */
  port: number
  /** The policies of the domain. */
  tls: DomainTls
}

export class ServerSearch {
  /** Why no server answered to the message; null if one did, or if the failure is permanent. */
  unreached: SmtpError | null = null
  readonly #deps: SearchDeps
  readonly #handover: DirectHandover
  /** Failures of servers and of their addresses. */
  readonly #errors: SmtpError[] = []
  readonly #failedAddresses: string[] = []
  /** By recipient: the final verdict, and the temporary failure that a server reported. */
  readonly #final = new Map<string, Verdict>()
  readonly #later = new Map<string, Later>()
  #addressesLeft = ADDRESSES_MAX
  #doubts = 0
  #peer: string | null = null
  #wasOffered = false
  #isWithdrawn = false

  constructor(deps: SearchDeps, handover: DirectHandover) {
    this.#deps = deps
    this.#handover = handover
  }

  /** @param hosts in the order of attempts, at least one */
  async run(hosts: readonly string[]): Promise<Answered | NotTried> {
    const end = this.#deps.clock.now() + SEARCH_MS
    for (const host of hosts) {
      const tls = await hostTls(this.#deps.tls, host, this.#deps)
      if ('refusal' in tls) {
        this.#errors.push(policyError(tls.refusal))
        continue
      }
      for (const address of await this.#addressesOf(host)) {
        const isDone = await this.#tryAddress(host, address, tls.requirement)
        if (this.#isOver(end)) return this.#result(hosts[0]!)
        if (isDone) break
      }
    }
    return this.#result(hosts[0]!)
  }

  get #open(): string[] {
    return this.#handover.recipients.filter((recipient) => !this.#final.has(recipient))
  }

  #isOver(end: number): boolean {
    if (this.#isWithdrawn || this.#handover.signal.aborted || this.#doubts >= DOUBTS_MAX) return true
    return this.#open.length === 0 || this.#deps.clock.now() >= end
  }

  async #addressesOf(host: string): Promise<string[]> {
    const { resolver, allowPrivate, usesIpv6 } = this.#deps
    const found = await findAddresses(resolver, host, allowPrivate)
    if (found.kind === 'found') {
      const four = usesIpv6 ? [] : found.addresses.filter((address) => isIPv4(address))
      return (four.length > 0 ? four : found.addresses).slice(0, Math.max(this.#addressesLeft, 0))
    }
    this.#errors.push(noAddress(host, found.kind))
    return []
  }

  /** @returns true when the other addresses of the host would give the same result */
  async #tryAddress(host: string, address: string, requirement: TlsRequirement | null): Promise<boolean> {
    const { servers } = this.#deps
    this.#addressesLeft--
    if (this.#handover.isUrgent) servers.gate.lift(address)
    const offerOver = (ready: Connection) => this.#offer(ready)
    const pool = servers.at(host, address, requirement)
    const { result, connection } = await overConnection(pool, this.#handover.signal, offerOver)
    if (result === null) return true
    const silence = connection?.channel.error ?? null
    if (silence?.kind === 'timeout') servers.gate.noteSilence(address, silence)
    else if (connection !== null) servers.gate.noteAnswer(address)
    if (result.kind === 'broken') return this.#failed(result.error, address)
    this.#peer = host
    if (result.kind === 'answered') return this.#answered(result, connection, requirement)
    const { stage, reply, cause } = result
    if (reply.smtpCode! < 500) return this.#failed(new SmtpError('refused', stage, reply, cause), address)
    // Direct delivery has no other account to fall back to: a refused sender refuses the message.
    for (const recipient of this.#open) this.#final.set(recipient, never(reply))
    return true
  }

  /** @returns null when the message must no longer be sent */
  async #offer(ready: Connection): Promise<TransferResult | null> {
    const { mailFrom, signal } = this.#handover
    const result = await this.#handover.lend<TransferResult>(async (bytes, pending, onSent) => {
      this.#wasOffered = true
      // Deliveries that were canceled in the meantime get a final verdict.
      for (const recipient of this.#open) if (!pending.includes(recipient)) this.#final.set(recipient, CANCELLED)
      const message = outgoingMessageOf({ bytes, mailFrom, recipients: this.#open })
      if (isVerdict(message)) return { kind: 'answered', verdicts: this.#open.map(() => message) }
      return offer(ready, { ...message, onSent }, { clock: this.#deps.clock, signal })
    })
    this.#isWithdrawn = result === null
    return result
  }

  #failed(error: SmtpError, address: string): false {
    this.#errors.push(error)
    this.#failedAddresses.push(address)
    return false
  }

  #answered(
    { verdicts, mayBeAccepted }: Extract<TransferResult, { kind: 'answered' }>,
    connection: Connection | null,
    requirement: TlsRequirement | null,
  ): true {
    if (mayBeAccepted) this.#doubts++
    for (const [index, recipient] of this.#open.entries()) {
      const verdict = this.#withTlsState(verdicts[index]!, connection, requirement)
      if (verdict.kind !== 'later') this.#final.set(recipient, verdict)
      // A reply of a server is more informative than a lost connection.
      else if ((this.#later.get(recipient)?.reply.smtpCode ?? null) === null) this.#later.set(recipient, verdict)
    }
    return true
  }

  /** Appends the TLS state of the connection, and the policy that required it, to the server's reply. */
  #withTlsState(verdict: Verdict, connection: Connection | null, requirement: TlsRequirement | null): Verdict {
    if (verdict.kind !== 'sent' || connection === null) return verdict
    const note = ` (${tlsState(connection, requirement)})${this.#wouldRefuse(connection)}`
    const { reply } = verdict
    return { kind: 'sent', reply: { ...reply, text: reply.text.slice(0, TEXT_MAX - note.length) + note } }
  }

  /** A policy that is only tested (RFC 8461 §5). */
  #wouldRefuse({ channel: { peer, security } }: Connection): string {
    const { domain, sts } = this.#deps.tls
    if (sts.kind !== 'policy' || sts.policy.mode !== 'testing') return ''
    const isNamed = namesHost(sts.policy, peer)
    if (isNamed && security?.verified) return ''
    const why = isNamed ? `its certificate ${security?.problem?.text ?? 'is missing'}` : 'the policy does not name it'
    return `; MTA-STS of ${domain}, now testing, would refuse this server: ${why}`
  }

  #result(firstHost: string): Answered | NotTried {
    const skipped = this.#errors.filter((error) => error instanceof NotConnected)
    const isUntried = !this.#wasOffered && this.#errors.length > 0 && skipped.length === this.#errors.length
    if (isUntried) return notTried(skipped)
    if (this.#isWithdrawn && !this.#wasOffered)
      return { kind: 'not_tried', until: this.#deps.clock.now(), failure: null }
    const said = (recipient: string) => this.#final.get(recipient) ?? this.#later.get(recipient)
    const verdicts = this.#handover.recipients.map((recipient) => said(recipient) ?? this.#unreached())
    const peer = this.#peer ?? firstHost
    return { kind: 'answered', verdicts, confirmation: 'recipient_mx', remoteIds: [], peer }
  }

  /** The verdict when no server answered to the message. */
  #unreached(): Verdict {
    const errors = this.#errors
    const all = (isSo: (reply: RemoteReply) => boolean) => errors.every(({ reply }) => isSo(reply))
    const loop = errors.find(({ reply }) => reply.enhancedCode === LOOP)
    if (loop) return never(loop.reply)
    // RFC 5321 §5.1: if no MX record is usable, the message is undeliverable.
    const isUseless = all(({ enhancedCode }) => enhancedCode === NO_ROUTE)
    if (isUseless || all(({ smtpCode }) => NO_MAIL_HERE.has(smtpCode ?? 0))) return never(errors[0]!.reply)
    this.unreached = errors.reduce((first, second) => moreInformative(first, second))
    const { reply, cause } = this.unreached
    const { gate } = this.#deps.servers
    const times = this.#failedAddresses.map((address) => gate.failureOf(address)?.until ?? 0)
    return { kind: 'later', reply, cause, notBefore: times.length === 0 ? 0 : Math.min(...times) }
  }
}

/** The result when every address is backed off: retry when the first of them may be tried. */
function notTried(skipped: readonly NotConnected[]): NotTried {
  const failed = skipped.filter(({ hasFailed }) => hasFailed)
  const until = Math.min(...skipped.map((error) => error.until))
  if (failed.length < skipped.length) return { kind: 'not_tried', until, failure: null }
  const { reply, cause } = failed.reduce<SmtpError>((first, second) => moreInformative(first, second), failed[0]!)
  return { kind: 'not_tried', until, failure: { reply, cause } }
}

/** "TLSv1.3, certificate verified, as MTA-STS of a.example requires". */
function tlsState({ channel: { security } }: Connection, requirement: TlsRequirement | null): string {
  if (security === null) return 'without TLS'
  const isByRecord = requirement?.dane != null && requirement.dane.records.length > 0
  const checked = isByRecord ? 'certificate matches TLSA' : `certificate ${security.verified ? '' : 'not '}verified`
  const reason = requirement === null ? '' : `, as ${policyName(requirement)} requires`
  return `${security.protocol}, ${checked}${reason}`
}

function never(reply: RemoteReply): Verdict {
  return { kind: 'never', reply, about: 'recipient' }
}
