// The directory: teams, keys, domains, mailboxes, aliases, filters and scripts.

import type { Clock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { DkimKeys, type NewDkimPair, newDkimPair } from './domains/dkim-keys.ts'
import { Domains } from './domains/domains.ts'
import { Filters } from './domains/filters.ts'
import { Keys } from './keys/keys.ts'
import { OperatorKeys } from './keys/operator-keys.ts'
import { SignIns } from './keys/sign-ins.ts'
import { Teams } from './keys/teams.ts'
import { Addressing, dropPatternsOf } from './mailboxes/addressing.ts'
import { Aliases } from './mailboxes/aliases.ts'
import { ThrowAwayAddresses } from './mailboxes/aliases-throw-away.ts'
import { AppPasswords } from './mailboxes/app-passwords.ts'
import { Forwards } from './mailboxes/forwards.ts'
import { Mailboxes } from './mailboxes/mailboxes.ts'
import { DeletedMailboxes } from './mailboxes/mailboxes-deleted.ts'
import { dropPatternAddressesOf, PatternAddresses } from './mailboxes/pattern-addresses.ts'
import { dropRetiredOf, RetiredAddresses } from './mailboxes/retired-addresses.ts'
import { SieveScripts } from './mailboxes/sieve-scripts.ts'
import { Limits } from './names/limits.ts'
import { Replays } from './names/replays.ts'
import { RequestLog } from './names/request-log.ts'

export interface Directory {
  teams: Teams
  keys: Keys
  /** Secrets of mailboxes for mail programs. */
  appPasswords: AppPasswords
  /** Sign-ins of mail programs. */
  signIns: SignIns
  operatorKeys: OperatorKeys
  domains: Domains
  dkimKeys: DkimKeys
  mailboxes: Mailboxes
  /** Deleted mailboxes while they can be restored. */
  deletedMailboxes: DeletedMailboxes
  /** Additional addresses of mailboxes. */
  aliases: Aliases
  /** Addresses of mailboxes for one correspondent each. */
  throwAway: ThrowAwayAddresses
  /** Separators and patterns of domains. */
  addressing: Addressing
  /** Addresses that ended, which no pattern matches. */
  retired: RetiredAddresses
  /** Addresses at which messages arrived by a pattern. */
  patternAddresses: PatternAddresses
  /** Addresses that mailboxes and aliases forward to. */
  forwards: Forwards
  filters: Filters
  /** Sieve scripts of mailboxes. */
  sieveScripts: SieveScripts
  replays: Replays
  /** API requests of teams. */
  requests: RequestLog
  limits: Limits
}

export interface DirectoryDeps {
  db: Db
  clock: Clock
  vault: Vault
  resolver: Resolver
  config: Config
  /** Makes DKIM key pairs; by default the system does. */
  newDkimPair?: NewDkimPair
}

export function openDirectory(deps: DirectoryDeps): Directory {
  const teams = new Teams(deps)
  const keys = new Keys(deps)
  const filters = new Filters(deps)
  const dkimKeys = new DkimKeys(deps)
  const domains = new Domains({
    ...deps,
    newDkimPair: deps.newDkimPair ?? newDkimPair,
    filters,
    dkimKeys,
    inUse: (tx, domainId) => mailboxes.anyAt(tx, domainId) || aliases.anyAt(tx, domainId),
    hasAddress: (reader, mailboxId, domainId, email) => mailboxes.hasAddress(reader, mailboxId, domainId, email),
    dropAddressing(tx, domainId) {
      dropPatternsOf(tx, domainId)
      dropRetiredOf(tx, domainId)
      dropPatternAddressesOf(tx, domainId)
    },
  })
  const addressing = new Addressing({
    ...{ ...deps, domains },
    mayLeadTo(reader, teamId, id) {
      const mailbox = mailboxes.getIn(reader, teamId, id)
      return mailbox !== undefined && mailbox.status !== 'deleted' && mailbox.domainId !== null && !mailbox.isAgent
    },
  })
  const retired = new RetiredAddresses(deps)
  const patternAddresses = new PatternAddresses(deps)
  const sieveScripts = new SieveScripts({ ...deps, setScript: (tx, id, key) => mailboxes.setScript(tx, id, key) })
  const appPasswords = new AppPasswords({
    ...deps,
    mailboxIn: (reader, teamId, id) => mailboxes.getIn(reader, teamId, id),
  })
  const signIns = new SignIns(deps)
  const mailboxes: Mailboxes = new Mailboxes({
    ...{ ...deps, domains, addressing, retired, keys, appPasswords, signIns, filters, sieveScripts },
  })
  const aliases = new Aliases({ ...deps, mailboxes, domains, addressing, retired, patternAddresses })
  return {
    teams,
    keys,
    appPasswords,
    signIns,
    operatorKeys: new OperatorKeys(deps.db, deps.clock),
    domains,
    dkimKeys,
    mailboxes,
    deletedMailboxes: new DeletedMailboxes({ ...deps, mailboxes }),
    aliases,
    throwAway: new ThrowAwayAddresses({ ...deps, mailboxes, retired }),
    addressing,
    retired,
    patternAddresses,
    forwards: new Forwards(deps),
    filters,
    sieveScripts,
    replays: new Replays(deps.db, deps.clock),
    requests: new RequestLog(deps),
    limits: new Limits(deps.db),
  }
}
