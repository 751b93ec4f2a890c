// One mailbox: mail programs, people, aliases, filters and settings.

import { useRoute } from 'preact-iso'
import { done, takeTagged } from '../../api/client.ts'
import type { FilterState, MailboxAdmin } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Badge, ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError, Tabs, tabOf } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { SenderFilter } from '../../parts/sender-filter.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { senderFilters } from '../../words/en/filters.ts'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { outside } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'
import { Aliases } from './aliases.tsx'
import { Forwards } from './forwards.tsx'
import { Grants } from './grants.tsx'
import { Used } from './mailboxes.tsx'
import { OutsideState } from './outside.tsx'
import { Programs } from './programs.tsx'
import { Settings } from './settings.tsx'

type TabName = keyof typeof words.tabs

/** An outside account has these at its provider. */
const HOSTED_ONLY: readonly TabName[] = ['aliases', 'filters']

export function Mailbox() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const query = useQuery([team.id, 'mailboxes', id], () =>
    takeTagged(team.api.GET('/mailboxes/{mailbox_id}', { params: { path: { mailbox_id: id } } })),
  )
  const crumb = { href: team.href('mailboxes'), label: words.title }
  if (query.failure !== null) return <RecordError error={query.failure} crumb={crumb} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  return <OpenMailbox key={id} mailbox={query.data.value} tag={query.data.tag} tab={tabOf(words.tabs, params.tab)} />
}

function OpenMailbox({ mailbox, tag, tab }: { mailbox: MailboxAdmin; tag: string; tab: TabName }) {
  const team = useTeam()
  const names = (Object.keys(words.tabs) as TabName[]).filter(
    (name) => mailbox.domain_id !== null || !HOSTED_ONLY.includes(name),
  )
  const tabs = names.map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('mailboxes', mailbox.id, name),
  }))
  return (
    <Page
      title={mailbox.email}
      note={mailbox.display_name}
      badge={badgeOf(mailbox)}
      crumb={{ href: team.href('mailboxes'), label: words.title }}
      below={<Used mailbox={mailbox} />}
      record={mailbox}
      curl={[
        { method: 'GET', path: `/mailboxes/${mailbox.id}` },
        ...(tab === 'aliases' || tab === 'forwards' || tab === 'filters'
          ? [{ method: 'GET', path: `/mailboxes/${mailbox.id}/${tab}` }]
          : []),
      ]}
    >
      {mailbox.remote_account_id !== null && <OutsideState id={mailbox.remote_account_id} />}
      {mailbox.status === 'suspended' && <ToneLine tone="warn">{words.suspended}</ToneLine>}
      <Tabs label={mailbox.email} tabs={tabs} current={tab} />
      {tab === 'programs' && <Programs mailbox={mailbox} />}
      {tab === 'people' && <Grants mailbox={mailbox} />}
      {tab === 'aliases' && <Aliases mailbox={mailbox} />}
      {tab === 'forwards' && <Forwards mailbox={mailbox} />}
      {tab === 'filters' && <Filters mailbox={mailbox} />}
      {tab === 'settings' && <Settings mailbox={mailbox} tag={tag} />}
    </Page>
  )
}

function badgeOf({ is_agent: isAgent, domain_id: domain }: MailboxAdmin) {
  if (isAgent) return <Badge icon="bot">{words.agent}</Badge>
  return domain === null ? <Badge icon="link">{outside.badge}</Badge> : undefined
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
  if (query.failure !== null) return <ErrorCard error={query.failure} onRetry={query.refetch} />
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
