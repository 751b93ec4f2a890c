// The settings that are in effect, each with where its value is from. Secrets are not here: the API says only that they are set.

import { operatorApi, takeList } from '../api/client.ts'
import type { Setting } from '../api/operator.ts'
import { useQuery } from '../live/query.ts'
import { CodeValue } from '../parts/copy.tsx'
import { Fact } from '../parts/facts.tsx'
import { FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Badge } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { operator } from '../words/en/operator.ts'

const words = operator.settings

export function Settings() {
  const filters = useFilters()
  const { data, error, refetch } = useQuery(['operator', 'settings'], () => takeList(operatorApi.GET('/settings')))
  const wanted = (filters.get('q') ?? '').toLowerCase()
  const source = filters.get('source')
  const shown = (data?.items ?? []).filter(
    (one) =>
      `${one.name} ${one.value} ${one.description}`.toLowerCase().includes(wanted) &&
      (source === undefined || one.source === source),
  )
  const sources = Object.entries(words.sources).map(([value, label]) => ({ value, label }))
  return (
    <Page
      title={operator.pages.settings}
      note={words.note}
      curl={[{ method: 'GET', path: '/settings', base: '/operator/v1' }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="source" label={words.source} choices={sources} />
      </FilterBar>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && shown.length === 0 && <Empty icon="search" title={words.emptyTitle} />}
      {shown.length > 0 && (
        <Table
          label={operator.pages.settings}
          rows={shown}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          opened={{
            id: filters.get('open') ?? null,
            toggle: (id) => filters.set('open', id),
            detail: (setting) => <Detail setting={setting} />,
          }}
        />
      )}
      <p class="soft meta">{words.how}</p>
    </Page>
  )
}

const COLUMNS: readonly Column<Setting>[] = [
  { head: words.columns.name, cell: ({ name }) => <code>{name}</code> },
  { head: words.columns.value, cell: (setting) => <Value setting={setting} />, class: 'cut line' },
  {
    head: words.columns.source,
    class: 'corner',
    cell: ({ source }) =>
      source === 'default' ? <span class="soft">{words.sources.default}</span> : <Badge>{words.sources[source]}</Badge>,
  },
]

function Value({ setting: { value, is_secret } }: { setting: Setting }) {
  if (value === '') return <span class="soft">{words.emptyValue}</span>
  return is_secret ? <span class="soft">{words.secret}</span> : <code>{value}</code>
}

/** What is written to change a setting, for copying. */
function lineOf({ name, value, source, is_secret }: Setting): { text: string; what: string } {
  if (source === 'console') return { text: 'mailstead server name', what: words.command }
  const shown = is_secret || value === '' ? '…' : value
  const text = source === 'file' ? `"${name}": ${JSON.stringify(shown)}` : `${name}=${shown}`
  return { text, what: words.line }
}

function Detail({ setting }: { setting: Setting }) {
  return (
    <div class="card card-pad stack">
      <p class="measure">
        <ServerText>{setting.description}</ServerText>
      </p>
      <dl class="facts small">
        <Fact name={words.columns.value}>
          <Value setting={setting} />
        </Fact>
        <Fact name={words.default}>
          {setting.default === '' ? <span class="soft">{words.emptyValue}</span> : <code>{setting.default}</code>}
        </Fact>
        <Fact name={words.toChange}>
          <span class="stack">
            {words.change[setting.source]}
            <CodeValue {...lineOf(setting)} />
          </span>
        </Fact>
      </dl>
      <RawJson record={setting} />
    </div>
  )
}
