// What the agents room needs from other rooms.

import type { Clock } from '../base/clock.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Domains } from '../directory/domains/domains.ts'
import type { Teams } from '../directory/keys/teams.ts'
import type { Mailboxes } from '../directory/mailboxes/mailboxes.ts'
import type { SystemMailer } from '../people/deps.ts'
import type { People } from '../people/people.ts'
import type { Store } from '../store/store.ts'
import type { SendAllowance } from './send-allowance.ts'

export interface AgentDeps {
  db: Db
  clock: Clock
  vault: Vault
  config: Config
  teams: Pick<Teams, 'createForAgent'>
  domains: Pick<Domains, 'system'>
  mailboxes: Pick<Mailboxes, 'createForAgent' | 'byEmail' | 'byId' | 'suspendIn' | 'raiseQuota' | 'deleteIn'>
  store: {
    edit: Pick<Store['edit'], 'openAccount'>
    sending: { quotas: Pick<Store['sending']['quotas'], 'recordStorageLimitChange'> }
  }
  mailer: SystemMailer
  people: People
  allowance: SendAllowance
  /** Rejects the queued messages of a mailbox, because sending is no longer allowed. */
  stopSending(tx: Tx, mailboxId: string): void
  /** True for an address on the appliance-wide suppression list. */
  isSuppressed(email: string): boolean
}
