// A sending account that speaks SMTP: somebody's mail server that takes our mail and passes it on.

import { parseMailbox } from '../../mail/address.ts'
import type { OutboundParts } from '../parts.ts'
import type { Provider } from '../records.ts'
import { testMail } from './accounts/test-mail.ts'
import { findAddresses } from './smtp/addresses.ts'
import { type Connection, openConnection, type Way } from './smtp/connection.ts'
import { Fault } from './smtp/fault.ts'
import { isVerdict, letterOf, offer } from './smtp/offer.ts'
import { Pool } from './smtp/pool.ts'
import { ownReply } from './smtp/reply.ts'
import type { Letter } from './smtp/transfer.ts'
import type { Judged } from './smtp/verdicts.ts'
import type { CheckResult, Handed, Handover, Transport, Verdict } from './transport.ts'

/** Connections to one account at a time. */
export const CONNECTIONS_MAX = 10
/** Decisions §3.1. ms. */
export const CHECK_MS = 15_000
/** Where TLS begins with the first byte (RFC 8314 3.3). */
const IMPLICIT_PORT = 465

type Parts = Pick<OutboundParts, 'clock' | 'config' | 'resolver'>

/** @param password what the account signs in with; null for one without */
export function openSmtp(parts: Parts, provider: Provider, password: string | null): Transport {
  return new SmtpAccount(parts, provider, wayOf(parts, provider, password))
}

/** Decisions §3.1 smtp_protocol. */
function wayOf({ config }: Parts, provider: Provider, password: string | null): Way {
  const { smtpHost: host, smtpPort: port, smtpProtocol, smtpUsername: user } = provider
  if (host === null || port === null || smtpProtocol === null) throw new Error(`${provider.id} is no SMTP account.`)
  const bySort = { ssl: 'implicit', starttls: 'required', none: 'none' } as const
  const byPort = port === IMPLICIT_PORT ? 'implicit' : 'required'
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    security: smtpProtocol === 'tls' ? byPort : bySort[smtpProtocol],
    credentials: user === null ? null : { user, password: password ?? '' },
    helo: config.MAIL_HOSTS[0]!,
  }
}

class SmtpAccount implements Transport {
  readonly #parts: Parts
  readonly #provider: Provider
  readonly #way: Way
  readonly #pool: Pool

  constructor(parts: Parts, provider: Provider, way: Way) {
    this.#parts = parts
    this.#provider = provider
    this.#way = way
    this.#pool = new Pool({ clock: parts.clock, most: CONNECTIONS_MAX, open: (signal) => this.#open(signal) })
  }

  async hand(handover: Handover): Promise<Handed> {
    const letter = letterOf(handover)
    if (isVerdict(letter)) return this.#answered(handover.recipients.map(() => letter))
    for (let tries = 1; ; tries++) {
      try {
        const connection = await this.#pool.take(handover.signal)
        const isKept = connection.mails > 0
        const judged = await this.#offer(connection, letter, handover.signal)
        if (!isKept || !isStale(judged) || handover.signal.aborted || tries > CONNECTIONS_MAX)
          return this.#handed(judged)
        await this.#pool.dropIdle()
      } catch (error) {
        if (error instanceof Fault) return this.#handed({ kind: 'broken', fault: error })
        throw error
      }
    }
  }

