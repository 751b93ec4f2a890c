// The transports: one per version of a sending account, one for direct delivery, one for local mailboxes.

import { MINUTE_MS } from '../../base/durations.ts'
import type { MailTokens, OutboundDeps } from '../model/deps.ts'
import type { Provider, ProviderType } from '../model/records.ts'
import type { DirectTransport, LocalTransport, OpenTransport, Transport } from '../model/transport.ts'
import type { NotificationMessages } from '../notices/notification-messages.ts'
import type { VacationReplies } from '../notices/vacation-replies.ts'
import type { Connections } from '../providers/connections.ts'
import type { ReceivedDelivery } from '../receive/deliver-received.ts'
import { openGuardedDirect } from './direct/direct.ts'
import { openLocal } from './local/local.ts'
import { openSmtp } from './smtp/smtp.ts'

export interface TransportsDeps extends OutboundDeps {
  connections: Pick<Connections, 'secretsOf'>
  mailTokens: MailTokens
  /** Openers of the transports that do not use SMTP. */
  accounts: Record<Exclude<ProviderType, 'smtp'>, OpenTransport>
  vacationReplies: Pick<VacationReplies, 'note'>
  notifications: Pick<NotificationMessages, 'note'>
  receive: Pick<ReceivedDelivery, 'deliver'>
}

/** Idle time in ms after which a transport is closed; the next use opens it again. */
export const UNUSED_MS = 600_000

const CLEANUP_EVERY_MS = MINUTE_MS

interface OpenEntry {
  version: number
  opening: Promise<Transport>
  usedAt: number
}

export class Transports {
  readonly #deps: TransportsDeps
  readonly #direct: DirectTransport
  readonly #local: LocalTransport
  /** By provider id. */
  readonly #entries = new Map<string, OpenEntry>()
  #cleanedUpAt = 0

  constructor(deps: TransportsDeps) {
    this.#deps = deps
    this.#direct = openGuardedDirect(deps)
    this.#local = openLocal(deps)
  }

  /**
   * The transport of this version of a provider; cached while in use, and closed when a newer version is requested.
   * @throws what the opener throws, such as the error for a secret sealed with another key
   */
  of(provider: Provider): Promise<Transport> {
    const now = this.#deps.clock.now()
    this.#closeUnused(now)
    const known = this.#entries.get(provider.id)
    // A record read before the change has an older version.
    if (known !== undefined && known.version >= provider.connectionVersion) {
      known.usedAt = now
      return known.opening
    }
    if (known !== undefined) void this.#end(provider.id, known)
    const entry = { version: provider.connectionVersion, opening: this.#open(provider), usedAt: now }
    this.#entries.set(provider.id, entry)
    entry.opening.catch(() => {
      if (this.#entries.get(provider.id) === entry) this.#entries.delete(provider.id)
    })
    return entry.opening
  }

  /** Direct delivery; all recipients of one hand-over share a domain. */
  direct(): DirectTransport {
    return this.#direct
  }

  /** Delivery to mailboxes of this appliance. */
  local(): LocalTransport {
    return this.#local
  }

  /** Closes idle connections; busy ones close after their message. */
  async close(): Promise<void> {
    const entry = [...this.#entries].map(([id, one]) => this.#end(id, one))
    await Promise.all([...entry, this.#direct.close(), this.#local.close()])
  }

  async #open(provider: Provider): Promise<Transport> {
    const { connections, accounts } = this.#deps
    if (provider.type !== 'smtp') return accounts[provider.type](provider)
    return openSmtp(this.#deps, provider, connections.secretsOf(provider).smtpPassword)
  }

  #closeUnused(now: number): void {
    if (now - this.#cleanedUpAt < CLEANUP_EVERY_MS) return
    this.#cleanedUpAt = now
    for (const [id, entry] of this.#entries) if (now - entry.usedAt > UNUSED_MS) void this.#end(id, entry)
  }

  async #end(id: string, { opening }: OpenEntry): Promise<void> {
    this.#entries.delete(id)
    const transport = await opening.catch(() => null)
    await transport
      ?.close()
      .catch((error: unknown) =>
        this.#deps.log.warn({ event: 'transport.close_failed', err: error }, 'Transport not closed'),
      )
  }
}
