// Administration: what the administrators of a team do to its mailboxes and domains, where it changes more than the directory.

import { AddressingAdministration, type AddressingDeps } from './addressing.ts'
import { type DomainDeps, DomainVerification } from './domains.ts'
import { ForwardAdministration, type ForwardDeps } from './forwards.ts'
import { MailboxAdministration, type MailboxDeps } from './mailboxes.ts'
import { MtaStsAdministration, type MtaStsDeps } from './mta-sts.ts'
import { type OutsideAccountDeps, OutsideAccounts } from './outside-accounts.ts'

export interface Administration {
  /** Creates, changes and deletes mailboxes. */
  mailboxes: MailboxAdministration
  /** Forwards mailboxes to addresses whose owners confirm it. */
  forwards: ForwardAdministration
  /** Attaches, changes and ends outside accounts. */
  outsideAccounts: OutsideAccounts
  /** The address rules of domains. */
  addressing: AddressingAdministration
  /** Verifies domains. */
  domains: DomainVerification
  /** The MTA-STS policies of domains. */
  mtaSts: MtaStsAdministration
}

export function openAdministration(
  deps: MailboxDeps & AddressingDeps & DomainDeps & ForwardDeps & OutsideAccountDeps & MtaStsDeps,
): Administration {
  const mailboxes = new MailboxAdministration(deps)
  return {
    mailboxes,
    outsideAccounts: new OutsideAccounts(deps, mailboxes),
    forwards: new ForwardAdministration(deps),
    addressing: new AddressingAdministration(deps),
    domains: new DomainVerification(deps),
    mtaSts: new MtaStsAdministration(deps),
  }
}
