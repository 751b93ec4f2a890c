// What people need of the rest of the house.

import type { Clock } from '../base/clock.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Domains } from '../directory/domains.ts'
import type { Mailboxes } from '../directory/mailboxes.ts'

/** A mail to a person, as the appliance writes it. */
export interface PersonalMail {
  /** Left out: the appliance's own address. */
  from?: string
  to: string
  subject: string
  text: string
}

/** How mail to persons gets into the outbound queue: its content first, then its rows in the unit of work it belongs to. */
export interface Post {
  prepare(mail: PersonalMail): Promise<{ sendIn(tx: Tx): Promise<void> }>
}

export interface PeopleParts {
  db: Db
  clock: Clock
  vault: Vault
  config: Config
  post: Post
  domains: Pick<Domains, 'byName'>
  mailboxes: Pick<Mailboxes, 'receiver'>
}
