// The first page of the console: what needs a person, then figures, then what failed; the first steps beside them.

import { takeList } from '../../api/client.ts'
import type { DeliveryLog } from '../../api/types.ts'
import { clockTime, day, weekday } from '../../base/dates.ts'
import { useIsPending, useQuery } from '../../live/query.ts'
import { useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { ErrorCard, Skeleton, StaleNote, Together } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { pageNames } from '../../words/en/pages.ts'
import { inShort } from '../../words/en/replies.ts'
import { useTeam } from '../team.ts'
import { FirstSteps } from './first-steps.tsx'
import { Month } from './month.tsx'
import { Needs } from './needs.tsx'
import { type Span, spanStart, Traffic } from './traffic.tsx'

const FAILURES_SHOWN = 4
const REFRESH_MS = 30_000

export function Overview() {
  const team = useTeam()
  const filters = useFilters()
  const chosen = filters.get('days') ?? '7'
  const span = (chosen in words.spans ? chosen : '7') as Span
  const items = Object.entries(words.spans).map(([value, label]) => ({
    label,
    isChosen: value === span,
    onPress: () => filters.set('days', value === '7' ? null : value),
  }))
  const query = { from_date: spanStart(span) }
  return (
    <Page
      title={pageNames.overview}
      note={weekday()}
      actions={
        <Menu label={`${words.span}: ${words.spans[span]}`} items={items}>
          {words.spans[span]}
          <Icon name="chevron-down" />
        </Menu>
      }
      curl={[
        { method: 'GET', path: '/emails/metrics', query },
        {
          method: 'GET',
          path: '/emails/metrics/timeseries',
          query: { ...query, interval: span === '30' ? 'day' : 'hour' },
        },
        { method: 'GET', path: '/emails/logs', query: { status: 'failed', limit: FAILURES_SHOWN } },
      ]}
    >
      <Together isPending={useIsPending(team.id)}>
        <Needs />
        <div class="columns">
          <div class="stack loose">
            <Traffic span={span} />
            <Failures span={span} />
          </div>
          <div class="stack loose">
            <FirstSteps />
            <Month />
          </div>
        </div>
      </Together>
    </Page>
  )
}

function Failures({ span }: { span: Span }) {
  const team = useTeam()
  const failures = useQuery(
    [team.id, 'failures', span],
    () =>
      takeList(
        team.api.GET('/emails/logs', {
          params: { query: { status: 'failed', limit: FAILURES_SHOWN, from_date: spanStart(span) } },
        }),
      ),
    { every: REFRESH_MS },
  )
  const rows = failures.data?.items ?? []
  const time = (at: string) => (span === '1' ? clockTime(at) : `${day(at)}, ${clockTime(at).slice(0, 5)}`)
  return (
    <section class="stack">
      <div class="row wide">
        <h2>{words.failures}</h2>
        <a class="row" href={`${team.href('delivery')}?status=failed`}>
          {words.allFailures} <Icon name="arrow-right" />
        </a>
      </div>
      {failures.error !== null && failures.data !== undefined && (
        <StaleNote error={failures.error} since={failures.answeredAt} onRetry={failures.refetch} />
      )}
      {failures.failure !== null ? (
        <ErrorCard error={failures.failure} title={words.failuresMissing} onRetry={failures.refetch} />
      ) : failures.data === undefined ? (
        <Skeleton rows={3} />
      ) : rows.length === 0 ? (
        <p class="soft">{words.noFailures}</p>
      ) : (
        <Table label={words.failures} rows={rows} keyOf={({ id }) => id} columns={columnsOf(time)} />
      )}
    </section>
  )
}

function columnsOf(time: (at: string) => string): Column<DeliveryLog>[] {
  return [
    {
      head: words.failureColumns.time,
      cell: ({ created_at }) => <span class="soft nowrap">{time(created_at)}</span>,
    },
    {
      head: words.failureColumns.recipient,
      cell: ({ to_email }) => <Foreign>{to_email}</Foreign>,
      class: 'cut',
    },
    {
      head: words.failureColumns.subject,
      cell: ({ subject }) => <span class="soft">{subject}</span>,
      class: 'cut wide-only',
    },
    {
      head: words.failureColumns.what,
      cell: ({ status_reason }) => (
        <span class="row">
          <Icon name="circle-x" tone="danger" />
          <span class="cut reason-cell">{status_reason === null ? words.refused : inShort(status_reason)}</span>
        </span>
      ),
    },
  ]
}
