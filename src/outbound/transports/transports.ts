// Who carries a mail: one transport for each version of a sending account, one for mail servers of others, one for our own mailboxes.

import type { OutboundParts } from '../deps.ts'
import type { Provider, ProviderType } from '../records.ts'
import type { VacationReplies } from '../vacation-replies.ts'
import { openDirect } from './direct.ts'
import { openLocal } from './local.ts'
import { openSmtp } from './smtp.ts'
import type { DirectTransport, LocalTransport, OpenTransport, Transport } from './transport.ts'

export interface TransportsParts extends OutboundParts {
  /** Opens what a provider keeps sealed. */
  secretsOf(provider: Provider): Promise<{ smtpPassword: string | null }>
  /** Carriers of the accounts that speak something else than SMTP. */
  accounts: Record<Exclude<ProviderType, 'smtp'>, OpenTransport>
  vacationReplies: Pick<VacationReplies, 'note'>
}

/** A carrier that nobody asked for in so many ms is closed; it is opened again when it is. */
export const UNUSED_MS = 600_000

const LOOK_EVERY_MS = 60_000

interface Kept {
  version: number
  opening: Promise<Transport>
  usedAt: number
}

export class Transports {
  readonly #parts: TransportsParts
  readonly #direct: DirectTransport
  readonly #local: LocalTransport
  /** By id of the provider. */
  readonly #kept = new Map<string, Kept>()
  #lookedAt = 0

  constructor(parts: TransportsParts) {
    this.#parts = parts
    this.#direct = openDirect(parts)
    this.#local = openLocal(parts)
  }

  /**
   * The carrier of this version of a provider; kept while it is used, and closed when a newer version is asked for.
   * @throws what opening it throws, such as the error of a secret that is not ours
   */
  of(provider: Provider): Promise<Transport> {
    const now = this.#parts.clock.now()
    this.#closeUnused(now)
    const known = this.#kept.get(provider.id)
    // A record that was read before the change asks for an older version.
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

  /** Our own MTA; all recipients of one hand-over have the same domain. */
  direct(): DirectTransport {
    return this.#direct
  }

  /** Mailboxes of this appliance. */
  local(): LocalTransport {
    return this.#local
  }

  /** Ends idle connections; those in use end with their mail. */
  async close(): Promise<void> {
    const kept = [...this.#kept].map(([id, one]) => this.#end(id, one))
    await Promise.all([...kept, this.#direct.close(), this.#local.close()])
  }

  async #open(provider: Provider): Promise<Transport> {
    const { secretsOf, accounts } = this.#parts
    if (provider.type !== 'smtp') return accounts[provider.type](provider)
    return openSmtp(this.#parts, provider, (await secretsOf(provider)).smtpPassword)
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
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'a carrier could not be closed'))
  }
}
