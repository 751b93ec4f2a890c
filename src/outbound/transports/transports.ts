// Who carries a mail: one transport for each version of a sending account, one for mail servers of others, one for our own mailboxes.

import type { OutboundParts } from '../parts.ts'
import type { Provider, ProviderType } from '../records.ts'
import type { OpenTransport, Transport } from './transport.ts'

export interface TransportsParts extends OutboundParts {
  /** Opens what a provider keeps sealed. */
  secretsOf(provider: Provider): Promise<{ smtpPassword: string | null }>
  /** Carriers of the accounts that speak something else than SMTP. */
  accounts: Record<Exclude<ProviderType, 'smtp'>, OpenTransport>
}

export class Transports {
  readonly #parts: TransportsParts

  constructor(parts: TransportsParts) {
    this.#parts = parts
  }

  /** The carrier of this version of a provider; kept while it is used, and closed when a newer version is asked for. */
  of(_provider: Provider): Promise<Transport> {
    throw new Error(`not built ${this.#parts.config.MAIL_HOSTS[0]}`)
  }

  /** Our own MTA; all recipients of one hand-over have the same domain. */
  direct(): Transport {
    throw new Error('not built')
  }

  /** Mailboxes of this appliance. */
  local(): Transport {
    throw new Error('not built')
  }

  async close(): Promise<void> {}
}
