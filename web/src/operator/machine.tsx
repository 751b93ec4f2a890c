// The machine: which versions run, what they use, how late things are, and every metric.

import { operatorApi, take, takeText } from '../api/client.ts'
import type { Machine as MachineJson } from '../api/operator.ts'
import { duration, exact, relative } from '../base/dates.ts'
import { findValue, type Metric, readMetrics } from '../base/metrics-text.ts'
import { count, size } from '../base/numbers.ts'
import { useQuery } from '../live/query.ts'
import { Fact } from '../parts/facts.tsx'
import { Figure } from '../parts/figures.tsx'
import { FilterBar, SearchField, useFilters } from '../parts/filters.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { operator } from '../words/en/operator.ts'

const words = operator.machine
const REFRESH_MS = 5000
const PREFIX = 'mailstead_'

export function Machine() {
  const filters = useFilters()
  const machine = useQuery(['operator', 'machine'], () => take(operatorApi.GET('/machine')), { every: REFRESH_MS })
  const { data, error, refetch } = useQuery(['operator', 'metrics'], readNow, { every: REFRESH_MS })
  return (
    <Page
      title={operator.pages.machine}
      note={words.note}
      curl={[
        { method: 'GET', path: '/machine', base: '/operator/v1' },
        { method: 'GET', path: '/metrics', base: '/operator/v1' },
      ]}
    >
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {machine.error !== null && <ErrorCard error={machine.error} onRetry={machine.refetch} />}
      {(data === undefined || machine.data === undefined) && error === null && <Skeleton />}
      {data !== undefined && machine.data !== undefined && (
        <div class="stack loose">
          <div class="card">
            <Figures metrics={data} machine={machine.data} />
            <Facts metrics={data} machine={machine.data} />
          </div>
          <Section title={words.all} note={words.prometheus}>
            <FilterBar>
              <SearchField filters={filters} label={words.search} />
            </FilterBar>
            <Metrics metrics={data} wanted={(filters.get('q') ?? '').toLowerCase()} />
          </Section>
        </div>
      )}
    </Page>
  )
}

const readNow = async () => readMetrics(await takeText(operatorApi.GET('/metrics', { parseAs: 'text' })))

const of = (metrics: readonly Metric[], name: string, labels?: string) => findValue(metrics, PREFIX + name, labels) ?? 0

/** Milliseconds of a delay in seconds. */
const delay = (metrics: readonly Metric[], labels: string) =>
  count(Math.round(of(metrics, 'event_loop_delay_seconds', labels) * 1000))

interface Shown {
  metrics: readonly Metric[]
  machine: MachineJson
}

function Figures({ metrics, machine }: Shown) {
  const late = (seconds: number) => (seconds < 1 ? words.nothingLate : words.oldest(duration(seconds)))
  return (
    <div class="figures">
      <Figure
        name={words.figures.queue}
        value={count(of(metrics, 'queue_deliveries'))}
        note={late(of(metrics, 'queue_oldest_due_seconds'))}
      />
      <Figure
        name={words.figures.webhooks}
        value={count(of(metrics, 'webhook_deliveries_waiting'))}
        note={late(of(metrics, 'webhook_oldest_due_seconds'))}
      />
      <Figure
        name={words.figures.memory}
        value={size(machine.resident_bytes)}
        note={words.heapNote(size(machine.heap_bytes))}
      />
      <Figure
        name={words.figures.disk}
        value={size(machine.disk_free_bytes)}
        note={words.diskNote(size(machine.disk_bytes))}
      />
    </div>
  )
}

function Facts({ metrics, machine }: Shown) {
  const { version, node, platform, started_at, threads, mail_bytes, blobs_bytes } = machine
  return (
    <dl class="facts small card-pad">
      <Fact name={words.version}>{version}</Fact>
      <Fact name={words.node}>
        {node}, {platform}
      </Fact>
      <Fact name={words.started}>
        {exact(started_at)} <span class="soft">({relative(started_at)})</span>
      </Fact>
      {threads !== null && <Fact name={words.threads}>{count(threads)}</Fact>}
      <Fact name={words.databases}>{words.databaseSizes(size(mail_bytes), size(blobs_bytes))}</Fact>
      <Fact name={words.delay}>{words.delayNote(delay(metrics, 'quantile=0.5'), delay(metrics, 'quantile=0.99'))}</Fact>
    </dl>
  )
}

const COLUMNS: readonly Column<Metric>[] = [
  {
    head: words.columns.name,
    cell: ({ name, help }) => (
      <span class="two-lines">
        <code>{name}</code>
        <span lang="en">{help}</span>
      </span>
    ),
  },
  { head: words.columns.labels, cell: ({ labels }) => labels, class: 'soft line' },
  { head: words.columns.value, cell: ({ value }) => count(value), class: 'number corner' },
]

function Metrics({ metrics, wanted }: { metrics: readonly Metric[]; wanted: string }) {
  const shown = metrics.filter((one) => `${one.name} ${one.labels} ${one.help}`.toLowerCase().includes(wanted))
  if (shown.length === 0) return <Empty icon="search" title={words.emptyTitle} />
  return (
    <Table label={words.all} rows={shown} columns={COLUMNS} keyOf={({ name, labels }) => `${name} ${labels}`} isTall />
  )
}
