// The teams of the server: made, renamed, suspended, and a key for those who have none.

import { useState } from 'preact/hooks'
import { operatorApi, take } from '../api/client.ts'
import type { OperatorTeam } from '../api/operator.ts'
import { exact } from '../base/dates.ts'
import { useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Fact } from '../parts/facts.tsx'
import { FilterBar, SearchField, useFilters } from '../parts/filters.tsx'
import { Badge, State, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { operator } from '../words/en/operator.ts'
import { NewTeam, RenameTeam, SuspendTeam, TeamKey, useReactivate } from './team-dialogs.tsx'

const words = operator.teams

type Step = { kind: 'new' } | { kind: 'rename' | 'suspend' | 'key'; team: OperatorTeam }

export function Teams() {
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const { data, error, refetch } = useQuery(['operator', 'teams'], () => take(operatorApi.GET('/teams')))
  const wanted = (filters.get('q') ?? '').toLowerCase()
  const shown = (data ?? []).filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(wanted))
  const close = () => setStep(null)
  return (
    <Page
      title={operator.pages.teams}
      note={words.note}
      command="mailstead team list"
      curl={[{ method: 'GET', path: '/teams', base: '/operator/v1' }]}
      actions={
        <Button kind="primary" icon="plus" onPress={() => setStep({ kind: 'new' })}>
          {words.add}
        </Button>
      }
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
      </FilterBar>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && shown.length === 0 && <Empty icon="search" title={words.emptyTitle} />}
      {shown.length > 0 && (
        <Table
          label={operator.pages.teams}
          rows={shown}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          opened={{
            id: filters.get('open') ?? null,
            toggle: (id) => filters.set('open', id),
            detail: (team) => <Detail team={team} choose={setStep} />,
          }}
        />
      )}
      {step?.kind === 'new' && <NewTeam onClose={close} />}
      {step?.kind === 'rename' && <RenameTeam team={step.team} onClose={close} />}
      {step?.kind === 'suspend' && <SuspendTeam team={step.team} onClose={close} />}
      {step?.kind === 'key' && <TeamKey team={step.team} onClose={close} />}
    </Page>
  )
}

function sesOf({ ses_enabled, ses_daily_limit: limit }: OperatorTeam): string {
  if (!ses_enabled) return words.sesOff
  return limit === null ? words.sesFree : words.sesLimit(limit)
}

const COLUMNS: readonly Column<OperatorTeam>[] = [
  { head: words.columns.name, cell: ({ name }) => <span class="strong">{name}</span>, class: 'cut' },
  {
    head: words.columns.state,
    class: 'corner',
    cell: ({ status }) =>
      status === 'active' ? (
        <State tone="good">{words.statuses.active}</State>
      ) : (
        <Badge tone="warn" icon="pause">
          {words.statuses.suspended}
        </Badge>
      ),
  },
  { head: words.columns.ses, cell: sesOf, class: 'soft wide-only' },
  { head: words.columns.created, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
]

function Detail({ team, choose }: { team: OperatorTeam; choose: (step: Step) => void }) {
  const reactivate = useReactivate(team)
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.id}>
          <CodeValue text={team.id} what={words.idOfTeam} />
        </Fact>
        <Fact name={words.columns.created}>{exact(team.created_at)}</Fact>
        <Fact name={words.columns.ses}>{sesOf(team)}</Fact>
      </dl>
      {reactivate.error !== null && <ErrorCard error={reactivate.error} />}
      <div class="row wrap">
        <Button size="short" onPress={() => choose({ kind: 'rename', team })}>
          {words.rename}
        </Button>
        <Button size="short" onPress={() => choose({ kind: 'key', team })}>
          {words.key}
        </Button>
        {team.status === 'active' ? (
          <Button size="short" kind="danger" onPress={() => choose({ kind: 'suspend', team })}>
            {words.suspend}
          </Button>
        ) : (
          <Button size="short" isBusy={reactivate.isBusy} onPress={() => void reactivate.run()}>
            {words.reactivate}
          </Button>
        )}
      </div>
      <RawJson record={team} />
    </div>
  )
}
