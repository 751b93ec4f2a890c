// The agents of all teams: what they send, how much they may, the end of one or of many, and whether more may register.

import { useState } from 'preact/hooks'
import { operatorApi, take, takeList } from '../api/client.ts'
import type { OperatorAgent } from '../api/operator.ts'
import { exact } from '../base/dates.ts'
import { refresh, useAction, usePages, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Fact } from '../parts/facts.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, Person, State, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { type Column, List } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { agents as agentWords } from '../words/en/agents.ts'
import { operator } from '../words/en/operator.ts'
import { operatorAgents as words } from '../words/en/operator-users.ts'
import { RevokeAgent, RevokeMany, SendLimits } from './agent-dialogs.tsx'

type Step = 'limits' | 'revoke'

/** Digits of the hash of an address: enough to distinguish sources. */
const SOURCE_SHOWN = 16

const isAlive = ({ state }: OperatorAgent) => state !== 'revoked' && state !== 'expired'

export function Agents() {
  const filters = useFilters()
  const [isEndingMany, setEndingMany] = useState(false)
  const [step, setStep] = useState<{ kind: Step; agent: OperatorAgent } | null>(null)
  const query = { q: filters.get('q'), state: filters.get('state') as OperatorAgent['state'] | undefined }
  const pages = usePages(['operator', 'agents', query], (cursor) =>
    takeList(operatorApi.GET('/agents', { params: { query: { ...query, cursor } } })),
  )
  const close = () => setStep(null)
  return (
    <Page
      title={operator.pages.agents}
      note={words.note}
      command="mailstead agent list"
      curl={[
        { method: 'GET', path: '/agents', query, base: '/operator/v1' },
        { method: 'GET', path: '/agents/registration', base: '/operator/v1' },
      ]}
      actions={
        <Button icon="ban" onPress={() => setEndingMany(true)}>
          {words.revokeAll}
        </Button>
      }
    >
      <Registration />
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="state" label={words.state} choices={choicesOf(agentWords.states)} />
      </FilterBar>
      <List
        pages={pages}
        label={operator.pages.agents}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        isTall
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (agent) => <Detail agent={agent} choose={(kind) => setStep({ kind, agent })} />,
        }}
        empty={
          <Empty icon="bot" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {isEndingMany && <RevokeMany onClose={() => setEndingMany(false)} />}
      {step?.kind === 'limits' && <SendLimits agent={step.agent} onClose={close} />}
      {step?.kind === 'revoke' && <RevokeAgent agent={step.agent} onClose={close} />}
    </Page>
  )
}

/** The switch beside the setting AGENT_REGISTRATION. */
function Registration() {
  const { data, error, refetch } = useQuery(['operator', 'registration'], () =>
    take(operatorApi.GET('/agents/registration')),
  )
  const change = useAction(async (enabled: boolean) => {
    const now = await take(operatorApi.PUT('/agents/registration', { body: { enabled } }))
    refresh('operator', 'registration')
    if (enabled && !now.enabled) say(words.stillClosed)
  })
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return null
  return (
    <section class="card card-pad row wide wrap" aria-label={words.registration}>
      {data.enabled ? <State tone="good">{words.open}</State> : <State icon="pause">{words.closed}</State>}
      <Button size="short" isBusy={change.isBusy} onPress={() => void change.run(!data.enabled)}>
        {data.enabled ? words.closeIt : words.openIt}
      </Button>
      {change.error !== null && <ErrorCard error={change.error} />}
    </section>
  )
}

const COLUMNS: readonly Column<OperatorAgent>[] = [
  {
    head: words.columns.agent,
    cell: ({ email, client_name: name }) => (
      <span class="row">
        <Person name={email} />
        <span class="two-lines">
          <span class="strong">
            <Foreign>{email}</Foreign>
          </span>
          <span>{name === null ? words.unnamed : <Foreign>{name}</Foreign>}</span>
        </span>
      </span>
    ),
  },
  { head: words.columns.state, cell: ({ state }) => agentWords.states[state] },
  {
    head: words.columns.sent,
    cell: ({ sent_last_24h: sent, recipients_per_day: most }) => words.sentOf(sent, most),
    class: 'number',
  },
  { head: words.columns.registered, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
]

function Detail({ agent, choose }: { agent: OperatorAgent; choose: (step: Step) => void }) {
  const { id, team_id, mailbox_id, source_hash: source, last_used_at, ended_at, has_own_limits } = agent
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.id}>
          <CodeValue text={id} what={words.idOf} />
        </Fact>
        <Fact name={words.team}>
          <CodeValue text={team_id} what={words.team} />
        </Fact>
        <Fact name={words.mailbox}>
          <CodeValue text={mailbox_id} what={words.mailbox} />
        </Fact>
        <Fact name={words.source}>
          {source === null ? words.forgotten : <CodeValue text={source.slice(0, SOURCE_SHOWN)} what={words.source} />}
          <p class="soft">{words.sourceNote}</p>
        </Fact>
        <Fact name={words.columns.limits}>
          {words.limits(agent.recipients_per_hour, agent.recipients_per_day)}{' '}
          {has_own_limits && <Badge>{words.own}</Badge>}
        </Fact>
        <Fact name={words.lastUsed}>{last_used_at === null ? words.never : exact(last_used_at)}</Fact>
        {ended_at !== null && <Fact name={words.endedAt}>{exact(ended_at)}</Fact>}
      </dl>
      {isAlive(agent) && (
        <div class="row wrap">
          <Button size="short" onPress={() => choose('limits')}>
            {words.setLimits}
          </Button>
          <Button size="short" kind="danger" onPress={() => choose('revoke')}>
            {words.revoke}
          </Button>
        </div>
      )}
      <RawJson record={agent} />
    </div>
  )
}
