// The mailboxes of a team.

import { useState } from 'preact/hooks'
import { takeList } from '../../api/client.ts'
import type { ListedMailbox, MailboxAdmin } from '../../api/types.ts'
import { count, size } from '../../base/numbers.ts'
import { usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Badge, Bar, Person, State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { outside } from '../../words/en/outside.ts'
import { type OpenTeam, useTeam } from '../team.ts'
import { Attach } from './attach.tsx'
import { NewMailbox } from './new-mailbox.tsx'

export function Mailboxes() {
  const team = useTeam()
  const filters = useFilters(['new'])
  const [isAdding, setAdding] = useState(filters.get('new') !== undefined)
  const [isAttaching, setAttaching] = useState(false)
  const query = {
    q: filters.get('q'),
    status: filters.get('status') as MailboxAdmin['status'] | undefined,
    is_agent: filters.get('agents') === undefined ? undefined : filters.get('agents') === 'true',
  }
  const include = team.may('mailbox.admin.manage') ? ('people' as const) : undefined
  const pages = usePages([team.id, 'mailboxes', query], (cursor) =>
    takeList(team.api.GET('/mailboxes', { params: { query: { ...query, include, cursor } } })),
  )
  const addButton = team.may('mailbox.admin.create') && (
    <Button kind="primary" icon="plus" onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={
        <>
          {team.may('remote.create') && (
            <Button icon="link" onPress={() => setAttaching(true)}>
              {outside.attach}
            </Button>
          )}
          {addButton}
        </>
      }
      curl={[{ method: 'GET', path: '/mailboxes', query: { ...query, include } }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
        <FilterMenu filters={filters} name="agents" label={words.kind} choices={choicesOf(words.kinds)} />
      </FilterBar>
      <List
        label={words.title}
        pages={pages}
        isTall
        keyOf={({ id }) => id}
        columns={columnsOf(team)}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={
          <Empty icon="mailbox" title={words.emptyTitle} action={addButton}>
            {words.emptyText}
          </Empty>
        }
      />
      {isAttaching && <Attach onClose={() => setAttaching(false)} />}
      {isAdding && <NewMailbox onClose={() => setAdding(false)} />}
    </Page>
  )
}

function columnsOf(team: OpenTeam): Column<ListedMailbox>[] {
  const people = {
    class: 'wide-only',
    head: words.tabs.people,
    cell: (mailbox: ListedMailbox) => <People team={team} mailbox={mailbox} />,
  }
  return [
    {
      head: words.address,
      cell: ({ id, email, display_name, is_agent }) => (
        <span class="row">
          <Person name={email} />
          <span class="two-lines">
            <a class="name-link" href={team.href('mailboxes', id)}>
              <Foreign>{email}</Foreign>
            </a>
            <span>{is_agent ? words.agent : display_name}</span>
          </span>
        </span>
      ),
    },
    { head: words.status, cell: ({ status }) => <MailboxState status={status} /> },
    ...(team.may('mailbox.admin.manage') ? [people] : []),
    { head: words.used, cell: (mailbox) => <Used mailbox={mailbox} /> },
    { head: words.programs, cell: ({ app_password_count }) => app_password_count, class: 'number wide-only' },
    {
      head: words.lastActivity,
      cell: ({ last_activity_at }) => (last_activity_at === null ? common.never : <Time at={last_activity_at} />),
      class: 'number soft',
    },
  ]
}

/** Who opens it in the browser: the first ones by their letters, and how many there are. */
function People({ team, mailbox }: { team: OpenTeam; mailbox: ListedMailbox }) {
  const { id, people = [], people_count: all = 0 } = mailbox
  if (all === 0) return <span class="soft">{common.none}</span>
  const emails = people.map(({ email }) => email)
  const others = all - people.length
  return (
    <a class="people-cell" href={team.href('mailboxes', id, 'people')} title={emails.join('\n')}>
      {emails.map((email) => (
        <Person key={email} name={email} isSmall />
      ))}
      {all === 1 ? <Foreign>{emails[0]!}</Foreign> : <span class="hidden-word">{words.openedBy(emails)}</span>}
      {others > 0 && <span class="soft">+{count(others)}</span>}
    </a>
  )
}

function MailboxState({ status }: { status: MailboxAdmin['status'] }) {
  if (status === 'active') return <State tone="good">{words.statuses.active}</State>
  return <Badge icon={status === 'suspended' ? 'pause' : 'trash-2'}>{words.statuses[status]}</Badge>
}

/** How much of the quota is used, as figures and a bar. */
export function Used({ mailbox: { quota_used_bytes: used = 0, quota_bytes: quota } }: { mailbox: MailboxAdmin }) {
  return (
    <span class="used">
      <span class="meta">{words.usedOf(size(used), size(quota))}</span>
      <Bar share={quota === 0 ? 0 : used / quota} />
    </span>
  )
}
