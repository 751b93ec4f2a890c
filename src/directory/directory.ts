// The directory: who owns what, and who may do what.

import type { Clock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import { Aliases } from './aliases.ts'
import { DkimKeys } from './dkim-keys.ts'
import type { LookAtSes } from './domain-record.ts'
import { Domains } from './domains.ts'
import { Filters } from './filters.ts'
import { Keys } from './keys.ts'
import { Limits } from './limits.ts'
import type { ForeignIn } from './mailbox-input.ts'
import { Mailboxes } from './mailboxes.ts'
import { OperatorKeys } from './operator-keys.ts'
import { Replays } from './replays.ts'
import { SieveScripts } from './sieve-scripts.ts'
import { Teams } from './teams.ts'

export interface Directory {
  teams: Teams
  keys: Keys
  operatorKeys: OperatorKeys
  domains: Domains
  dkimKeys: DkimKeys
  mailboxes: Mailboxes
  /** Further addresses of mailboxes. */
  aliases: Aliases
  filters: Filters
  /** What mailboxes have done with mail that comes in. */
  sieveScripts: SieveScripts
  replays: Replays
  limits: Limits
}

export interface DirectoryParts {
  db: Db
  clock: Clock
  vault: Vault
  resolver: Resolver
  config: Config
  /** Makes the mail side of a new mailbox inside the unit of work that makes the mailbox. */
  openAccount(tx: Tx, mailboxId: string, email: string): Promise<void>
  /** Tells clients of a mailbox that the room it may take was changed. */
  noteRoom(tx: Tx, mailboxId: string): Promise<void>
  /** See {@link ForeignIn}. */
  foreignIn: ForeignIn
  /** See {@link LookAtSes}. */
  lookAtSes: LookAtSes
  /** Ends the sign-ins whose link went to a mailbox, in the unit of work that deletes it or gives its address away. */
  endSignInsThrough(tx: Tx, mailboxId: string): Promise<void>
}

export function openDirectory(parts: DirectoryParts): Directory {
  const teams = new Teams(parts)
  const keys = new Keys(parts)
  const filters = new Filters(parts)
  const dkimKeys = new DkimKeys(parts)
  const domains = new Domains({
    ...parts,
    filters,
    dkimKeys,
    inUse: async (tx, domainId) => (await mailboxes.anyAt(tx, domainId)) || aliases.anyAt(tx, domainId),
    liesAt: (reader, mailboxId, domainId, email) => mailboxes.liesAt(reader, mailboxId, domainId, email),
  })
  const sieveScripts = new SieveScripts({ ...parts, setScript: (tx, id, key) => mailboxes.setScript(tx, id, key) })
  const mailboxes: Mailboxes = new Mailboxes({ ...parts, domains, keys, filters, sieveScripts })
  const aliases = new Aliases({ ...parts, mailboxes })
  const replays = new Replays(parts.db, parts.clock)
  const operatorKeys = new OperatorKeys(parts.db, parts.clock)
  return {
    teams,
    keys,
    operatorKeys,
    domains,
    dkimKeys,
    mailboxes,
    aliases,
    filters,
    sieveScripts,
    replays,
    limits: new Limits(parts.db),
  }
}
