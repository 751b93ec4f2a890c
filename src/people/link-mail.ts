// Which addresses a link that signs in may be mailed to. A mailbox of this appliance is read by programs that hold a key of it, so a link
// mailed there would make a mailbox key as strong as the person whose address it is.

import type { Config } from '../config/config.ts'
import { bounceDomain, domainName } from '../directory/domain-name.ts'
import type { Domains } from '../directory/domains.ts'
import type { Mailboxes } from '../directory/mailboxes.ts'
import { parseMailbox } from '../mime/address.ts'

/** `mailboxId` names the mailbox of this appliance the link goes through, null for an address elsewhere. */
export type LinkMail = { mailed: false } | { mailed: true; mailboxId: string | null }

interface Deps {
  config: Config
  domains: Pick<Domains, 'byName'>
  mailboxes: Pick<Mailboxes, 'receiver'>
}

const WITHHELD: LinkMail = { mailed: false }

/**
 * Decides by the domain, not by the mailbox: one that does not exist yet can be created while the message waits in the queue.
 * @param email an address `parseMailbox` reads, in any case and with a domain in U-labels or A-labels
 */
export async function linkMailTo({ config, domains, mailboxes }: Deps, email: string): Promise<LinkMail> {
  const parsed = parseMailbox(email)
  const name = parsed && domainName(parsed.domain)
  // An address literal may be one of ours.
  if (!parsed || !name) return WITHHELD
  if (!isHome(config, name) && (await domains.byName(name)) === undefined) return { mailed: true, mailboxId: null }
  if (!config.SIGN_IN_LINKS_TO_LOCAL) return WITHHELD
  const found = await mailboxes.receiver(parsed.local, name)
  // Nobody is behind an agent's inbox but a program.
  return found.reason === null && !found.mailbox.isAgent ? { mailed: true, mailboxId: found.mailbox.id } : WITHHELD
}

/** Whether the appliance receives for a name without any team having claimed it. */
function isHome({ MAIL_HOSTS, AGENT_MAILBOX_DOMAIN }: Config, name: string): boolean {
  return name === AGENT_MAILBOX_DOMAIN || MAIL_HOSTS.some((host) => name === host || name === bounceDomain(host))
}
