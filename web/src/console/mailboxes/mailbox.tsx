// One mailbox: mail programs, people, aliases, filters and settings.

import { useMemo } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { takeTagged } from '../../api/client.ts'
import type { MailboxAdmin } from '../../api/types.ts'
import { useQuery } from '../../live/query.ts'
import { Away } from '../../panels/away.tsx'
import { Forwards } from '../../panels/forwards.tsx'
import { MailPrograms } from '../../panels/mail-programs.tsx'
import { MailboxFilter } from '../../panels/mailbox-filter.tsx'
import { byRole } from '../../panels/mailbox-requests.ts'
import { Scripts } from '../../panels/scripts.tsx'
import { ThrowAway } from '../../panels/throw-away.tsx'
import { Badge, ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError, Tabs, tabOf } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/quiet.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { outside } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'
import { Aliases } from './aliases.tsx'
import { Collects } from './collects.tsx'
import { Deleted } from './deleted.tsx'
import { Grants } from './grants.tsx'
import { Used } from './mailboxes.tsx'
import { OutsideState } from './outside.tsx'
import { Settings } from './settings.tsx'

type TabName = keyof typeof words.tabs

/** An outside account has these at its provider. */
const HOSTED_ONLY: readonly TabName[] = ['aliases', 'away', 'filters', 'scripts', 'collects']

/** The requests behind a tab, below the mailbox. */
const PATHS: Partial<Record<TabName, string>> = {
  aliases: 'aliases',
  away: 'vacation-response',
  forwards: 'forwards',
  filters: 'filters',
  scripts: 'sieve-scripts',
}

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
        ...(PATHS[tab] === undefined ? [] : [{ method: 'GET', path: `/mailboxes/${mailbox.id}/${PATHS[tab]}` }]),
      ]}
    >
      {mailbox.status === 'deleted' ? <Deleted mailbox={mailbox} /> : <Tabbed mailbox={mailbox} tag={tag} tab={tab} />}
    </Page>
  )
}

function Tabbed({ mailbox, tag, tab }: { mailbox: MailboxAdmin; tag: string; tab: TabName }) {
  const team = useTeam()
  const requests = useMemo(() => byRole(team, mailbox), [team, mailbox.id])
  const names = (Object.keys(words.tabs) as TabName[]).filter(
    (name) => mailbox.domain_id !== null || !HOSTED_ONLY.includes(name),
  )
  const tabs = names.map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('mailboxes', mailbox.id, name),
  }))
  return (
    <>
      {mailbox.remote_account_id !== null && <OutsideState id={mailbox.remote_account_id} />}
      {mailbox.status === 'suspended' && <ToneLine tone="warn">{words.suspended}</ToneLine>}
      <Tabs label={mailbox.email} tabs={tabs} current={tab} />
      {tab === 'programs' && <MailPrograms mailbox={requests} />}
      {tab === 'people' && <Grants mailbox={mailbox} />}
      {tab === 'aliases' && (
        <>
          <Aliases mailbox={mailbox} />
          <ThrowAway mailbox={requests} />
        </>
      )}
      {tab === 'away' && <Away mailbox={requests} />}
      {tab === 'forwards' && <Forwards mailbox={requests} />}
      {tab === 'filters' && <MailboxFilter mailbox={requests} />}
      {tab === 'scripts' && <Scripts mailbox={requests} />}
      {tab === 'collects' && <Collects mailbox={mailbox} />}
      {tab === 'settings' && <Settings mailbox={mailbox} tag={tag} />}
    </>
  )
}

function badgeOf({ is_agent: isAgent, domain_id: domain }: MailboxAdmin) {
  if (isAgent) return <Badge icon="bot">{words.agent}</Badge>
  return domain === null ? <Badge icon="link">{outside.badge}</Badge> : undefined
}
