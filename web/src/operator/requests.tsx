// What teams ask of the shared Amazon SES account: higher daily limits, approved or denied here.

import { useState } from 'preact/hooks'
import { operatorApi, take, takeList } from '../api/client.ts'
import type { OperatorLimitRequest } from '../api/operator.ts'
import { exact } from '../base/dates.ts'
import { count } from '../base/numbers.ts'
import { refresh, useAction, usePages, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { TextField } from '../parts/field.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { State, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { type Column, List } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { operator } from '../words/en/operator.ts'
import { limitRequests as words } from '../words/en/operator-users.ts'

type Decision = 'approve' | 'deny'

export function Requests() {
  const filters = useFilters()
  const [step, setStep] = useState<{ kind: Decision; request: OperatorLimitRequest } | null>(null)
  const teams = useQuery(['operator', 'teams'], () => take(operatorApi.GET('/teams')))
  const nameOf = (id: string) => teams.data?.find((team) => team.id === id)?.name ?? id
  const query = {
    status: filters.get('status') as keyof typeof words.statuses | undefined,
    team_id: filters.get('team_id'),
    q: filters.get('q'),
  }
  const pages = usePages(['operator', 'requests', query], (cursor) =>
    takeList(operatorApi.GET('/limit-requests', { params: { query: { ...query, cursor } } })),
  )
  const close = () => setStep(null)
  return (
    <Page
      title={operator.pages.requests}
      note={words.note}
      command="mailstead limit-request list"
      curl={[{ method: 'GET', path: '/limit-requests', query, base: '/operator/v1' }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
        <FilterMenu
          filters={filters}
          name="team_id"
          label={words.team}
          choices={(teams.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        />
      </FilterBar>
      <List
        pages={pages}
        label={operator.pages.requests}
        columns={columnsOf(nameOf)}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (request) => <Detail request={request} choose={(kind) => setStep({ kind, request })} />,
        }}
        empty={
          <Empty icon="gauge" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {step?.kind === 'approve' && (
        <Approve request={step.request} team={nameOf(step.request.team_id)} onClose={close} />
      )}
      {step?.kind === 'deny' && <Deny request={step.request} team={nameOf(step.request.team_id)} onClose={close} />}
    </Page>
  )
}

const TONES = { pending: 'warn', approved: 'good', denied: '', cancelled: '' } as const
const statusOf = (status: OperatorLimitRequest['status']) =>
  words.statuses[status === 'cancelled' ? 'canceled' : status]

const wantedOf = ({ requested_daily_limit: wanted }: OperatorLimitRequest) =>
  wanted === null ? words.more : words.aDay(wanted)

function columnsOf(nameOf: (id: string) => string): Column<OperatorLimitRequest>[] {
  return [
    {
      head: words.columns.team,
      cell: ({ team_id }) => (
        <span class="strong">
          <Foreign>{nameOf(team_id)}</Foreign>
        </span>
      ),
    },
    {
      head: words.columns.status,
      cell: ({ status }) => (
        <State tone={TONES[status]} icon={TONES[status] === '' ? 'ban' : undefined}>
          {statusOf(status)}
        </State>
      ),
    },
    { head: words.columns.limit, cell: (one) => words.aDay(one.current_daily_limit), class: 'number' },
    { head: words.columns.wanted, cell: wantedOf, class: 'number' },
    { head: words.columns.at, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
  ]
}

function Detail({ request, choose }: { request: OperatorLimitRequest; choose: (kind: Decision) => void }) {
  const { reason, current_daily_sent: sent, decided_at, decision_note: note, approved_daily_limit: approved } = request
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.reason}>{reason === null ? words.noReason : <Foreign>{reason}</Foreign>}</Fact>
        <Fact name={words.columns.sent}>{count(sent)}</Fact>
        {approved !== null && <Fact name={words.approvedLimit}>{words.aDay(approved)}</Fact>}
        {decided_at !== null && <Fact name={words.decided}>{exact(decided_at)}</Fact>}
        {note !== null && <Fact name={words.note2}>{note}</Fact>}
        <Fact name={words.id}>
          <CodeValue text={request.id} what={words.idOf} />
        </Fact>
      </dl>
      {request.status === 'pending' && (
        <div class="row wrap">
          <Button size="short" kind="primary" onPress={() => choose('approve')}>
            {words.approve}
          </Button>
          <Button size="short" onPress={() => choose('deny')}>
            {words.deny}
          </Button>
        </div>
      )}
      <RawJson record={request} />
    </div>
  )
}

interface DecisionProps {
  request: OperatorLimitRequest
  team: string
  onClose: () => void
}

function Approve({ request, team, onClose }: DecisionProps) {
  const { id, current_daily_limit: present, requested_daily_limit: wanted } = request
  const [limit, setLimit] = useState(String(wanted ?? present * 2))
  const [note, setNote] = useState('')
  const action = useAction(async () => {
    const body = { approved_daily_limit: Number(limit), decision_note: note.trim() || null }
    await take(operatorApi.POST('/limit-requests/{request_id}/approve', { params: { path: { request_id: id } }, body }))
    refresh('operator', 'requests')
    say(words.approved(team))
    onClose()
  })
  const error = action.error?.fieldMessage('approved_daily_limit')
  return (
    <Dialog
      title={words.approveTitle(team)}
      foot={<FormFoot verb={words.approve} action={action} onClose={onClose} />}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField
        label={words.newLimit}
        hint={words.limitHint(words.aDay(present))}
        type="number"
        min={1}
        value={limit}
        onValue={setLimit}
        error={error}
        hasFocus
      />
      <TextField label={words.decisionNote} hint={words.noteHint} value={note} onValue={setNote} lines={2} />
    </Dialog>
  )
}

function Deny({ request: { id }, team, onClose }: DecisionProps) {
  const [note, setNote] = useState('')
  const action = useAction(async () => {
    const body = { decision_note: note.trim() || null }
    await take(operatorApi.POST('/limit-requests/{request_id}/deny', { params: { path: { request_id: id } }, body }))
    refresh('operator', 'requests')
    say(words.denied(team))
    onClose()
  })
  return (
    <Dialog
      title={words.denyTitle(team)}
      foot={<FormFoot verb={words.deny} action={action} onClose={onClose} />}
      error={action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <p>{words.denyText}</p>
      <TextField label={words.decisionNote} hint={words.noteHint} value={note} onValue={setNote} lines={2} hasFocus />
    </Dialog>
  )
}
