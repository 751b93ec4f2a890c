// The addresses reports arrive at: a bounce address for each delivery, and one feedback address for complaints.

import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import { type Emails, messageOfKey } from '../outbound/log/emails.ts'
import {
  type BounceKey,
  isBounceDomain,
  isFeedbackAddress,
  readBounceAddress,
} from '../outbound/model/envelope-sender.ts'
import type { Email } from '../outbound/model/records.ts'
import type { RecipientPath } from '../smtp/envelope.ts'

export interface ReportAddress {
  rcptTo: string
  /** `bounce.<mail host>` */
  domain: string
  /** What the bounce address belongs to; null for the feedback address, and for a message no longer stored. */
  key: BounceKey | null
  /** The sent message; null where `key` is. */
  email: Email | null
}

interface Deps {
  config: Config
  vault: Vault
  emails: Pick<Emails, 'byN' | 'deliveriesByN'>
}

export class ReportAddresses {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** True for the bounce domain under any mail host name of the appliance. */
  isBounceDomain(domain: string): boolean {
    return isBounceDomain(this.#deps.config, domain)
  }

  /**
   * @param isReturnable whether a bounce could be delivered; where it cannot (the null sender), a valid bounce address is accepted even
   *   when its message is no longer stored: a refused bounce would stay in the queue of the other server
   * @returns null for an address that is not a report address or was not signed by this appliance
   */
  find({ address, domain }: RecipientPath, isReturnable: boolean): ReportAddress | null {
    const { config, vault, emails } = this.#deps
    const none = { rcptTo: address, domain, key: null, email: null }
    if (isFeedbackAddress(config, address)) return none
    const key = readBounceAddress(vault, config, address)
    const email = key === null ? undefined : messageOfKey(emails, key)
    if (email !== undefined) return { rcptTo: address, domain, key, email }
    return key === null || isReturnable ? null : none
  }
}
