// The domains of a team.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { take, takeList } from '../../api/client.ts'
import type { Domain } from '../../api/types.ts'
import { refresh, useAction, usePages } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { domains as words } from '../../words/en/domains.ts'
import { useTeam } from '../team.ts'
import { DomainState, type DomainStatus } from './domain-state.tsx'

export function Domains() {
  const team = useTeam()
  const filters = useFilters()
  const [isAdding, setAdding] = useState(false)
  const status = filters.get('status') as DomainStatus | undefined
  const query = { q: filters.get('q'), verification_status: status }
  const pages = usePages([team.id, 'domains', query], (cursor) =>
    takeList(team.api.GET('/domains', { params: { query: { ...query, cursor } } })),
  )
  const mayAdd = team.may('domain.create')
  const addButton = mayAdd && (
    <Button kind="primary" icon="plus" onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  const columns: Column<Domain>[] = [
    {
      head: words.name,
      cell: ({ id, domain }) => (
        <a class="name-link" href={team.href('domains', id)}>
          <Foreign>{domain}</Foreign>
        </a>
      ),
    },
    {
      head: words.status,
      cell: (one) => <DomainState status={one.verification_status} areRecordsRight={one.checks_ok} />,
    },
    {
      head: words.verifiedAt,
      cell: ({ verified_at }) =>
        verified_at === null ? <span class="soft">{common.never}</span> : <Time at={verified_at} />,
    },
    { head: words.added, cell: ({ created_at }) => <Time at={created_at} />, class: 'number soft' },
  ]
  return (
    <Page title={words.title} note={words.note} actions={addButton} curl={[{ method: 'GET', path: '/domains', query }]}>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.statusFilter} choices={choicesOf(words.statuses)} />
      </FilterBar>
      <List
        label={words.title}
        pages={pages}
        isNamed
        columns={columns}
        keyOf={({ id }) => id}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={
          <Empty icon="globe" title={words.emptyTitle} action={addButton}>
            {words.emptyText}
          </Empty>
        }
      />
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </Page>
  )
}

function AddDomain({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const { route } = useLocation()
  const [name, setName] = useState('')
  const headerOf = useRequestKey()
  const action = useAction(async () => {
    const body = { domain: name.trim() }
    const domain = await take(team.api.POST('/domains', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'domains')
    route(team.href('domains', domain.id))
  })
  const foot = <FormFoot verb={words.add} action={action} onClose={onClose} />
  const error = action.error?.fieldMessage('domain')
  return (
    <Dialog
      title={words.addTitle}
      foot={foot}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField
        label={words.name}
        hint={words.addHint}
        value={name}
        onValue={setName}
        error={error}
        inputMode="url"
        hasFocus
      />
    </Dialog>
  )
}
