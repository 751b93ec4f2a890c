// The API keys of a team: what each may do in words, and the row that opens.

import { useState } from 'preact/hooks'
import { takeList } from '../../api/client.ts'
import type { ApiKey, NewApiKey } from '../../api/types.ts'
import { requestsOf } from '../../base/curl.ts'
import { useMatching, usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Badge, State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { keys as words } from '../../words/en/keys.ts'
import { useTeam } from '../team.ts'
import { NewKey, RevokeKey, RotateKey, ShownKey } from './key-dialogs.tsx'

/** A key, and who made it, where that is known. */
interface ListedKey {
  key: ApiKey
  maker: string | null
}

type Step = { kind: 'new' } | { kind: 'rotate' | 'revoke'; key: ApiKey } | { kind: 'shown'; key: NewApiKey }

export function Keys() {
  const team = useTeam()
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const query = {
    status: filters.get('status') as KeyQuery['status'],
    kind: filters.get('kind') as KeyQuery['kind'],
  }
  const pages = useListed(query)
  const shown = useMatching(
    pages,
    filters.get('q') ?? '',
    ({ key: { name, prefix, last4 }, maker }) => `${name} ${prefix} ${last4} ${maker ?? ''}`,
  )
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
        keyOf={({ key }) => key.id}
        columns={COLUMNS}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (listed) => <Detail listed={listed} choose={setStep} />,
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

interface KeyQuery {
  status: ApiKey['status'] | undefined
  kind: ApiKey['kind'] | undefined
}

function useListed(query: KeyQuery) {
  const team = useTeam()
  return usePages([team.id, 'keys', query], async (cursor) => {
    const answer = await team.api.GET('/api-keys', { params: { query: { ...query, cursor } } })
    const { items, next } = await takeList(Promise.resolve(answer))
    const makers = (answer.data?.meta.makers ?? {}) as Record<string, string>
    return { items: items.map((key) => ({ key, maker: makers[key.created_by] ?? null })), next }
  })
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

const COLUMNS: Column<ListedKey>[] = [
  { head: words.name, cell: ({ key }) => key.name },
  {
    head: words.key,
    cell: ({ key: { prefix, last4 } }) => (
      <code class="soft">
        {prefix}…{last4}
      </code>
    ),
  },
  { head: words.may, cell: ({ key }) => <span class="cut may-cell">{may(key)}</span>, class: 'line' },
  {
    head: words.status,
    cell: ({ key: { status } }) =>
      status === 'active' ? (
        <State tone="good">{words.statuses.active}</State>
      ) : (
        <Badge>{words.statuses[status]}</Badge>
      ),
  },
  {
    head: words.lastUsed,
    cell: ({ key: { last_used_at } }) => (last_used_at === null ? words.neverUsed : <Time at={last_used_at} />),
    class: 'number soft',
  },
]

function Detail({ listed: { key: apiKey, maker }, choose }: { listed: ListedKey; choose: (step: Step) => void }) {
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
          <Time at={apiKey.created_at} />{' '}
          <span class="soft">{maker === null ? apiKey.created_by : <Foreign>{words.madeBy(maker)}</Foreign>}</span>
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
