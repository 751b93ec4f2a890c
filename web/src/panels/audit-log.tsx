// The audit log of a team or of the server: who changed what, when and from where.

import type { ListPart } from '../api/client.ts'
import type { AuditEntry } from '../api/types.ts'
import { exact } from '../base/dates.ts'
import { usePages } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Fact } from '../parts/facts.tsx'
import {
  FilterBar,
  FilterChip,
  type Filters,
  SearchField,
  SinceFilter,
  sinceDay,
  useFilters,
} from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Time } from '../parts/marks.tsx'
import { Empty } from '../parts/quiet.tsx'
import { RawJson } from '../parts/raw-json.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { type Column, List } from '../parts/table.tsx'
import { audit as words } from '../words/en/audit.ts'

/** The filters as the API takes them. */
export interface AuditQuery {
  q: string | undefined
  actor: string | undefined
  after: string | undefined
}

export function auditQueryOf(filters: Filters): AuditQuery {
  return { q: filters.get('q'), actor: filters.get('actor'), after: sinceDay(filters) }
}

interface AuditLogProps {
  label: string
  /** Whose log it is, for the cache. */
  scope: string
  ask: (query: AuditQuery & { cursor: string | undefined }) => Promise<ListPart<AuditEntry>>
}

export function AuditLog({ label, scope, ask }: AuditLogProps) {
  const filters = useFilters()
  const query = auditQueryOf(filters)
  const pages = usePages([scope, 'audit', query], (cursor) => ask({ ...query, cursor }))
  return (
    <>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <SinceFilter filters={filters} />
        <FilterChip filters={filters} name="actor" label={words.columns.actor} />
      </FilterBar>
      <List
        pages={pages}
        label={label}
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
    </>
  )
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { head: words.columns.actor, cell: ({ actor }) => <Foreign>{actor.label}</Foreign>, class: 'cut' },
  { head: words.columns.action, cell: ({ action }) => <ServerText>{spaced(action)}</ServerText>, class: 'cut line' },
  {
    head: words.columns.target,
    cell: ({ target }) => <Foreign>{target.label ?? target.id ?? words.noTarget}</Foreign>,
    class: 'cut soft line',
  },
  { head: words.columns.time, cell: ({ at }) => <Time at={at} />, class: 'soft corner' },
  { head: words.columns.source, cell: ({ source }) => source, class: 'soft wide-only' },
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
        {entry.opens !== null && (
          <Fact name={words.opens}>
            <Foreign>{entry.opens}</Foreign>
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
      <RawJson record={entry} />
    </div>
  )
}
