// Assembles what concerns messages that wait for a person.

import type { Tx } from '../../db/db.ts'
import type { Approvers, OutboundDeps } from '../model/deps.ts'
import { KnownContacts } from './contacts.ts'
import { Holds } from './holds.ts'
import { SendPolicies } from './policies.ts'
import { SendRules } from './rules.ts'
import { StrangerReads } from './stranger-reads.ts'

/** What programs may send without a person, and messages that wait for one. */
export interface HoldParts {
  policies: SendPolicies
  contacts: KnownContacts
  reads: StrangerReads
  rules: SendRules
  holds: Holds
  /** Erases what is remembered of a deleted mailbox. */
  eraseOf(tx: Tx, mailboxId: string): void
}

type Deps = OutboundDeps & { approvers: Approvers } & Omit<ConstructorParameters<typeof Holds>[0], 'contacts'>

export function openHeld(deps: Deps): HoldParts {
  const policies = new SendPolicies(deps)
  const contacts = new KnownContacts(deps)
  const reads = new StrangerReads({ ...deps, contacts })
  const rules = new SendRules({ ...deps, policies, contacts, reads, approvers: deps.approvers.of })
  const holds = new Holds({ ...deps, contacts })
  const eraseOf = (tx: Tx, mailboxId: string) => {
    for (const part of [policies, contacts, reads, holds]) part.eraseOf(tx, mailboxId)
  }
  return { policies, contacts, reads, rules, holds, eraseOf }
}
