// One mailbox of the person: mail programs, out of office, forwarding, filters, scripts and settings, where they own it.

import { useMemo } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { apiAs, take } from '../api/client.ts'
import type { OwnMailbox } from '../api/types.ts'
import { size } from '../base/numbers.ts'
import { useQuery } from '../live/query.ts'
import { Away } from '../panels/away.tsx'
import { Forwards } from '../panels/forwards.tsx'
import { MailPrograms } from '../panels/mail-programs.tsx'
import { MailboxFilter } from '../panels/mailbox-filter.tsx'
import { byGrant, type MailboxRequests } from '../panels/mailbox-requests.ts'
import { ServerFacts, useClientSettings } from '../panels/program-settings.tsx'
import { Scripts } from '../panels/scripts.tsx'
import { ThrowAway } from '../panels/throw-away.tsx'
import { ButtonLink } from '../parts/button.tsx'
import { Badge, Bar, ToneLine } from '../parts/marks.tsx'
import { Page, Section, Tabs, tabOf } from '../parts/page.tsx'
import { mailboxes as shared } from '../words/en/mailboxes.ts'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import { NoOwnWay } from './first-passkey.tsx'
import { MailboxSettings } from './mailbox-settings.tsx'

type TabName = keyof typeof words.tabs

/** The requests behind each tab, below /api/v1/mailbox. */
const PATHS: Readonly<Record<TabName, string>> = {
  programs: 'app-passwords',
  away: 'vacation-response',
  forwards: 'forwards',
  filters: 'sender-filter',
  scripts: 'sieve-scripts',
  settings: 'identities',
}

interface MailboxProps {
  own: OwnMailbox
  /** There is no list to go back to. */
  isOnly: boolean
}

export function Mailbox({ own, isOnly }: MailboxProps) {
  const { params } = useRoute()
  const mayManage = own.capabilities.includes('mailbox.write')
  const requests = useMemo(() => byGrant(own, mayManage), [own.id, mayManage])
  const tab = tabOf(words.tabs, params.tab)
  const names = Object.keys(words.tabs) as TabName[]
  const tabs = names.map((name) => ({ name, label: words.tabs[name], href: `/me/mailboxes/${own.id}/${name}` }))
  return (
    <Page
      title={own.email}
      note={own.display_name}
      badge={<Badge>{shared.shortLevels[own.access]}</Badge>}
      crumb={isOnly ? undefined : { href: '/me/mailboxes', label: words.title(2) }}
      below={<Space id={own.id} />}
      actions={
        <ButtonLink href={`/mail/${encodeURIComponent(own.email)}/inbox`} icon="inbox">
          {words.openMail}
        </ButtonLink>
      }
      curl={[{ method: 'GET', path: `/mailbox/${mayManage ? PATHS[tab] : 'client-settings'}` }]}
    >
      <NoOwnWay />
      {own.status === 'suspended' && <ToneLine tone="warn">{words.suspended}</ToneLine>}
      {own.access !== 'owner' && <ToneLine>{words.othersChange[own.access]}</ToneLine>}
      {mayManage ? (
        <>
          <Tabs label={own.email} tabs={tabs} current={tab} />
          <TabContent tab={tab} requests={requests} />
        </>
      ) : (
        <ProgramFacts requests={requests} />
      )}
    </Page>
  )
}

function TabContent({ tab, requests }: { tab: TabName; requests: MailboxRequests }) {
  return (
    <>
      {tab === 'programs' && (
        <>
          <MailPrograms mailbox={requests} />
          <ProgramFacts requests={requests} />
        </>
      )}
      {tab === 'away' && <Away mailbox={requests} />}
      {tab === 'forwards' && <Forwards mailbox={requests} />}
      {tab === 'filters' && <MailboxFilter mailbox={requests} />}
      {tab === 'scripts' && <Scripts mailbox={requests} />}
      {tab === 'settings' && (
        <>
          <MailboxSettings id={requests.id} />
          <ThrowAway mailbox={requests} />
        </>
      )}
    </>
  )
}

function ProgramFacts({ requests }: { requests: MailboxRequests }) {
  const { data } = useClientSettings(requests)
  return (
    <Section title={words.enter} note={requests.mayManage ? words.enterNote : undefined}>
      <ServerFacts email={requests.email} settings={data} />
    </Section>
  )
}

/** How much of its space the mailbox uses. */
function Space({ id }: { id: string }) {
  const { data } = useQuery([id, 'mailbox'], () => take(apiAs(id).GET('/mailbox/me')))
  if (data === undefined) return null
  const { quota_used_bytes: used = 0, quota_bytes: quota } = data
  return (
    <span class="used">
      <span class="meta">{shared.usedOf(size(used), size(quota))}</span>
      <Bar share={quota === 0 ? 0 : used / quota} />
    </span>
  )
}
