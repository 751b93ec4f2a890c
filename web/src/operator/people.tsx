// The people of all teams, and the operators: their sessions, and who reaches these pages.

import { useState } from 'preact/hooks'
import { operatorApi, takeList } from '../api/client.ts'
import type { OperatorPerson } from '../api/operator.ts'
import { self } from '../api/session.ts'
import { exact } from '../base/dates.ts'
import { count } from '../base/numbers.ts'
import { usePages } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Fact } from '../parts/facts.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, Person, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { type Column, List } from '../parts/table.tsx'
import { common } from '../words/en/common.ts'
import { operator } from '../words/en/operator.ts'
import { operatorPeople as words } from '../words/en/operator-users.ts'
import { people } from '../words/en/people.ts'
import { EndSessions, NewOperator, SetOperator, SignInLink } from './people-dialogs.tsx'

type Step = 'sessions' | 'operator' | 'link'

export function People() {
  const filters = useFilters()
  const [isAdding, setAdding] = useState(false)
  const [step, setStep] = useState<{ kind: Step; person: OperatorPerson } | null>(null)
  const kind = filters.get('operator')
  const query = { q: filters.get('q'), is_operator: kind === undefined ? undefined : kind === 'true' }
  const pages = usePages(['operator', 'people', query], (cursor) =>
    takeList(operatorApi.GET('/people', { params: { query: { ...query, cursor } } })),
  )
  const close = () => setStep(null)
  return (
    <Page
      title={operator.pages.people}
      note={words.note}
      command="mailstead operator list"
      curl={[{ method: 'GET', path: '/people', query: { q: query.q, is_operator: kind }, base: '/operator/v1' }]}
      actions={
        <Button kind="primary" icon="user-plus" onPress={() => setAdding(true)}>
          {words.add}
        </Button>
      }
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="operator" label={words.kind} choices={choicesOf(words.kinds)} />
      </FilterBar>
      <List
        pages={pages}
        label={operator.pages.people}
        columns={COLUMNS}
        keyOf={({ email }) => email}
        isTall
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (person) => <Detail person={person} choose={(one) => setStep({ kind: one, person })} />,
        }}
        empty={
          <Empty icon="users" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {isAdding && <NewOperator onClose={() => setAdding(false)} />}
      {step?.kind === 'sessions' && <EndSessions person={step.person} onClose={close} />}
      {step?.kind === 'operator' && <SetOperator person={step.person} onClose={close} />}
      {step?.kind === 'link' && <SignInLink person={step.person} onClose={close} />}
    </Page>
  )
}

function teamsOf({ teams }: OperatorPerson): string {
  if (teams.length === 0) return words.noTeam
  return teams.length === 1 ? teams[0]!.name : words.moreTeams(teams[0]!.name, teams.length - 1)
}

function waysOf({ passkeys, password }: OperatorPerson): string {
  const ways = [...(passkeys > 0 ? [words.ways.passkeys(passkeys)] : []), ...(password ? [words.ways.password] : [])]
  return ways.length === 0 ? words.ways.none : ways.join(', ')
}

const COLUMNS: readonly Column<OperatorPerson>[] = [
  {
    head: words.columns.person,
    cell: ({ email, display_name, is_operator }) => (
      <span class="row">
        <Person name={display_name ?? email} />
        <span class="two-lines">
          <span class="strong">
            <Foreign>{display_name ?? email}</Foreign>{' '}
            {email === self.value?.email && <span class="soft">({words.you})</span>}
          </span>
          <span>{display_name === null ? '' : <Foreign>{email}</Foreign>}</span>
        </span>
        {is_operator && <Badge>{words.operator}</Badge>}
      </span>
    ),
  },
  { head: words.columns.teams, cell: (person) => <Foreign>{teamsOf(person)}</Foreign>, class: 'cut' },
  { head: words.columns.ways, cell: waysOf, class: 'soft wide-only' },
  { head: words.columns.sessions, cell: ({ sessions }) => count(sessions), class: 'number' },
  {
    head: words.columns.last,
    cell: ({ last_login_at: at }) => (at === null ? common.never : <Time at={at} />),
    class: 'soft corner',
  },
]

function Detail({ person, choose }: { person: OperatorPerson; choose: (step: Step) => void }) {
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        {person.teams.map(({ id, name, role }) => (
          <Fact key={id} name={words.team}>
            <Foreign>{name}</Foreign> <span class="soft">({people.shortRoles[role]})</span>
          </Fact>
        ))}
        <Fact name={words.columns.ways}>{waysOf(person)}</Fact>
        <Fact name={words.columns.sessions}>{count(person.sessions)}</Fact>
        <Fact name={words.columns.last}>
          {person.last_login_at === null ? common.never : exact(person.last_login_at)}
        </Fact>
      </dl>
      <div class="row wrap">
        <Button size="short" isOff={person.sessions === 0} onPress={() => choose('sessions')}>
          {words.endSessions}
        </Button>
        {person.teams.length > 0 && (
          <Button size="short" onPress={() => choose('link')}>
            {words.link}
          </Button>
        )}
        <Button size="short" kind={person.is_operator ? 'danger' : undefined} onPress={() => choose('operator')}>
          {person.is_operator ? words.withdraw : words.grant}
        </Button>
      </div>
      <RawJson record={person} />
    </div>
  )
}
