// The delivery log: one row for each recipient of each message, with its outcome.

import type { ComponentChildren } from 'preact'
import { takeList } from '../../api/client.ts'
import type { DeliveryLog } from '../../api/types.ts'
import { requestsOf } from '../../base/curl.ts'
import { secondsBetween } from '../../base/dates.ts'
import { plural } from '../../base/numbers.ts'
import { resourceIdOf } from '../../base/resource-id.ts'
import { LIVE_MS, usePages, useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import {
  choicesOf,
  FilterBar,
  FilterChip,
  FilterMenu,
  type Filters,
  SearchField,
  SinceFilter,
  sinceDay,
  useFilters,
} from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LiveMark } from '../../parts/live-mark.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { CSV_PART, SaveCsv } from '../../parts/save-csv.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { delivery as words } from '../../words/en/delivery.ts'
import { inShort } from '../../words/en/replies.ts'
import { useTeam } from '../team.ts'
import { DELIVERY_TONES } from './copies.tsx'
import { DeliveryDetail } from './detail.tsx'

export function Delivery() {
  const team = useTeam()
  const filters = useFilters(['open'])
  const open = resourceIdOf(filters.get('open'))
  const query = queryOf(filters)
  const pages = usePages(
    [team.id, 'delivery', query],
    (cursor) => takeList(team.api.GET('/emails/logs', { params: { query: { ...query, cursor } } })),
    { every: LIVE_MS },
  )
  const csv = (
    <SaveCsv
      name="delivery"
      ask={(cursor) =>
        takeList(team.api.GET('/emails/logs', { params: { query: { ...query, limit: CSV_PART, cursor } } }))
      }
      columns={CSV}
    />
  )
  return (
    <Page title={words.title} note={words.note} actions={csv} curl={requestsOf('/emails/logs', query, open)}>
      <DeliveryFilters filters={filters} end={<Rows length={pages.items.length} isAll={!pages.hasMore} />} />
      <List
        pages={pages}
        label={words.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: open,
          toggle: (id) => filters.set('open', id),
          detail: (row) => <DeliveryDetail id={row.id} filters={filters} />,
        }}
        empty={<NothingSent />}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {open !== null && !pages.isLoading && !pages.items.some(({ id }) => id === open) && (
        <DeliveryDetail id={open} filters={filters} />
      )}
    </Page>
  )
}

const CSV: Readonly<Record<string, (row: DeliveryLog) => string | number | null>> = {
  id: ({ id }) => id,
  created_at: (row) => row.created_at,
  status: ({ status }) => status,
  status_reason: (row) => row.status_reason,
  to_email: (row) => row.to_email,
  sent_from_email: (row) => row.sent_from_email,
  subject: ({ subject }) => subject,
  provider_name: (row) => row.provider_name,
  attempts: ({ attempts }) => attempts,
  sent_at: (row) => row.sent_at,
  size_bytes: (row) => row.size_bytes,
  message_id: (row) => row.message_id,
}

/** The filters as the API takes them. */
function queryOf(filters: Filters) {
  return {
    q: filters.get('q'),
    status: filters.get('status') as DeliveryLog['status'] | undefined,
    provider_id: filters.get('route'),
    domain: filters.get('domain'),
    message_id: filters.get('message'),
    mailbox_id: filters.get('mailbox'),
    tag: filters.get('tag'),
    after: sinceDay(filters),
  }
}

function DeliveryFilters({ filters, end }: { filters: Filters; end: ComponentChildren }) {
  const team = useTeam()
  const providers = useQuery(
    [team.id, 'sending', 'names'],
    () => takeList(team.api.GET('/providers', { params: { query: { limit: 100 } } })),
    { when: team.may('provider.read') },
  )
  const routes = (providers.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return (
    <FilterBar end={end}>
      <SearchField filters={filters} label={words.search} />
      <FilterMenu filters={filters} name="status" label={words.filters.status} choices={choicesOf(words.status)} />
      {routes.length > 0 && <FilterMenu filters={filters} name="route" label={words.filters.route} choices={routes} />}
      <SinceFilter filters={filters} />
      <FilterChip filters={filters} name="domain" label={words.filters.domain} />
      <FilterChip filters={filters} name="mailbox" label={words.filters.mailbox} />
      <FilterChip filters={filters} name="message" label={words.filters.message} />
      <FilterChip filters={filters} name="tag" label={words.filters.tag} />
    </FilterBar>
  )
}

function Rows({ length, isAll }: { length: number; isAll: boolean }) {
  return (
    <>
      <span>{words.rows(plural(length, words.row, words.rowsWord), isAll)}</span>
      <LiveMark />
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
  {
    head: words.columns.status,
    cell: ({ status }) => <State tone={DELIVERY_TONES[status]}>{words.status[status]}</State>,
  },
  { head: words.columns.recipient, cell: ({ to_email: email }) => <Foreign>{email}</Foreign>, class: 'cut line' },
  {
    head: words.columns.subject,
    cell: ({ subject }) => <span class="soft">{subject === '' ? words.noSubject : <Foreign>{subject}</Foreign>}</span>,
    class: 'cut line',
  },
  {
    head: words.columns.route,
    cell: (row) => row.provider_name ?? words.direct,
    class: 'soft cut narrow wide-only',
  },
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
  { head: words.columns.result, cell: (row) => <Result row={row} />, class: 'cut line' },
]

function Result({ row }: { row: DeliveryLog }) {
  if (row.status === 'sent')
    return <span class="soft">{words.tookSeconds(secondsBetween(row.created_at, row.sent_at!))}</span>
  const tone = DELIVERY_TONES[row.status]
  return (
    <span class={tone}>
      {row.status_reason === null ? words.waits : <Foreign>{inShort(row.status_reason)}</Foreign>}
    </span>
  )
}
