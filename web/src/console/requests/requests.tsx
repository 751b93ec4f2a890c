// The API requests of a team by its keys: what programs asked, how it ended and how long it took.

import { takeList } from '../../api/client.ts'
import type { ApiRequestRecord } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { usePages } from '../../live/query.ts'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import {
  choicesOf,
  FilterBar,
  FilterChip,
  FilterMenu,
  type Filters,
  SearchField,
  useFilters,
} from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { requests as words } from '../../words/en/requests.ts'
import { useTeam } from '../team.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const SINCE_MS = { hour: HOUR_MS, today: 24 * HOUR_MS } as const
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const REFRESH_MS = 15_000

/** The filters as the API takes them; the time is rounded, so that the same question is asked for a while. */
function queryOf(filters: Filters) {
  const since = filters.get('since') as keyof typeof SINCE_MS | undefined
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  const after = since !== undefined && since in SINCE_MS ? new Date(now - SINCE_MS[since]).toISOString() : undefined
  return {
    q: filters.get('q'),
    method: filters.get('method') as (typeof METHODS)[number] | undefined,
    status: filters.get('status') as keyof typeof words.results | undefined,
    key_id: filters.get('key'),
    after,
  }
}

export function Requests() {
  const team = useTeam()
  const filters = useFilters()
  const query = queryOf(filters)
  const pages = usePages(
    [team.id, 'requests', query],
    (cursor) => takeList(team.api.GET('/team/requests', { params: { query: { ...query, cursor } } })),
    { every: REFRESH_MS, isAlone: true },
  )
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/team/requests', query }]}>
      <RequestFilters filters={filters} />
      <List
        pages={pages}
        label={words.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (request) => <Detail request={request} filters={filters} />,
        }}
        empty={
          <Empty
            icon="braces"
            title={words.emptyTitle}
            action={team.may('apikey.read') && <ButtonLink href={team.href('keys')}>{words.emptyAction}</ButtonLink>}
          >
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </Page>
  )
}

function RequestFilters({ filters }: { filters: Filters }) {
  return (
    <FilterBar>
      <SearchField filters={filters} label={words.search} />
      <FilterMenu filters={filters} name="status" label={words.result} choices={choicesOf(words.results)} />
      <FilterMenu
        filters={filters}
        name="method"
        label={words.method}
        choices={METHODS.map((value) => ({ value, label: value }))}
      />
      <FilterMenu filters={filters} name="since" label={words.since} choices={choicesOf(words.sinces)} />
      <FilterChip filters={filters} name="key" label={words.columns.key} />
    </FilterBar>
  )
}

const toneOf = (status: number) => (status < 400 ? 'good' : status < 500 ? 'warn' : 'danger')

const COLUMNS: readonly Column<ApiRequestRecord>[] = [
  { head: words.columns.status, cell: ({ status }) => <State tone={toneOf(status)}>{status}</State> },
  {
    head: words.columns.request,
    cell: ({ method, route }) => (
      <span class="request-line">
        <span class="mono soft">{method}</span>
        <span class="mono cut">{route ?? words.unknownPath}</span>
      </span>
    ),
    class: 'request-cell line',
  },
  {
    head: words.columns.key,
    cell: ({ key_name, key_id }) => <Foreign>{key_name ?? key_id}</Foreign>,
    class: 'cut key-cell soft',
  },
  {
    head: words.columns.error,
    cell: ({ error_code }) => <span class="mono">{error_code}</span>,
    class: 'wide-only soft',
  },
  { head: words.columns.took, cell: ({ ms }) => words.ms(count(ms)), class: 'number soft wide-only' },
  { head: words.columns.time, cell: ({ at }) => <Time at={at} />, class: 'number soft corner' },
]

function Detail({ request, filters }: { request: ApiRequestRecord; filters: Filters }) {
  const { id, at, operation, key_id, error_code, ms } = request
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.exactly}>{exact(at)}</Fact>
        <Fact name={words.columns.took}>{words.ms(count(ms))}</Fact>
        {operation !== null && (
          <Fact name={words.operation}>
            <code>{operation}</code>
          </Fact>
        )}
        <Fact name={words.id}>
          <CodeValue text={id} what={words.id} />
        </Fact>
        <Fact name={words.keyId}>
          <CodeValue text={key_id} what={words.keyId} />
        </Fact>
        {error_code !== null && (
          <Fact name={words.errorCode}>
            <code>{error_code}</code> <a href={`/docs/errors#${error_code}`}>{words.aboutError}</a>
          </Fact>
        )}
      </dl>
      <div class="row">
        <Button size="short" onPress={() => filters.set('key', key_id)}>
          {words.onlyKey}
        </Button>
      </div>
      <RawJson record={request} />
    </div>
  )
}
