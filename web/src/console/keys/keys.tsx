// The API keys of a team: what each may do in words, and the row that opens.

import { useState } from 'preact/hooks'
import { takeList } from '../../api/client.ts'
import type { ApiKey, NewApiKey } from '../../api/types.ts'
import { requestsOf } from '../../base/curl.ts'
import { useMatching, usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Badge, State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { keys as words } from '../../words/en/keys.ts'
import { useTeam } from '../team.ts'
import { NewKey, RevokeKey, RotateKey, ShownKey } from './key-dialogs.tsx'

type Step = { kind: 'new' } | { kind: 'rotate' | 'revoke'; key: ApiKey } | { kind: 'shown'; key: NewApiKey }

export function Keys() {
  const team = useTeam()
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const query = {
    status: filters.get('status') as ApiKey['status'] | undefined,
    kind: filters.get('kind') as ApiKey['kind'] | undefined,
  }
  const pages = usePages([team.id, 'keys', query], (cursor) =>
    takeList(team.api.GET('/api-keys', { params: { query: { ...query, cursor } } })),
  )
  const shown = useMatching(pages, filters.get('q') ?? '', ({ name, prefix, last4 }) => `${name} ${prefix} ${last4}`)
  const addButton = team.may('apikey.create') && (
    <Button kind="primary" icon="plus" onPress={() => setStep({ kind: 'new' })}>
      {words.add}
    </Button>
  )
  const close = () => setStep(null)
  const show = (key: NewApiKey) => setStep({ kind: 'shown', key })
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={addButton}
      curl={requestsOf('/api-keys', query, filters.get('open') ?? null)}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
        <FilterMenu filters={filters} name="kind" label={words.kind} choices={choicesOf(words.kinds)} />
      </FilterBar>
      <List
        label={words.title}
        pages={shown}
        keyOf={({ id }) => id}
        columns={COLUMNS}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (key) => <Detail apiKey={key} choose={setStep} />,
        }}
        empty={
          <Empty icon="key-round" title={words.emptyTitle} action={addButton}>
            {words.emptyText}
          </Empty>
        }
      />
      {step?.kind === 'new' && <NewKey onMade={show} onClose={close} />}
      {step?.kind === 'shown' && <ShownKey apiKey={step.key} onClose={close} />}
      {step?.kind === 'rotate' && <RotateKey apiKey={step.key} onMade={show} onClose={close} />}
      {step?.kind === 'revoke' && <RevokeKey apiKey={step.key} onClose={close} />}
    </Page>
  )
}

/** What a key may do, in a few words. */
function may({ role, permissions }: ApiKey): string {
  if (role !== null && role in words.roles) return words.roles[role as keyof typeof words.roles]
  return permissions.map(inWords).join(', ')
}

/** "Domains: read", "Domains" for all of it. */
function inWords(permission: string): string {
  const cut = permission.lastIndexOf('.')
  const [subject, verb] = [permission.slice(0, cut), permission.slice(cut + 1)]
  const name = words.permissionNotes[subject] ?? subject
  return verb === '*' ? name : `${name}: ${words.verbs[verb] ?? verb}`
}

const COLUMNS: Column<ApiKey>[] = [
  { head: words.name, cell: ({ name }) => name },
  {
    head: words.key,
    cell: ({ prefix, last4 }) => (
      <code class="soft">
        {prefix}…{last4}
      </code>
    ),
  },
  { head: words.may, cell: (key) => <span class="cut may-cell">{may(key)}</span>, class: 'line' },
  {
    head: words.status,
    cell: ({ status }) =>
      status === 'active' ? (
        <State tone="good">{words.statuses.active}</State>
      ) : (
        <Badge>{words.statuses[status]}</Badge>
      ),
  },
  {
    head: words.lastUsed,
    cell: ({ last_used_at }) => (last_used_at === null ? words.neverUsed : <Time at={last_used_at} />),
    class: 'number soft',
  },
]

function Detail({ apiKey, choose }: { apiKey: ApiKey; choose: (step: Step) => void }) {
  const team = useTeam()
  return (
    <div class="card card-pad stack">
      <dl class="facts">
        <dt>{words.id}</dt>
        <dd>
          <CodeValue text={apiKey.id} what={words.id} />
        </dd>
        <dt>{words.permissions}</dt>
        <dd class="measure">{apiKey.permissions.map(inWords).join(', ')}</dd>
        {apiKey.mailbox_id !== null && (
          <>
            <dt>{words.mailbox}</dt>
            <dd>
              <a href={team.href('mailboxes', apiKey.mailbox_id)}>{apiKey.mailbox_id}</a>
            </dd>
          </>
        )}
        <dt>{words.created}</dt>
        <dd>
          <Time at={apiKey.created_at} /> <span class="soft">{apiKey.created_by}</span>
        </dd>
        <dt>{words.ends}</dt>
        <dd>{apiKey.expires_at === null ? common.never : <Time at={apiKey.expires_at} />}</dd>
      </dl>
      {apiKey.status === 'active' && (
        <div class="row">
          {team.may('apikey.update') && (
            <Button icon="refresh-cw" onPress={() => choose({ kind: 'rotate', key: apiKey })}>
              {words.rotate}
            </Button>
          )}
          {team.may('apikey.delete') && (
            <Button kind="danger" onPress={() => choose({ kind: 'revoke', key: apiKey })}>
              {words.revoke}
            </Button>
          )}
        </div>
      )}
      <RawJson record={apiKey} />
    </div>
  )
}
