// What the people room needs from other rooms.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Domains } from '../directory/domains/domains.ts'
import type { Keys } from '../directory/keys/keys.ts'
import type { Teams } from '../directory/keys/teams.ts'
import type { AppPasswords } from '../directory/mailboxes/app-passwords.ts'
import type { Forwards } from '../directory/mailboxes/forwards.ts'
import type { Mailboxes } from '../directory/mailboxes/mailboxes.ts'
import type { Webhooks } from '../events/webhooks/subscriptions.ts'
import type { Links } from './links.ts'

/** A message from the appliance to a person. */
export interface PersonalMessage {
  /** Default: the appliance's own address. */
  from?: string
  to: string
  subject: string
  text: string
}

/** Queues messages to persons: `prepare` stores the content, `sendIn` inserts the queue rows in the caller's unit of work. */
export interface SystemMailer {
  prepare(message: PersonalMessage): Promise<{ sendIn(tx: Tx): void }>
}

export interface PeopleDeps {
  db: Db
  clock: Clock
  log: Log
  vault: Vault
  config: Config
  mailer: SystemMailer
  domains: Pick<Domains, 'byName'>
  mailboxes: Pick<Mailboxes, 'receiver' | 'byEmail' | 'byId' | 'outsideAt'>
  appPasswords: Pick<AppPasswords, 'revokeMadeBy' | 'madeBy' | 'revokeAllMadeBy'>
  keys: Pick<Keys, 'get' | 'makersFrom' | 'madeBy' | 'revokeMadeBy'>
  forwards: Pick<Forwards, 'madeBy' | 'removeIn'>
  webhooks: Pick<Webhooks, 'madeBy' | 'disableMadeBy'>
  links: Links
  outsideAccounts: {
    /** The mailbox that is known to receive the links to an address elsewhere; null without one. */
    linksArriveIn(email: string): string | null
  }
  teams: Pick<Teams, 'list' | 'createIn' | 'renameIn'>
}
