// The inbound log: every message that another server brought, with its outcome.

import { takeList } from '../../api/client.ts'
import type { InboundLog } from '../../api/types.ts'
import { requestsOf } from '../../base/curl.ts'
import { resourceIdOf } from '../../base/resource-id.ts'
import { LIVE_MS, usePages } from '../../live/query.ts'
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
import type { Tone } from '../../parts/icon.tsx'
import { LiveMark } from '../../parts/live-mark.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { CSV_PART, SaveCsv } from '../../parts/save-csv.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { inbound as words } from '../../words/en/inbound.ts'
import { useTeam } from '../team.ts'
import { InboundDetail } from './detail.tsx'

const TONES: Record<InboundLog['status'], Tone> = {
  ...{ stored: 'good', junk: 'warn', refused: 'danger', deferred: 'warn', duplicate: '', discarded: '', forwarded: '' },
}

export function Inbound() {
  const team = useTeam()
  const filters = useFilters(['open'])
  const open = resourceIdOf(filters.get('open'))
  const query = queryOf(filters)
  const pages = usePages(
    [team.id, 'inbound', query],
    (cursor) => takeList(team.api.GET('/inbound/logs', { params: { query: { ...query, cursor } } })),
    { every: LIVE_MS },
  )
  const isElsewhere = open !== null && !pages.isLoading && !pages.items.some(({ id }) => id === open)
  const csv = (
    <SaveCsv
      name="inbound"
      ask={(cursor) =>
        takeList(team.api.GET('/inbound/logs', { params: { query: { ...query, limit: CSV_PART, cursor } } }))
      }
      columns={CSV}
    />
  )
  return (
    <Page title={words.title} note={words.note} actions={csv} curl={requestsOf('/inbound/logs', query, open)}>
      <FilterBar end={<LiveMark />}>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.filters.status} choices={choicesOf(words.status)} />
        <SinceFilter filters={filters} />
        <FilterChip filters={filters} name="domain" label={words.filters.domain} />
        <FilterChip filters={filters} name="mailbox" label={words.filters.mailbox} />
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

const CSV: Readonly<Record<string, (row: InboundLog) => string | number | null>> = {
  id: ({ id }) => id,
  created_at: (row) => row.created_at,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  smtp_reply: (row) => row.smtp_reply,
  header_from: (row) => row.header_from,
  mail_from: (row) => row.mail_from,
  rcpt_to: (row) => row.rcpt_to,
  subject: ({ subject }) => subject,
  remote_address: (row) => row.remote_address,
  spf: ({ authentication }) => authentication?.spf ?? null,
  dkim: ({ authentication }) => authentication?.dkim ?? null,
  dmarc: ({ authentication }) => authentication?.dmarc ?? null,
  spam_score: (row) => row.spam_score,
  size_bytes: (row) => row.size_bytes,
  message_id: (row) => row.message_id,
}

/** The filters as the API takes them. */
function queryOf(filters: Filters) {
  return {
    q: filters.get('q'),
    status: filters.get('status') as InboundLog['status'] | undefined,
    domain: filters.get('domain'),
    mailbox_id: filters.get('mailbox'),
    after: sinceDay(filters),
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
  { head: words.columns.sender, cell: (row) => <Sender row={row} />, class: 'cut line' },
  { head: words.columns.recipient, cell: ({ rcpt_to: to }) => <Foreign>{to}</Foreign>, class: 'cut soft line' },
  {
    head: words.columns.subject,
    cell: ({ subject }) => (subject === null || subject === '' ? words.noSubject : <Foreign>{subject}</Foreign>),
    class: 'cut soft line',
  },
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
  { head: words.columns.checks, cell: (row) => <Checks row={row} />, class: 'cut line' },
]

function Sender({ row }: { row: InboundLog }) {
  const sender = row.header_from ?? row.mail_from
  return sender === '' ? <span class="soft">{words.noSender}</span> : <Foreign>{sender}</Foreign>
}

/** What decided: the reason of a refusal, else the result of DMARC. */
function Checks({ row }: { row: InboundLog }) {
  if (row.reason !== null) {
    // The reply to an accepted message says that it was queued, also where it was put in Junk.
    const isRefused = row.status === 'refused' || row.status === 'deferred'
    return <span class={TONES[row.status]}>{isRefused ? row.detail : (words.reasons[row.reason] ?? row.reason)}</span>
  }
  const dmarc = row.authentication?.dmarc
  if (dmarc === undefined) return null
  return (
    <span class={dmarc === 'fail' ? 'danger' : 'soft'}>
      {words.checks.dmarc} {dmarc}
    </span>
  )
}
