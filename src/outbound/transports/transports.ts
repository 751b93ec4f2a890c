// The transports: one per version of a sending account, one for direct delivery, one for local mailboxes.

import type { OutboundDeps } from '../deps.ts'
import type { Provider, ProviderType } from '../records.ts'
import type { VacationReplies } from '../vacation-replies.ts'
import { openDirect } from './direct.ts'
import { openLocal } from './local.ts'
import { openSmtp } from './smtp.ts'
import type { DirectTransport, LocalTransport, OpenTransport, Transport } from './transport.ts'

export interface TransportsDeps extends OutboundDeps {
  /** Decrypts the secrets of a provider. */
  secretsOf(provider: Provider): Promise<{ smtpPassword: string | null }>
  /** Openers of the transports that do not use SMTP. */
  accounts: Record<Exclude<ProviderType, 'smtp'>, OpenTransport>
  vacationReplies: Pick<VacationReplies, 'note'>
}

/** Idle time in ms after which a transport is closed; the next use opens it again. */
export const UNUSED_MS = 600_000

const LOOK_EVERY_MS = 60_000

interface Kept {
  version: number
  opening: Promise<Transport>
  usedAt: number
}

export class Transports {
  readonly #deps: TransportsDeps
  readonly #direct: DirectTransport
  readonly #local: LocalTransport
  /** By provider id. */
  readonly #kept = new Map<string, Kept>()
  #lookedAt = 0

  constructor(deps: TransportsDeps) {
    this.#deps = deps
    this.#direct = openDirect(deps)
    this.#local = openLocal(deps)
  }

  /**
   * The transport of this version of a provider; cached while in use, and closed when a newer version is requested.
   * @throws what the opener throws, such as the error for a secret sealed with another key
   */
  of(provider: Provider): Promise<Transport> {
    const now = this.#deps.clock.now()
    this.#closeUnused(now)
    const known = this.#kept.get(provider.id)
    // A record read before the change has an older version.
    if (known !== undefined && known.version >= provider.connectionVersion) {
      known.usedAt = now
      return known.opening
    }
    if (known !== undefined) void this.#end(provider.id, known)
    const kept = { version: provider.connectionVersion, opening: this.#open(provider), usedAt: now }
    this.#kept.set(provider.id, kept)
    kept.opening.catch(() => {
      if (this.#kept.get(provider.id) === kept) this.#kept.delete(provider.id)
    })
    return kept.opening
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
    const kept = [...this.#kept].map(([id, one]) => this.#end(id, one))
    await Promise.all([...kept, this.#direct.close(), this.#local.close()])
  }

  async #open(provider: Provider): Promise<Transport> {
    const { secretsOf, accounts } = this.#deps
    if (provider.type !== 'smtp') return accounts[provider.type](provider)
    return openSmtp(this.#deps, provider, (await secretsOf(provider)).smtpPassword)
  }

  #closeUnused(now: number): void {
    if (now - this.#lookedAt < LOOK_EVERY_MS) return
    this.#lookedAt = now
    for (const [id, kept] of this.#kept) if (now - kept.usedAt > UNUSED_MS) void this.#end(id, kept)
  }

  async #end(id: string, { opening }: Kept): Promise<void> {
    this.#kept.delete(id)
    const transport = await opening.catch(() => null)
    await transport
      ?.close()
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'a carrier could not be closed'))
  }
}
