// Our own MTA: finds the mail servers of a domain in DNS and hands the mail to the first that takes it.

import type { OutboundParts } from '../parts.ts'
import type { Reply } from '../records.ts'
import { findRoute } from './direct/route.ts'
import { LOOP, Servers } from './direct/servers.ts'
import { findAddresses } from './smtp/addresses.ts'
import type { Connection } from './smtp/connection.ts'
import { Fault, moreTelling, NO_ROUTE, nowhere } from './smtp/fault.ts'
import { handOver } from './smtp/hand.ts'
import { ADDRESSES_MAX } from './smtp/limits.ts'
import { isVerdict, letterOf } from './smtp/offer.ts'
import { ownReply, TEXT_MAX } from './smtp/reply.ts'
import type { Letter } from './smtp/transfer.ts'
import type { CheckResult, Handed, Handover, Transport, Verdict } from './transport.ts'

/** No further server is begun with after so many ms: the next try comes anyway. */
export const SEARCH_MS = 300_000
/** RFC 7504: a host that takes no mail whatsoever. */
const NO_MAIL_HERE = new Set([521, 556])

type Parts = Pick<OutboundParts, 'clock' | 'config' | 'resolver'>

/** All recipients of one hand-over have the same domain. */
export function openDirect(parts: Parts): Transport {
  return new Direct(parts)
}

class Direct implements Transport {
  readonly #parts: Parts
  readonly #servers: Servers

  constructor(parts: Parts) {
    const { clock, config } = parts
    this.#parts = parts
    this.#servers = new Servers({ clock, port: config.DIRECT_PORT, helo: config.MAIL_HOSTS[0]! })
  }

  async hand(handover: Handover): Promise<Handed> {
    const { resolver, config } = this.#parts
    const first = handover.recipients[0]!
    const domain = first.slice(first.lastIndexOf('@') + 1).toLowerCase()
    const all = (verdict: Verdict) =>
      answered(
        domain,
        handover.recipients.map(() => verdict),
      )
    const letter = letterOf(handover)
    if (isVerdict(letter)) return all(letter)
    const route = await findRoute(resolver, domain, config.MAIL_HOSTS)
    if (route.kind === 'never') return all(never(ownReply(route.sentence, route.enhancedCode)))
    if (route.kind === 'later') return all({ kind: 'later', reply: ownReply(route.sentence), cause: 'dns' })
    return this.#search(route.hosts, letter, handover.signal)
  }

  /** There is nothing to sign in to. */
  async check(): Promise<CheckResult> {
    const message = 'Mail goes straight to the mail servers of its recipients.'
    return { success: true, stage: 'dns', smtpCode: null, message }
  }

  close(): Promise<void> {
    return this.#servers.close()
  }

  /** Tries one server after another until one has something to say of the mail. */
  async #search(hosts: readonly string[], letter: Letter, signal: AbortSignal): Promise<Handed> {
    const { clock } = this.#parts
    const end = clock.now() + SEARCH_MS
    const faults: Fault[] = []
    for await (const { host, address } of this.#addresses(hosts, faults)) {
      const said = await this.#try(host, address, letter, signal)
      if (Array.isArray(said)) return answered(host, said)
      faults.push(said)
      if (clock.now() >= end) break
    }
    const verdict = unreached(faults)
    return answered(
      hosts[0]!,
      letter.recipients.map(() => verdict),
    )
  }

  /** The addresses of the hosts as they are wanted. @param faults hosts that have none are added to */
  async *#addresses(hosts: readonly string[], faults: Fault[]): AsyncGenerator<{ host: string; address: string }> {
    const { resolver, config } = this.#parts
    let left = ADDRESSES_MAX
    for (const host of hosts) {
      const found = await findAddresses(resolver, host, config.ALLOW_PRIVATE_SMTP_HOSTS)
      if (found.kind !== 'found') faults.push(nowhere(host, found.kind))
      else for (const address of found.addresses) if (left-- > 0) yield { host, address }
    }
  }

  /** @returns the verdicts, or why another server may do better */
  async #try(host: string, address: string, letter: Letter, signal: AbortSignal): Promise<Verdict[] | Fault> {
    const { clock } = this.#parts
    const { judged, connection } = await handOver(this.#servers.at(host, address), letter, { clock, signal })
    if (judged.kind === 'broken') return judged.fault
    if (judged.kind === 'answered') return judged.verdicts.map((verdict) => noted(verdict, connection))
    const { stage, reply, cause } = judged
    // Here nobody else can send for us: what is said of the sender is said of the mail.
    return reply.smtpCode! < 500 ? new Fault('refused', stage, reply, cause) : letter.recipients.map(() => never(reply))
  }
}

/** No server took the mail up: what is to be told. */
function unreached(faults: readonly Fault[]): Verdict {
  const all = (isSo: (reply: Reply) => boolean) => faults.every(({ reply }) => isSo(reply))
  const loop = faults.find(({ reply }) => reply.enhancedCode === LOOP)
  if (loop) return never(loop.reply)
  // RFC 5321 5.1: with MX records of which none is of use the mail cannot be delivered.
  const isUseless = all(({ enhancedCode }) => enhancedCode === NO_ROUTE)
  if (isUseless || all(({ smtpCode }) => NO_MAIL_HERE.has(smtpCode ?? 0))) return never(faults[0]!.reply)
  const { reply, cause } = faults.reduce((first, second) => moreTelling(first, second))
  return { kind: 'later', reply, cause }
}

/** How the mail went is told with what the server said of it. */
function noted(verdict: Verdict, connection: Connection | null): Verdict {
  if (verdict.kind !== 'sent' || connection === null) return verdict
  const { security } = connection.wire
  const checked = security?.verified ? 'certificate verified' : 'certificate not verified'
  const note = security === null ? ' (without TLS)' : ` (${security.protocol}, ${checked})`
  const { reply } = verdict
  return { kind: 'sent', reply: { ...reply, text: reply.text.slice(0, TEXT_MAX - note.length) + note } }
}

function never(reply: Reply): Verdict {
  return { kind: 'never', reply, about: 'recipient' }
}

function answered(peer: string, verdicts: readonly Verdict[]): Handed {
  return { kind: 'answered', verdicts, confirmation: 'recipient_mx', remoteIds: [], peer }
}
