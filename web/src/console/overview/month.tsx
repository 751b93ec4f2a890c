// What the team sent and received since the first of the month, and how much of its storage is used.

import type { ComponentChildren } from 'preact'
import { take } from '../../api/client.ts'
import { count, size } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Bar } from '../../parts/marks.tsx'
import { ErrorCard, StaleNote } from '../../parts/quiet.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { useTeam } from '../team.ts'

const REFRESH_MS = 60_000

/** The first of this month in UTC, by which the server counts days. */
function monthStart(now = new Date()): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString()
}

export function Month() {
  const team = useTeam()
  const from = monthStart()
  const metrics = useQuery(
    [team.id, 'metrics', from],
    () => take(team.api.GET('/emails/metrics', { params: { query: { from_date: from } } })),
    { every: REFRESH_MS, when: team.may('analytics.read') },
  )
  const usage = useQuery([team.id, 'usage'], () => take(team.api.GET('/team/usage')))
  const totals = metrics.data?.totals
  const storage = usage.data?.storage
  const error = metrics.error ?? usage.error
  const failure = metrics.failure ?? usage.failure
  const since = metrics.error === null ? usage.answeredAt : metrics.answeredAt
  const retry = () => {
    metrics.refetch()
    usage.refetch()
  }
  if (totals === undefined && storage === undefined && error === null) return null
  return (
    <section class="card card-pad stack month">
      <h2>{words.month}</h2>
      {failure !== null && <ErrorCard error={failure} title={words.monthMissing} onRetry={retry} />}
      {failure === null && error !== null && <StaleNote error={error} since={since} onRetry={retry} />}
      {totals !== undefined && <Line name={words.monthSent} value={count(totals.sent)} />}
      {totals !== undefined && <Line name={words.monthReceived} value={count(totals.received)} />}
      {storage?.used_bytes != null && (
        <Line name={words.storage} value={size(storage.used_bytes)} most={size(storage.quota_bytes)}>
          <Bar share={storage.quota_bytes === 0 ? 0 : storage.used_bytes / storage.quota_bytes} />
        </Line>
      )}
    </section>
  )
}

interface LineProps {
  name: string
  value: string
  /** What it may be at most. */
  most?: string
  children?: ComponentChildren
}

function Line({ name, value, most, children }: LineProps) {
  return (
    <div class="month-line">
      <p class="row wide">
        <span>{name}</span>
        <span>
          <b>{value}</b> {most !== undefined && <span class="soft">{words.ofAll(most)}</span>}
        </span>
      </p>
      {children}
    </div>
  )
}
