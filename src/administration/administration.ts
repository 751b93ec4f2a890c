// Administration: what the administrators of a team do to its mailboxes and domains, where it changes more than the directory.

import { type DomainDeps, DomainVerification } from './domains.ts'
import { ForwardAdministration, type ForwardDeps } from './forwards.ts'
import { MailboxAdministration, type MailboxDeps } from './mailboxes.ts'

export interface Administration {
  /** Creates, changes and deletes mailboxes. */
  mailboxes: MailboxAdministration
  /** Forwards mailboxes to addresses whose owners confirm it. */
  forwards: ForwardAdministration
  /** Verifies domains. */
  domains: DomainVerification
}

export function openAdministration(deps: MailboxDeps & DomainDeps & ForwardDeps): Administration {
  return {
    mailboxes: new MailboxAdministration(deps),
    forwards: new ForwardAdministration(deps),
    domains: new DomainVerification(deps),
  }
}
