// What is used of the quotas of a sending account now, and what it sent over time.

import { take } from '../../api/client.ts'
import type { Provider, QuotaUse } from '../../api/types.ts'
import { daysAgo, relative } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { type Curve, TimeChart } from '../../panels/time-chart.tsx'
import { Bar } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { sending as words } from '../../words/en/sending.ts'
import { useTeam } from '../team.ts'

const DAYS = 14
const DAY_MS = 86_400_000
const NOW_MS = 5000
const LIST_MS = 30_000
/** A second has passed before it is read. */
const SHOWN = ['minute', 'hour', 'day'] as const

const CURVES: readonly Curve[] = [
  { name: words.useCurves.sent, kind: 'area', of: ({ sent }) => sent },
  { name: words.useCurves.failed, kind: 'bars', of: ({ failed }) => failed },
]

const hasQuota = ({ quotas }: Provider) => Object.values(quotas).some((range) => range !== null)

function useWindows(provider: Provider, every: number) {
  const team = useTeam()
  return useQuery(
    [team.id, 'account-usage', provider.id],
    () => take(team.api.GET('/providers/{provider_id}/usage', { params: { path: { provider_id: provider.id } } })),
    { every, when: hasQuota(provider), isAlone: true },
  )
}

const shareOf = ({ used, most }: QuotaUse) => (most === 0 ? 1 : used / most)

function Window({ use }: { use: QuotaUse }) {
  return (
    <div class="stack tight">
      <span class="row wide">
        <span class="soft">{words.windows[use.window]}</span>
        <span>{words.usedOf(count(use.used), count(use.most))}</span>
      </span>
      <Bar share={shareOf(use)} />
      {shareOf(use) >= 1 && <span class="soft small">{words.endsIn(relative(use.ends_at))}</span>}
    </div>
  )
}

/** What the team may send through the shared account, as a window of a day. */
function useShared(provider: Provider): QuotaUse[] {
  const team = useTeam()
  const query = useQuery(
    [team.id, 'shared-limit'],
    () => take(team.api.GET('/providers/shared-amazon-ses-limit-request')),
    { when: provider.is_shared },
  )
  const limit = query.data?.limit
  if (!provider.is_shared || limit === undefined || limit.daily_limit === null) return []
  const tomorrow = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS).toISOString()
  return [{ window: 'day', used: limit.sent_today, most: limit.daily_limit, ends_at: tomorrow }]
}

export function UseNow({ provider }: { provider: Provider }) {
  const use = useWindows(provider, NOW_MS)
  const shared = useShared(provider)
  const own = use.data?.windows.filter(({ window }) => SHOWN.some((name) => name === window)) ?? []
  const windows = [...own, ...shared]
  if (use.error !== null) return <ErrorCard error={use.error} onRetry={use.refetch} />
  return (
    <section class="card card-pad stack use-now">
      <h2 class="sub">{words.useNow}</h2>
      {use.isLoading ? (
        <Skeleton rows={2} />
      ) : windows.length === 0 ? (
        <p class="soft">{words.noQuota}</p>
      ) : (
        <>
          {windows.map((one) => (
            <Window key={one.window} use={one} />
          ))}
          <p class="soft small">{words.useNowNote}</p>
        </>
      )}
    </section>
  )
}

/** The window of an account that is nearest to its end, for a row. */
export function Limits({ provider }: { provider: Provider }) {
  const use = useWindows(provider, LIST_MS)
  if (!hasQuota(provider)) return <>{words.noLimit}</>
  const tightest = use.data?.windows.reduce<QuotaUse | null>(
    (found, one) => (found === null || shareOf(one) >= shareOf(found) ? one : found),
    null,
  )
  if (tightest == null) return null
  return (
    <span class="used">
      <span class="meta nowrap">
        {words.usedOf(count(tightest.used), count(tightest.most))} {words.inWindow[tightest.window]}
      </span>
      <Bar share={shareOf(tightest)} />
    </span>
  )
}

export function UseOverTime({ provider }: { provider: Provider }) {
  const team = useTeam()
  const query = { after: daysAgo(DAYS).slice(0, 10), interval: 'day' as const, provider_id: provider.id }
  const series = useQuery(
    [team.id, 'timeseries', query],
    () => take(team.api.GET('/emails/metrics/timeseries', { params: { query } })),
    { when: team.may('analytics.read') },
  )
  if (series.error !== null) return <ErrorCard error={series.error} onRetry={series.refetch} />
  if (series.data === undefined) return <Skeleton rows={4} />
  return (
    <div class="card">
      <TimeChart title={words.useChart} points={series.data.points} curves={CURVES} interval="day" />
    </div>
  )
}
