// The inbound log: every message that another server brought, with what became of it.

import { takeList } from '../../api/client.ts'
import type { InboundLog } from '../../api/types.ts'
import { daysAgo } from '../../base/dates.ts'
import { usePages } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { Foreign, State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { inbound as words } from '../../words/en/inbound.ts'
import { useTeam } from '../team.ts'
import { InboundDetail } from './detail.tsx'

const TONES: Record<InboundLog['status'], Tone> = {
  ...{ stored: 'good', junk: 'warn', refused: 'danger', deferred: 'warn', duplicate: '', discarded: '', forwarded: '' },
}
const DAYS = { today: 0, week: 7, month: 30 } as const
const LIVE_MS = 10_000

const choices = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }))

export function Inbound() {
  const team = useTeam()
  const filters = useFilters(['open'])
  const open = filters.get('open') ?? null
  const query = queryOf(filters)
  const pages = usePages(
    [team.id, 'inbound', query],
    (cursor) => takeList(team.api.GET('/inbound/logs', { params: { query: { ...query, cursor } } })),
    { every: LIVE_MS },
  )
  const isElsewhere = open !== null && !pages.isLoading && !pages.items.some(({ id }) => id === open)
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/inbound/logs', query }]}>
      <FilterBar
        end={
          <State tone="good" icon="radio">
            {common.live}
          </State>
        }
      >
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.filters.status} choices={choices(words.status)} />
        <FilterMenu filters={filters} name="since" label={words.filters.since} choices={choices(words.since)} />
      </FilterBar>
      {isElsewhere && <InboundDetail id={open} />}
      <List
        pages={pages}
        label={words.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{ id: open, toggle: (id) => filters.set('open', id), detail: (row) => <InboundDetail id={row.id} /> }}
        empty={<NothingReceived />}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </Page>
  )
}

/** The filters as the API takes them. */
function queryOf(filters: Filters) {
  const since = filters.get('since') as keyof typeof DAYS | undefined
  return {
    q: filters.get('q'),
    status: filters.get('status') as InboundLog['status'] | undefined,
    domain: filters.get('domain'),
    mailbox_id: filters.get('mailbox'),
    after: since !== undefined && since in DAYS ? daysAgo(DAYS[since]).slice(0, 10) : undefined,
  }
}

function NothingReceived() {
  const team = useTeam()
  return (
    <Empty
      icon="inbox"
      title={words.emptyTitle}
      action={<ButtonLink href={team.href('domains')}>{words.emptyAction}</ButtonLink>}
    >
      {words.empty}
    </Empty>
  )
}

const COLUMNS: readonly Column<InboundLog>[] = [
  { head: words.columns.status, cell: ({ status }) => <State tone={TONES[status]}>{words.status[status]}</State> },
  { head: words.columns.sender, cell: (row) => <Sender row={row} />, class: 'cut' },
  { head: words.columns.recipient, cell: ({ rcpt_to: to }) => <Foreign>{to}</Foreign>, class: 'cut soft' },
  {
    head: words.columns.subject,
    cell: ({ subject }) => (subject === null || subject === '' ? words.noSubject : <Foreign>{subject}</Foreign>),
    class: 'cut soft',
  },
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft' },
  { head: words.columns.checks, cell: (row) => <Checks row={row} />, class: 'cut' },
]

function Sender({ row }: { row: InboundLog }) {
  const sender = row.header_from ?? row.mail_from
  return sender === '' ? <span class="soft">{words.noSender}</span> : <Foreign>{sender}</Foreign>
}

/** What decided: the reason of a refusal, else the result of DMARC. */
function Checks({ row }: { row: InboundLog }) {
  if (row.reason !== null) return <span class={TONES[row.status]}>{row.detail}</span>
  const dmarc = row.authentication?.dmarc
  if (dmarc === undefined) return null
  return (
    <span class={dmarc === 'fail' ? 'danger' : 'soft'}>
      {words.checks.dmarc} {dmarc}
    </span>
  )
}
