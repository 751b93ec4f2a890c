// The delivery log: one row for each recipient of each message, with what became of it.

import type { ComponentChildren } from 'preact'
import { takeList } from '../../api/client.ts'
import type { DeliveryLog } from '../../api/types.ts'
import { daysAgo, secondsBetween } from '../../base/dates.ts'
import { plural } from '../../base/numbers.ts'
import { usePages, useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign, State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { delivery as words } from '../../words/en/delivery.ts'
import { useTeam } from '../team.ts'
import { DeliveryDetail } from './detail.tsx'

const TONES = { pending: 'warn', sent: 'good', failed: 'danger', rejected: 'danger' } as const
const DAYS = { today: 0, week: 7, month: 30 } as const
const LIVE_MS = 10_000

export function Delivery() {
  const team = useTeam()
  const filters = useFilters(['open'])
  const open = filters.get('open') ?? null
  const query = queryOf(filters)
  const pages = usePages(
    [team.id, 'delivery', query],
    (cursor) => takeList(team.api.GET('/emails/logs', { params: { query: { ...query, cursor } } })),
    { every: LIVE_MS },
  )
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/emails/logs', query }]}>
      <DeliveryFilters filters={filters} end={<Rows length={pages.items.length} isAll={!pages.hasMore} />} />
      <List
        pages={pages}
        label={words.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{ id: open, toggle: (id) => filters.set('open', id), detail: (row) => <DeliveryDetail id={row.id} /> }}
        empty={<NothingSent />}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {open !== null && pages.items.length > 0 && !pages.items.some(({ id }) => id === open) && (
        <DeliveryDetail id={open} />
      )}
    </Page>
  )
}

/** The filters as the API takes them. */
function queryOf(filters: Filters) {
  const since = filters.get('since') as keyof typeof DAYS | undefined
  const after = since !== undefined && since in DAYS ? daysAgo(DAYS[since]).slice(0, 10) : undefined
  return {
    q: filters.get('q'),
    status: filters.get('status') as DeliveryLog['status'] | undefined,
    provider_id: filters.get('route'),
    domain: filters.get('domain'),
    message_id: filters.get('message'),
    mailbox_id: filters.get('mailbox'),
    after,
  }
}

function DeliveryFilters({ filters, end }: { filters: Filters; end: ComponentChildren }) {
  const team = useTeam()
  const providers = useQuery(
    [team.id, 'sending', 'names'],
    () => takeList(team.api.GET('/providers', { params: { query: { limit: 100 } } })),
    { when: team.may('provider.read') },
  )
  const choices = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }))
  const routes = (providers.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return (
    <FilterBar end={end}>
      <SearchField filters={filters} label={words.search} />
      <FilterMenu filters={filters} name="status" label={words.filters.status} choices={choices(words.status)} />
      {routes.length > 0 && <FilterMenu filters={filters} name="route" label={words.filters.route} choices={routes} />}
      <FilterMenu filters={filters} name="since" label={words.filters.since} choices={choices(words.since)} />
    </FilterBar>
  )
}

function Rows({ length, isAll }: { length: number; isAll: boolean }) {
  return (
    <>
      <span>{words.rows(plural(length, words.row, words.rowsWord), isAll)}</span>
      <State tone="good" icon="radio">
        {common.live}
      </State>
    </>
  )
}

function NothingSent() {
  const team = useTeam()
  return (
    <Empty
      icon="send"
      title={words.emptyTitle}
      action={team.may('provider.create') && <ButtonLink href={team.href('sending')}>{words.emptyAction}</ButtonLink>}
    >
      {words.empty}
    </Empty>
  )
}

const COLUMNS: readonly Column<DeliveryLog>[] = [
  { head: words.columns.status, cell: ({ status }) => <State tone={TONES[status]}>{words.status[status]}</State> },
  { head: words.columns.recipient, cell: ({ to_email: email }) => <Foreign>{email}</Foreign>, class: 'cut' },
  {
    head: words.columns.subject,
    cell: ({ subject }) => <span class="soft">{subject === '' ? words.noSubject : <Foreign>{subject}</Foreign>}</span>,
    class: 'cut',
  },
  { head: words.columns.route, cell: (row) => <span class="soft">{row.provider_name ?? words.direct}</span> },
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft' },
  { head: words.columns.result, cell: (row) => <Result row={row} />, class: 'cut' },
]

function Result({ row }: { row: DeliveryLog }) {
  if (row.status === 'sent')
    return <span class="soft">{words.tookSeconds(secondsBetween(row.created_at, row.sent_at!))}</span>
  const tone = TONES[row.status]
  return <span class={tone}>{row.status_reason === null ? words.waits : <Foreign>{row.status_reason}</Foreign>}</span>
}
