// The webhooks of a team.

import { useState } from 'preact/hooks'
import { takeList } from '../../api/client.ts'
import type { NewWebhook, Webhook } from '../../api/types.ts'
import { useMatching, usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { WebhookForm } from './form.tsx'
import { ShownSecret } from './secret.tsx'

export function Webhooks() {
  const team = useTeam()
  const filters = useFilters()
  const [isAdding, setAdding] = useState(false)
  const [made, setMade] = useState<NewWebhook | null>(null)
  const query = { status: filters.get('status') as Webhook['status'] | undefined }
  const pages = usePages([team.id, 'webhooks', query], (cursor) =>
    takeList(team.api.GET('/webhooks', { params: { query: { ...query, cursor } } })),
  )
  const shown = useMatching(pages, filters.get('q') ?? '', ({ url, description }) => `${url} ${description ?? ''}`)
  const add = team.may('webhook.create') && (
    <Button kind="primary" icon="plus" onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Page title={words.title} note={words.note} actions={add} curl={[{ method: 'GET', path: '/webhooks', query }]}>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
      </FilterBar>
      <List
        pages={shown}
        label={words.title}
        isTall
        columns={columnsOf((id) => team.href('webhooks', id))}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="webhook" title={words.emptyTitle} action={add}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {isAdding && <WebhookForm onDone={setMade} onClose={() => setAdding(false)} />}
      {made !== null && <ShownSecret webhookId={made.id} secret={made.signing_secret} onClose={() => setMade(null)} />}
    </Page>
  )
}

function columnsOf(href: (id: string) => string): readonly Column<Webhook>[] {
  return [
    {
      head: words.columns.url,
      cell: ({ id, url, description }) => (
        <span class="two-lines">
          <a class="name-link cut" href={href(id)}>
            {url}
          </a>
          <span class="cut">{description}</span>
        </span>
      ),
      class: 'cut',
    },
    { head: words.columns.events, cell: ({ event_types: types }) => eventsOf(types), class: 'soft' },
    { head: words.columns.status, cell: (row) => <WebhookState webhook={row} /> },
    {
      head: words.columns.success,
      cell: ({ last_success_at: at }) => (at === null ? common.never : <Time at={at} as="relative" />),
      class: 'soft wide-only',
    },
    {
      head: words.columns.last,
      cell: ({ last_delivery_at: at }) => (at === null ? common.never : <Time at={at} as="relative" />),
      class: 'soft',
    },
  ]
}

export function eventsOf(types: readonly string[]): string {
  return types.includes('*') ? words.allEvents : words.events(types.length)
}

export function WebhookState({ webhook }: { webhook: Webhook }) {
  if (webhook.status === 'disabled') {
    const isOwn = webhook.disabled_reason === 'by_user'
    return <State tone={isOwn ? '' : 'danger'}>{words.statuses.disabled}</State>
  }
  if (webhook.consecutive_failures > 0) {
    return <State tone="warn">{words.failures(webhook.consecutive_failures)}</State>
  }
  return <State tone="good">{words.statuses.enabled}</State>
}
