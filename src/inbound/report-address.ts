// The addresses reports come back to: one for each mail that was sent, and one for complaints.

import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import { isBounceDomain, isFeedbackAddress, readBounceAddress } from '../outbound/bounce-address.ts'
import type { Emails } from '../outbound/log/emails.ts'
import type { Email } from '../outbound/records.ts'
import type { RecipientPath } from '../smtp/envelope.ts'

export interface ReportAddress {
  rcptTo: string
  /** `bounce.<mail host>` */
  domain: string
  /** The mail the address was made for; null for the one for complaints, and for a mail that is no longer known. */
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

  /**
   * @param isReturnable whether a refusal can reach anybody; where it cannot (the null sender), an address of ours is taken even when its
   *   message is no longer known: what is refused then freezes in the queue of the other server
   * @returns null for what is none or was made by somebody else
   */
  async find({ address, domain }: RecipientPath, isReturnable: boolean): Promise<ReportAddress | null> {
    const { config, vault, emails } = this.#parts
    if (isFeedbackAddress(config, address)) return { rcptTo: address, domain, email: null }
    const n = readBounceAddress(vault, config, address)
    const email = n === null ? undefined : (await emails.byN([n]))[0]
    if (email === undefined && (n === null || isReturnable)) return null
    return { rcptTo: address, domain, email: email ?? null }
  }
}
