// The agents whose owner the person is, and what they wait for.

import { listAgents, type OwnAgent } from '../../api/agents.ts'
import { useQuery } from '../../live/query.ts'
import { ApprovalCard, useApprovals } from '../../panels/approvals.tsx'
import { FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Person, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { agents as words } from '../../words/en/agents.ts'
import { type OpenTeam, useTeam } from '../team.ts'
import { AgentState } from './agent-state.tsx'

const REFRESH_MS = 60_000

function matching(agents: readonly OwnAgent[], filters: Filters): OwnAgent[] {
  const [text, state] = [(filters.get('q') ?? '').toLowerCase(), filters.get('state')]
  return agents.filter(
    (agent) =>
      (state === undefined || agent.state === state) &&
      `${agent.email} ${agent.client_name ?? ''} ${agent.id}`.toLowerCase().includes(text),
  )
}

export function Agents() {
  const team = useTeam()
  const filters = useFilters()
  const query = useQuery(['agents'], listAgents, { every: REFRESH_MS })
  const approvals = useApprovals()
  const waiting = (approvals.data ?? []).filter(({ kind }) => kind !== 'limit_request')
  const states = Object.entries(words.states).map(([value, label]) => ({ value, label }))
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/agents', base: '/me/v1' }]}>
      <ApprovalCard approvals={waiting} />
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="state" label={words.state} choices={states} />
      </FilterBar>
      <List
        label={words.title}
        pages={{ ...query, items: matching(query.data ?? [], filters), ...WHOLE }}
        isTall
        isNamed
        columns={columnsOf(team)}
        keyOf={({ id }) => id}
        clearFilters={filters.isAnySet && (query.data?.length ?? 0) > 0 ? filters.clear : undefined}
        empty={
          <Empty icon="bot" title={words.emptyTitle} action={<a href="/docs/agents">{words.emptyAction}</a>}>
            {words.emptyText}
          </Empty>
        }
      />
    </Page>
  )
}

/** The list comes in one part. */
const WHOLE = { isLoadingMore: false, hasMore: false, loadMore: () => {} }

function columnsOf(team: OpenTeam): Column<OwnAgent>[] {
  return [
    {
      head: words.agent,
      cell: ({ id, email, client_name }) => (
        <span class="row">
          <Person name={email} />
          <span class="two-lines">
            <a class="name-link" href={team.href('agents', id)}>
              <Foreign>{email}</Foreign>
            </a>
            <span>{client_name === null ? words.unnamed : <Foreign>{client_name}</Foreign>}</span>
          </span>
        </span>
      ),
    },
    { head: words.state, cell: ({ state }) => <AgentState state={state} /> },
    {
      head: words.lastUsed,
      cell: ({ last_used_at }) =>
        last_used_at === null ? <span class="soft">{words.never}</span> : <Time at={last_used_at} as="relative" />,
      class: 'soft',
    },
    { head: words.registered, cell: ({ created_at }) => <Time at={created_at} />, class: 'number soft' },
  ]
}
