// The queue of the server: which messages wait to leave, for what, and when the next try is.

import { useState } from 'preact/hooks'
import { operatorApi, take, takeList } from '../api/client.ts'
import type { OperatorTeam, QueueEntry } from '../api/operator.ts'
import { exact } from '../base/dates.ts'
import { count } from '../base/numbers.ts'
import { refresh, useAction, usePages, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { State, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { type Column, List } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { operator } from '../words/en/operator.ts'

const words = operator.queue
const REFRESH_MS = 10_000

/** A message may wait for several recipients. */
const keyOf = ({ message_id, to_email }: QueueEntry) => `${message_id} ${to_email}`

export function Queue() {
  const filters = useFilters()
  const query = { domain: filters.get('domain'), team_id: filters.get('team_id') }
  const teams = useQuery(['operator', 'teams'], () => take(operatorApi.GET('/teams')))
  const names = new Map((teams.data ?? []).map(({ id, name }) => [id, name]))
  const pages = usePages(
    ['operator', 'queue', query],
    (cursor) => takeList(operatorApi.GET('/queue', { params: { query: { ...query, cursor } } })),
    { every: REFRESH_MS },
  )
  return (
    <Page
      title={operator.pages.queue}
      note={words.note}
      command="mailstead queue list"
      curl={[{ method: 'GET', path: '/queue', query, base: '/operator/v1' }]}
    >
      <FilterBar>
        <SearchField filters={filters} name="domain" label={words.search} />
        <FilterMenu filters={filters} name="team_id" label={words.team} choices={choicesOf(teams.data ?? [])} />
      </FilterBar>
      <List
        pages={pages}
        label={operator.pages.queue}
        columns={columnsOf(names)}
        keyOf={keyOf}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (entry) => <Detail entry={entry} />,
        }}
        empty={
          <Empty icon="send" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </Page>
  )
}

const choicesOf = (teams: readonly OperatorTeam[]) => teams.map(({ id, name }) => ({ value: id, label: name }))

function columnsOf(names: ReadonlyMap<string, string>): Column<QueueEntry>[] {
  return [
    { head: words.columns.to, cell: ({ to_email }) => <Foreign>{to_email}</Foreign> },
    {
      head: words.columns.subject,
      cell: ({ subject }) => <Foreign>{subject || words.noSubject}</Foreign>,
      class: 'cut line',
    },
    { head: words.columns.team, cell: ({ team_id }) => names.get(team_id) ?? team_id, class: 'soft wide-only' },
    {
      head: words.columns.why,
      cell: ({ reason }) =>
        reason === null ? <span class="soft">{words.notTried}</span> : <Foreign>{reason}</Foreign>,
      class: 'cut line',
    },
    {
      head: words.columns.next,
      cell: ({ in_hand, due_at }) =>
        in_hand ? <State icon="refresh-cw">{words.trying}</State> : <Time at={due_at} as="relative" />,
      class: 'soft corner',
    },
  ]
}

function Facts({ entry }: { entry: QueueEntry }) {
  const { message_id: id, from_email, queued_at, due_at, expires_at, in_hand, attempts, reason } = entry
  return (
    <dl class="facts small">
      <Fact name={words.from}>
        <Foreign>{from_email}</Foreign>
      </Fact>
      <Fact name={words.accepted}>{exact(queued_at)}</Fact>
      <Fact name={words.attempts}>{count(attempts)}</Fact>
      {reason !== null && (
        <Fact name={words.lastAnswer}>
          <Foreign>{reason}</Foreign>
        </Fact>
      )}
      <Fact name={words.columns.next}>
        {exact(due_at)} {in_hand && <span class="soft">({words.tryingNote})</span>}
      </Fact>
      <Fact name={words.expires}>{exact(expires_at)}</Fact>
      <Fact name={words.message}>
        <CodeValue text={id} what={words.idOfMessage} />
      </Fact>
    </dl>
  )
}

function Detail({ entry }: { entry: QueueEntry }) {
  const { message_id: id } = entry
  const [isAsking, setAsking] = useState(false)
  const path = { email_id: id }
  const retry = useAction(async () => {
    const { deliveries } = await take(operatorApi.POST('/queue/{email_id}/retry', { params: { path } }))
    refresh('operator', 'queue')
    say(words.retried(deliveries))
  })
  const drop = useAction(async () => {
    const { deliveries } = await take(operatorApi.DELETE('/queue/{email_id}', { params: { path } }))
    setAsking(false)
    refresh('operator', 'queue')
    say(words.dropped(deliveries))
  })
  return (
    <div class="card card-pad stack">
      <Facts entry={entry} />
      {retry.error !== null && <ErrorCard error={retry.error} />}
      <div class="row">
        <Button size="short" isBusy={retry.isBusy} onPress={() => void retry.run()}>
          {words.retry}
        </Button>
        <Button size="short" kind="danger" onPress={() => setAsking(true)}>
          {words.drop}
        </Button>
      </div>
      <RawJson record={entry} />
      {isAsking && (
        <Confirm
          title={words.dropTitle(entry.subject)}
          verb={words.drop}
          isBusy={drop.isBusy}
          error={drop.error}
          onConfirm={() => void drop.run()}
          onClose={() => setAsking(false)}
        >
          {words.dropText}
        </Confirm>
      )}
    </div>
  )
}
