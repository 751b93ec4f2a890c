// The state of a domain as sign and words.

import type { Domain } from '../../api/types.ts'
import type { Tone } from '../../parts/icon.tsx'
import { State } from '../../parts/marks.tsx'
import { domains as words } from '../../words/en/domains.ts'

export type DomainStatus = Domain['verification_status']

const TONES: Readonly<Record<DomainStatus, Tone>> = { verified: 'good', pending: '', failed: 'warn' }

/** @param areRecordsRight what the last check found; null before the first */
export function DomainState({
  status,
  areRecordsRight = null,
}: {
  status: DomainStatus
  areRecordsRight?: boolean | null
}) {
  if (status === 'verified' && areRecordsRight === false) return <State tone="warn">{words.someDiffer}</State>
  return (
    <State tone={TONES[status]} icon={status === 'pending' ? 'clock' : undefined}>
      {words.statuses[status]}
    </State>
  )
}