  async check(to: string | null): Promise<CheckResult> {
    const { clock } = this.#parts
    const patience = new AbortController()
    const timer = clock.after(CHECK_MS, () => patience.abort())
    try {
      const connection = await this.#open(patience.signal)
      const result = to === null ? this.#signedIn(connection) : await this.#tryMail(connection, to, patience.signal)
      void connection.wire.quit()
      return result
    } catch (error) {
      if (error instanceof Fault) return this.#failed(error)
      throw error
    } finally {
      timer.cancel()
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #offer(connection: Connection, letter: Letter, signal: AbortSignal): Promise<Judged> {
    try {
      return await offer(connection, letter, { clock: this.#parts.clock, signal })
    } finally {
      this.#pool.give(connection)
    }
  }

  /** The first address that talks to us. @throws Fault */
  async #open(signal: AbortSignal): Promise<Connection> {
    const { config, resolver, clock } = this.#parts
    const { host } = this.#way
    const found = await findAddresses(resolver, host, config.ALLOW_PRIVATE_SMTP_HOSTS)
    if (found.kind === 'absent') throw new Fault('unreachable', 'dns', ownReply(`There is no host ${host}.`), 'dns')
    if (found.kind === 'unknown')
      throw new Fault('unreachable', 'dns', ownReply(`DNS does not answer for ${host}.`), 'dns')
    if (found.kind === 'private') {
      throw new Fault(
        'unreachable',
        'dns',
        ownReply(`${host} lies in a private network, which is not allowed here.`),
        'dns',
      )
    }
    let failure: unknown
    for (const address of found.addresses) {
      try {
        return await openConnection(address, this.#way, { clock, signal })
      } catch (error) {
        failure = error
        // From TLS on every address would say the same.
        if (!(error instanceof Fault) || !['connect', 'greeting'].includes(error.stage)) break
      }
    }
    throw failure
  }

  #handed(judged: Judged): Handed {
    if (judged.kind === 'answered') return this.#answered(judged.verdicts)
    const { stage, reply } = judged.kind === 'sender' ? judged : judged.fault
    const cause = judged.kind === 'sender' ? judged.cause : judged.fault.delay
    return { kind: 'unavailable', stage, reply, cause, retryAfterMs: null }
  }

  #answered(verdicts: readonly Verdict[]): Handed {
    return { kind: 'answered', verdicts, confirmation: 'relay', remoteIds: [], peer: this.#way.host }
  }

  #signedIn({ wire, reply }: Connection): CheckResult {
    const { host, port, credentials } = this.#way
    const what = credentials === null ? `${host} (port ${port}) answers` : `Signed in at ${host} (port ${port})`
    const message = `${what} ${wire.security === null ? 'without TLS' : `over ${wire.security.protocol}`}.`
    return { success: true, stage: wire.stage, smtpCode: reply.code, message }
  }

  async #tryMail(connection: Connection, to: string, signal: AbortSignal): Promise<CheckResult> {
    const { fromEmail, smtpUsername } = this.#provider
    const from = fromEmail ?? parseMailbox(smtpUsername ?? '')?.email
    const { clock } = this.#parts
    if (from === undefined) {
      const message = 'The account has no from_email, so there is nobody to send a test mail from.'
      return { success: false, stage: 'sender', smtpCode: null, message }
    }
    const { bytes } = testMail({ from, to, now: clock.now() })
    const letter = letterOf({ bytes, mailFrom: from, recipients: [to] }) as Letter
    const judged = await offer(connection, letter, { clock, signal })
    if (judged.kind === 'broken') return this.#failed(judged.fault)
    const { stage } = judged.kind === 'sender' ? judged : connection.wire
    const { reply } = judged.kind === 'sender' ? judged : judged.verdicts[0]!
    const success = judged.kind === 'answered' && judged.verdicts[0]!.kind === 'sent'
    return { success, stage, smtpCode: reply.smtpCode, message: reply.text }
  }

  #failed({ kind, stage, reply }: Fault): CheckResult {
    const message =
      kind === 'aborted' ? `${this.#way.host} was not done within ${CHECK_MS / 1000} seconds.` : reply.text
    return { success: false, stage, smtpCode: reply.smtpCode, message }
  }
}

/**
 * True where a connection that was kept is of no more use: the server closed it meanwhile, or has had enough mails over it. That is
 * no failure, and most likely says the same of the others that were kept.
 */
function isStale(judged: Judged): boolean {
  if (judged.kind === 'broken') return judged.fault.stage === 'sender'
  return judged.kind === 'sender' && judged.stage === 'sender' && judged.reply.smtpCode! < 500
}
