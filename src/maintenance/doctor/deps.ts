// What the checks read of a running appliance.

import type { Clock } from '../../base/clock.ts'
import type { ClockGuard } from '../../base/clock-guard.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { AcmeCertificates } from '../../certificates/certificates.ts'
import type { Config } from '../../config/config.ts'
import type { DataFolder } from '../../config/data-folder.ts'
import type { Db } from '../../db/db.ts'
import type { Directory } from '../../directory/directory.ts'
import type { EventDispatch } from '../../events/webhooks/webhooks.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Store } from '../../store/store.ts'
import type { Sync } from '../../sync/sync.ts'

export interface DoctorDeps {
  config: Config
  db: Db
  clock: Clock
  folder: DataFolder
  guard: ClockGuard
  resolver: Resolver
  directory: Directory
  outbound: Outbound
  eventDispatch: EventDispatch
  store: Store
  sync: Sync
  certificates: AcmeCertificates
}
