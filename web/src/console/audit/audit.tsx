// The audit log: who changed what, when and from where.

import { takeList } from '../../api/client.ts'
import type { AuditEntry } from '../../api/types.ts'
import { daysAgo, exact } from '../../base/dates.ts'
import { usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { audit as words } from '../../words/en/audit.ts'
import { useTeam } from '../team.ts'

const DAYS = { today: 0, week: 7, month: 30 } as const

export function Audit() {
  const team = useTeam()
  const filters = useFilters()
  const query = queryOf(filters)
  const pages = usePages([team.id, 'audit', query], (cursor) =>
    takeList(team.api.GET('/team/audit', { params: { query: { ...query, cursor } } })),
  )
  const sinces = Object.entries(words.sinces).map(([value, label]) => ({ value, label }))
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/team/audit', query }]}>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="since" label={words.since} choices={sinces} />
      </FilterBar>
      <List
        pages={pages}
        label={words.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (entry) => <Detail entry={entry} filters={filters} />,
        }}
        empty={
          <Empty icon="scroll-text" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </Page>
  )
}

/** The filters as the API takes them. */
function queryOf(filters: Filters) {
  const since = filters.get('since') as keyof typeof DAYS | undefined
  const after = since !== undefined && since in DAYS ? daysAgo(DAYS[since]).slice(0, 10) : undefined
  return { q: filters.get('q'), actor: filters.get('actor'), after }
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { head: words.columns.actor, cell: ({ actor }) => <Foreign>{actor.label}</Foreign>, class: 'cut' },
  { head: words.columns.action, cell: ({ action }) => spaced(action), class: 'cut' },
  {
    head: words.columns.target,
    cell: ({ target }) => <Foreign>{target.label ?? target.id ?? words.noTarget}</Foreign>,
    class: 'cut soft',
  },
  { head: words.columns.time, cell: ({ at }) => <Time at={at} />, class: 'soft' },
  { head: words.columns.source, cell: ({ source }) => source, class: 'soft' },
]

/** "Create domain" of `createDomain`. */
function spaced(action: string): string {
  const text = action.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function Detail({ entry, filters }: { entry: AuditEntry; filters: Filters }) {
  const { actor, target, at, request_id: request } = entry
  return (
    <div class="card card-pad stack">
      <dl class="facts small">
        <Fact name={words.at}>{exact(at)}</Fact>
        <Fact name={words.kinds[actor.kind]}>
          <CodeValue text={actor.id} what={words.idOfActor} />
        </Fact>
        {target.id !== null && (
          <Fact name={words.targetId}>
            <CodeValue text={target.id} what={words.idOfTarget} />
          </Fact>
        )}
        <Fact name={words.request}>
          <CodeValue text={request} what={words.idOfRequest} />
        </Fact>
      </dl>
      <div class="row">
        <Button size="short" onPress={() => filters.set('actor', actor.id)}>
          {words.onlyThis}
        </Button>
      </div>
    </div>
  )
}
