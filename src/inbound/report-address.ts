// The addresses reports come back to: one for each mail that was sent, and one for complaints.

import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import { isBounceDomain, isFeedbackAddress, readBounceAddress } from '../outbound/bounce-address.ts'
import type { Emails } from '../outbound/log/emails.ts'
import type { Email } from '../outbound/records.ts'
import type { RecipientPath } from './envelope.ts'

export interface ReportAddress {
  rcptTo: string
  /** `bounce.<mail host>` */
  domain: string
  /** The mail the address was made for; null for the one for complaints. */
  email: Email | null
}

interface Parts {
  config: Config
  vault: Vault
  emails: Pick<Emails, 'byN'>
}

export class ReportAddresses {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True for the domain of such addresses, under any name of the appliance. */
  isHome(domain: string): boolean {
    return isBounceDomain(this.#parts.config, domain)
  }

  /** @returns null for what is none, was made by somebody else, or belongs to a mail that is no longer known */
  async find({ address, domain }: RecipientPath): Promise<ReportAddress | null> {
    const { config, vault, emails } = this.#parts
    if (isFeedbackAddress(config, address)) return { rcptTo: address, domain, email: null }
    const n = readBounceAddress(vault, config, address)
    const email = n === null ? undefined : (await emails.byN([n]))[0]
    return email ? { rcptTo: address, domain, email } : null
  }
}
