// The counts of the span divided: by domain, account, mailbox, receiver, tag or reason.

import { take } from '../../api/client.ts'
import type { EmailMetricsBreakdown } from '../../api/types.ts'
import { csvOf } from '../../base/csv.ts'
import { count, percent } from '../../base/numbers.ts'
import { saveFile } from '../../base/save-file.ts'
import { useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Tabs } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { metrics as words } from '../../words/en/metrics.ts'
import { useTeam } from '../team.ts'
import type { MetricsQuery } from './metrics.tsx'

type By = EmailMetricsBreakdown['by']
type Row = Pick<EmailMetricsBreakdown['rows'][number], 'key' | 'label' | 'totals'>

const ROWS = 50
const REFRESH_MS = 60_000
/** The filter of the page that a row sets. */
const FILTERS: Readonly<Partial<Record<By, string>>> = {
  domain: 'domain',
  provider: 'account',
  mailbox: 'mailbox',
  tag: 'tag',
}
/** The counts of a row, in the order of the columns. */
const COUNTS = ['sent', 'delivered', 'bounced', 'complained', 'received'] as const
const REASON_COUNTS = ['bounced', 'rejected', 'failed', 'delayed', 'received_blocked'] as const
type CountName = (typeof COUNTS)[number] | (typeof REASON_COUNTS)[number]
const countsOf = (by: By): readonly CountName[] => (by === 'event_reason' ? REASON_COUNTS : COUNTS)

/** The ways to divide that go with the filters: a tag has its own. */
const waysOf = (query: MetricsQuery): readonly By[] =>
  query.tag === undefined ? (Object.keys(words.breakdowns) as By[]) : ['tag']

export function Breakdown({ query, filters }: { query: MetricsQuery; filters: Filters }) {
  const team = useTeam()
  const ways = waysOf(query)
  const by = ways.find((one) => one === filters.get('by')) ?? ways[0]!
  // Tags are counted without other filters.
  const asked = by === 'tag' ? { after: query.after, before: query.before, tag: query.tag } : query
  const result = useQuery(
    [team.id, 'breakdown', asked, by],
    () => take(team.api.GET('/emails/metrics/breakdown', { params: { query: { ...asked, by, limit: ROWS } } })),
    { every: REFRESH_MS },
  )
  return (
    <section class="stack" aria-label={words.breakdownTitles[by]}>
      <div class="row wide wrap">
        <h2>{words.breakdownTitles[by]}</h2>
        {result.data !== undefined && <Csv data={result.data} />}
      </div>
      <Ways ways={ways} by={by} filters={filters} />
      {result.error !== null ? (
        <ErrorCard error={result.error} onRetry={result.refetch} />
      ) : result.data === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <Rows data={result.data} filters={filters} />
      )}
    </section>
  )
}

function Ways({ ways, by, filters }: { ways: readonly By[]; by: By; filters: Filters }) {
  const tabs = ways.map((name) => ({
    name,
    label: words.breakdowns[name],
    href: `?${new URLSearchParams({ ...filters.values, by: name })}`,
  }))
  return <Tabs label={words.breakdown} tabs={tabs} current={by} />
}

/** Those without a reason went well, and are no row of reasons. */
function rowsOf({ rows, other, by }: EmailMetricsBreakdown): Row[] {
  const isReason = by === 'event_reason'
  const named = rows
    .filter(({ key }) => !isReason || key !== null)
    .map(({ key, label, totals }) => ({
      key,
      label: key === null ? words.noKey[by] : isReason ? label.replaceAll('_', ' ') : label,
      totals,
    }))
  const isOther = countsOf(by).some((name) => other.totals[name] > 0)
  return isOther ? [...named, { key: null, label: words.others, totals: other.totals }] : named
}

function Rows({ data, filters }: { data: EmailMetricsBreakdown; filters: Filters }) {
  const rows = rowsOf(data)
  if (rows.length === 0)
    return (
      <Empty icon="chart-line" title={words.emptyTitle}>
        {words.emptyText}
      </Empty>
    )
  return (
    <Table
      label={words.breakdownTitles[data.by]}
      rows={rows}
      isNamed
      keyOf={({ key, label }) => key ?? `: ${label}`}
      columns={columnsOf(data.by, filters)}
    />
  )
}

function columnsOf(by: By, filters: Filters): Column<Row>[] {
  const filter = FILTERS[by]
  const name: Column<Row> = {
    head: words.breakdowns[by],
    cell: ({ key, label }) =>
      key === null || filter === undefined || filters.get(filter) === key ? (
        <span class={key === null ? 'soft' : 'strong'}>
          <Foreign>{label}</Foreign>
        </span>
      ) : (
        <Button
          kind="link"
          label={words.only(label)}
          onPress={() =>
            filters.change(
              filter === 'tag'
                ? { domain: null, account: null, mailbox: null, tag: key }
                : { tag: null, [filter]: key },
            )
          }
        >
          <Foreign>{label}</Foreign>
        </Button>
      ),
  }
  return [
    name,
    ...countsOf(by).map((column) => ({
      head: words.columns[column],
      cell: ({ totals }: Row) => <Count totals={totals} column={column} />,
      class: 'number',
    })),
  ]
}

/** Counts that are a part of what was sent. */
const SHARES: ReadonlySet<CountName> = new Set(['delivered', 'bounced', 'complained'])

/** The count, and what share of the sent ones it is. */
function Count({ totals, column }: { totals: Row['totals']; column: CountName }) {
  const value = totals[column]
  const isShare = SHARES.has(column) && totals.sent > 0 && value > 0
  return (
    <span>
      {value === 0 ? <span class="soft">0</span> : count(value)}
      {isShare && <span class="soft small share-of"> {words.share(percent(value / totals.sent))}</span>}
    </span>
  )
}

function Csv({ data }: { data: EmailMetricsBreakdown }) {
  const head = [words.breakdowns[data.by], ...Object.keys(data.other.totals)]
  const lines = rowsOf(data).map(({ label, totals }) => [label, ...Object.values(totals).map(String)])
  const save = () => saveFile(`metrics-${data.by}.csv`, csvOf([head, ...lines]), 'text/csv')
  return (
    <Button size="short" icon="file-down" onPress={save}>
      {words.csv}
    </Button>
  )
}
