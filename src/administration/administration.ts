// Administration: what the administrators of a team do to its mailboxes and domains, where it changes more than the directory.

import { type DomainDeps, DomainVerification } from './domains.ts'
import { MailboxAdministration, type MailboxDeps } from './mailboxes.ts'

export interface Administration {
  /** Creates, changes and deletes mailboxes. */
  mailboxes: MailboxAdministration
  /** Verifies domains. */
  domains: DomainVerification
}

export function openAdministration(deps: MailboxDeps & DomainDeps): Administration {
  return { mailboxes: new MailboxAdministration(deps), domains: new DomainVerification(deps) }
}
