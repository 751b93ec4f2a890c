// Care for the whole appliance: checks and backups.

import type { Log } from '../base/log.ts'
import { Backups } from './backup/backups.ts'
import type { DoctorDeps } from './doctor/deps.ts'
import { Doctor } from './doctor/doctor.ts'

export interface Maintenance {
  /** Checks of settings, machine, DNS, domains and accounts. */
  doctor: Doctor
  backups: Backups
}

export function openMaintenance(deps: DoctorDeps & { log: Log }): Maintenance {
  return { doctor: new Doctor(deps), backups: new Backups(deps) }
}
