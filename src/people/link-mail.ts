// Decides which addresses a sign-in link may be mailed to. Programs with a mailbox key read the mailboxes of this appliance, so a link
// mailed there would give a mailbox key the rights of the person whose address it is.

import type { Config } from '../config/config.ts'
import type { Domains } from '../directory/domains/domains.ts'
import type { Mailboxes } from '../directory/mailboxes/mailboxes.ts'
import { bounceDomain, domainName, isReserved } from '../directory/names/domain-name.ts'
import { parseMailbox } from '../mime/address.ts'
import type { PeopleDeps } from './deps.ts'

/** `mailboxId` is the mailbox of this appliance that receives the link; null for an address elsewhere. */
export type LinkMailPolicy = { mailed: false } | { mailed: true; mailboxId: string | null }

interface Deps {
  config: Config
  domains: Pick<Domains, 'byName'>
  mailboxes: Pick<Mailboxes, 'receiver'>
  outsideAccounts: PeopleDeps['outsideAccounts']
}

const NOT_MAILED: LinkMailPolicy = { mailed: false }

/**
 * Decides by the domain, not by the mailbox: one that does not exist yet can be created while the message waits in the queue. An address
 * elsewhere may be an outside account, whose messages are read here as well.
 * @param email an address `parseMailbox` reads, in any case and with a domain in U-labels or A-labels
 */
export function linkMailPolicy({ config, domains, mailboxes, outsideAccounts }: Deps, email: string): LinkMailPolicy {
  const parsed = parseMailbox(email)
  const name = parsed && domainName(parsed.domain)
  // An address literal may name this appliance.
  if (!parsed || !name) return NOT_MAILED
  if (!isApplianceName(config, name) && domains.byName(name) === undefined) {
    const mailboxId = outsideAccounts.linksArriveIn(`${parsed.local}@${name}`.toLowerCase())
    return mailboxId === null || config.SIGN_IN_LINKS_TO_LOCAL ? { mailed: true, mailboxId } : NOT_MAILED
  }
  if (!config.SIGN_IN_LINKS_TO_LOCAL) return NOT_MAILED
  const found = mailboxes.receiver(parsed.local, name)
  // Only a program reads an agent's inbox.
  return found.reason === null && !found.mailbox.isAgent ? { mailed: true, mailboxId: found.mailbox.id } : NOT_MAILED
}

/** Whether a name belongs to the appliance itself, without a claim by a team. */
function isApplianceName({ MAIL_HOSTS, AGENT_MAILBOX_DOMAIN }: Config, name: string): boolean {
  return name === AGENT_MAILBOX_DOMAIN || MAIL_HOSTS.some((host) => name === host || name === bounceDomain(host))
}

/** Whether a notice can reach a person: a trial sends nothing to other servers. @param mailbox theirs, where it is of this appliance */
export function maySendNotices({ MAIL_HOSTS, DIRECT_DELIVERY, AGENT_ROUTE_TEAM }: Config, mailbox: unknown): boolean {
  if (isReserved(MAIL_HOSTS[0]!)) return false
  return mailbox !== undefined || DIRECT_DELIVERY || AGENT_ROUTE_TEAM !== ''
}
