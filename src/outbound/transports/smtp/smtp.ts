// An SMTP sending account: a relay that accepts our messages for onward delivery.

import type { MailTokens, OutboundDeps } from '../../model/deps.ts'
import { accountSender, bounceAddress } from '../../model/envelope-sender.ts'
import type { Provider } from '../../model/records.ts'
import type { CheckResult, Handed, Handover, Transport, Verdict } from '../../model/transport.ts'
import { findAddresses } from './addresses.ts'
import { checkServer } from './check.ts'
import { type Connection, openConnection, type ServerSettings } from './connection.ts'
import { moreInformative, noAddress, SmtpError } from './errors.ts'
import { handOver } from './hand-over.ts'
import { isVerdict, outgoingMessageOf } from './offer.ts'
import { Pool } from './pool.ts'
import { ownReply } from './reply.ts'
import { blameAccount, isSenderRefused } from './sender.ts'

/** Maximum number of concurrent connections to one account. */
export const CONNECTIONS_MAX = 10
/** A key that belongs to no message, for the bounce address of a test. */
const NO_EMAIL = 0
/** Port with implicit TLS (RFC 8314 §3.3). */
const IMPLICIT_PORT = 465
/** RFC 4954 §6. */
const BAD_CREDENTIALS = '5.7.8'

type Deps = Pick<OutboundDeps, 'clock' | 'config' | 'resolver' | 'vault'> & { mailTokens: MailTokens }

/** @param password null for an account without authentication, or of an outside account that signs in with tokens */
export function openSmtp(deps: Deps, provider: Provider, password: string | null): Transport {
  return new SmtpAccount(deps, provider, settingsOf(deps, provider, password))
}

/** docs/design/sending.md §1 smtp_protocol. */
function settingsOf({ config }: Deps, provider: Provider, password: string | null): ServerSettings {
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
  readonly #deps: Deps
  readonly #provider: Provider
  readonly #settings: ServerSettings
  readonly #pool: Pool

  constructor(deps: Deps, provider: Provider, settings: ServerSettings) {
    this.#deps = deps
    this.#provider = provider
    this.#settings = settings
    this.#pool = new Pool({ clock: deps.clock, most: CONNECTIONS_MAX, open: (signal) => this.#open(signal) })
  }

  /** Retries a refused envelope sender once with the account's own address: the relay may accept no other. */
  async hand(handover: Handover): Promise<Handed> {
    const own = accountSender(this.#provider) ?? handover.from
    let handed = await this.#hand(handover)
    if (isSenderRefused(handed) && handover.mailFrom !== own && !handover.signal.aborted) {
      handed = await this.#hand({ ...handover, mailFrom: own })
    }
    return blameAccount(handed, !handover.isForwarded && handover.from.toLowerCase() === own.toLowerCase())
  }

  async #hand(handover: Handover): Promise<Handed> {
    const message = outgoingMessageOf(handover)
    if (isVerdict(message)) return this.#answered(handover.recipients.map(() => message))
    const { clock } = this.#deps
    const { result } = await handOver(this.#pool, message, { clock, signal: handover.signal })
    if (result.kind === 'answered') return this.#answered(result.verdicts)
    const { stage, reply, cause } = result.kind === 'sender' ? result : result.error
    // Our own shutdown is not a failure of the account.
    if (handover.signal.aborted) return this.#answered(handover.recipients.map(() => ({ kind: 'later', reply, cause })))
    return { kind: 'unavailable', stage, reply, cause, retryAfterMs: null }
  }

  check(to: string | null): Promise<CheckResult> {
    const { clock } = this.#deps
    const { vault, config } = this.#deps
    const from = accountSender(this.#provider)
    // An account with its own Return-Path needs no VERP sender.
    const verp = this.#provider.returnPath === null ? bounceAddress(vault, config, NO_EMAIL) : null
    return checkServer({
      clock,
      settings: this.#settings,
      open: (signal) => this.#open(signal),
      from,
      author: this.#provider.fromEmail,
      verp,
      to,
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Connects to the first address that completes the session setup. @throws SmtpError */
  async #open(signal: AbortSignal): Promise<Connection> {
    const { config, resolver, clock } = this.#deps
    const { host } = this.#settings
    const found = await findAddresses(resolver, host, config.ALLOW_PRIVATE_SMTP_HOSTS)
    if (found.kind !== 'found') throw noAddress(host, found.kind)
    const settings = await this.#signInSettings(signal)
    let failure: SmtpError | null = null
    for (const address of found.addresses) {
      try {
        return await openConnection(address, settings, { clock, signal })
      } catch (error) {
        if (!(error instanceof SmtpError)) throw error
        failure = moreInformative(failure, error)
        // From TLS on, the other addresses would fail alike.
        if (error.stage !== 'connect' && error.stage !== 'greeting') break
      }
    }
    throw failure
  }

  /** With a token that is valid now, for an outside account without a password. @throws SmtpError */
  async #signInSettings(signal: AbortSignal): Promise<ServerSettings> {
    const { remoteAccountId, hasSmtpPassword, smtpUsername: user } = this.#provider
    if (remoteAccountId === null || hasSmtpPassword || user === null) return this.#settings
    const answer = await this.#deps.mailTokens.of(remoteAccountId, signal)
    if (answer.kind === 'given') {
      return { ...this.#settings, credentials: { user, password: answer.token, isToken: true } }
    }
    const isLost = answer.kind === 'refused'
    throw new SmtpError('refused', 'auth', ownReply(answer.text, isLost ? BAD_CREDENTIALS : null), 'transient')
  }

  #answered(verdicts: readonly Verdict[]): Handed {
    return { kind: 'answered', verdicts, confirmation: 'relay', remoteIds: [], peer: this.#settings.host }
  }
}
