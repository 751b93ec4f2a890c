// One mailbox: mail programs, people, aliases, filters and settings.

import { useRoute } from 'preact-iso'
import { done, takeTagged } from '../../api/client.ts'
import type { FilterState, MailboxAdmin } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Badge, ToneLine } from '../../parts/marks.tsx'
import { Page, Tabs } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { SenderFilter } from '../../parts/sender-filter.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { senderFilters } from '../../words/en/filters.ts'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'
import { Aliases } from './aliases.tsx'
import { Grants } from './grants.tsx'
import { Used } from './mailboxes.tsx'
import { Programs } from './programs.tsx'
import { Settings } from './settings.tsx'

type TabName = keyof typeof words.tabs

export function Mailbox() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const query = useQuery([team.id, 'mailboxes', id], () =>
    takeTagged(team.api.GET('/mailboxes/{mailbox_id}', { params: { path: { mailbox_id: id } } })),
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  return (
    <OpenMailbox key={id} mailbox={query.data.value} tag={query.data.tag} tab={(params.tab ?? 'programs') as TabName} />
  )
}

function OpenMailbox({ mailbox, tag, tab }: { mailbox: MailboxAdmin; tag: string; tab: TabName }) {
  const team = useTeam()
  const tabs = (Object.keys(words.tabs) as TabName[]).map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('mailboxes', mailbox.id, name),
  }))
  return (
    <Page
      title={mailbox.email}
      note={mailbox.display_name}
      badge={mailbox.is_agent ? <Badge icon="bot">{words.agent}</Badge> : undefined}
      crumb={{ href: team.href('mailboxes'), label: words.title }}
      below={<Used mailbox={mailbox} />}
      curl={[{ method: 'GET', path: `/mailboxes/${mailbox.id}` }]}
    >
      {mailbox.status === 'suspended' && <ToneLine tone="warn">{words.suspended}</ToneLine>}
      <Tabs label={mailbox.email} tabs={tabs} current={tab} />
      {tab === 'programs' && <Programs mailbox={mailbox} />}
      {tab === 'people' && <Grants mailbox={mailbox} />}
      {tab === 'aliases' && <Aliases mailbox={mailbox} />}
      {tab === 'filters' && <Filters mailbox={mailbox} />}
      {tab === 'settings' && <Settings key={tag} mailbox={mailbox} tag={tag} />}
    </Page>
  )
}

/** Shown to those who may change it. */
function Filters({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const path = { mailbox_id: mailbox.id }
  const query = useQuery(
    [team.id, 'mailbox-filters', mailbox.id],
    () => takeTagged(team.api.GET('/mailboxes/{mailbox_id}/filters', { params: { path } })),
    { when: team.may('mailbox.admin.manage') },
  )
  const save = useAction(async (filter: FilterState) => {
    const header = { 'If-Match': query.data!.tag }
    await done(team.api.PUT('/mailboxes/{mailbox_id}/filters', { params: { path, header }, body: filter }))
    refresh(team.id, 'mailbox-filters', mailbox.id)
    say(senderFilters.saved)
  })
  if (!team.may('mailbox.admin.manage')) return <p class="soft">{common.viewerNote}</p>
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  return (
    <SenderFilter
      key={query.data.tag}
      filter={query.data.value}
      mayChange={team.may('mailbox.admin.manage')}
      isBusy={save.isBusy}
      error={save.error}
      onSave={(filter) => void save.run(filter)}
    />
  )
}
