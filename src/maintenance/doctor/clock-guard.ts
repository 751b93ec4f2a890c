// Whether retention and expiry wait because the clock is in doubt.

import type { DoctorDeps } from './deps.ts'
import { type Finding, fine, warning } from './finding.ts'

export function checkClockGuard({ guard }: Pick<DoctorDeps, 'guard'>): Finding {
  const complaint = guard.complaint()
  if (complaint === null)
    return fine('clock_jump', 'The clock agrees with what was last seen; retention and expiry run.')
  const advice =
    'Set the clock, or run mailstead clock accept if it is right (for example when the appliance was off that long).'
  return warning('clock_jump', complaint, advice, 'mailstead clock accept')
}
