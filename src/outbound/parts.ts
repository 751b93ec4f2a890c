// What every part of sending is made of.

import type { Clock } from '../base/clock.ts'
import type { ClockDoubt } from '../base/clock-guard.ts'
import type { Log } from '../base/log.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import type { Wake } from '../base/wake.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Outbox } from '../events/outbox.ts'
import type { Store } from '../store/store.ts'

export interface OutboundParts {
  db: Db
  clock: Clock
  /** While it holds, nothing that waits expires. */
  guard: ClockDoubt
  log: Log
  config: Config
  vault: Vault
  resolver: Resolver
  directory: Directory
  store: Store
  outbox: Outbox
  wake: Wake
}
