// What agents need of the rest of the house.

import type { Clock } from '../base/clock.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Domains } from '../directory/domains.ts'
import type { Mailboxes } from '../directory/mailboxes.ts'
import type { Teams } from '../directory/teams.ts'
import type { Post } from '../people/deps.ts'
import type { People } from '../people/people.ts'
import type { SendAllowance } from './send-allowance.ts'

export interface AgentParts {
  db: Db
  clock: Clock
  vault: Vault
  config: Config
  teams: Pick<Teams, 'createForAgent'>
  domains: Pick<Domains, 'system'>
  mailboxes: Pick<Mailboxes, 'createForAgent' | 'byEmail' | 'byId' | 'suspendIn' | 'raiseQuota' | 'delete'>
  /** Makes the mail side of an inbox. */
  openAccount(tx: Tx, mailboxId: string, email: string): Promise<void>
  post: Post
  people: People
  allowance: SendAllowance
  /** Mail of a mailbox that waits to leave is rejected: nobody allows it any more. */
  stopSending(tx: Tx, mailboxId: string): Promise<void>
  /** True for an address nobody may write to. */
  isSuppressed(email: string): Promise<boolean>
}
