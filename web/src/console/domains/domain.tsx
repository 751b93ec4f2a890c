// One domain: its records, its filter, its mailboxes, and what can be changed.

import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { done, take, takeList, takeTagged } from '../../api/client.ts'
import type { Domain as DomainRecord, FilterState } from '../../api/types.ts'
import { saveFile } from '../../base/save-file.ts'
import { refresh, useAction, usePages, useQuery } from '../../live/query.ts'
import { ClientRecords } from '../../panels/client-records.tsx'
import { DomainRecords, type LiveCheck, LiveLine, useDomainCheck } from '../../panels/domain-records.tsx'
import { zoneFile } from '../../panels/record-rows.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue, CopyButton } from '../../parts/copy.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Badge, Time } from '../../parts/marks.tsx'
import { Page, RecordError, Tabs, tabOf } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { SearchedList } from '../../parts/searched-list.tsx'
import { SenderFilter } from '../../parts/sender-filter.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { domains as words } from '../../words/en/domains.ts'
import { senderFilters } from '../../words/en/filters.ts'
import { useTeam } from '../team.ts'
import { Changes } from './changes.tsx'
import { DomainState } from './domain-state.tsx'
import { Senders } from './senders.tsx'
import { SigningKeys } from './signing-keys.tsx'
import { WhoAnswered } from './who-answered.tsx'

type TabName = keyof typeof words.tabs

export function Domain() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const query = useQuery([team.id, 'domains', id], () =>
    take(team.api.GET('/domains/{domain_id}', { params: { path: { domain_id: id } } })),
  )
  const crumb = { href: team.href('domains'), label: words.title }
  if (query.failure !== null) return <RecordError error={query.failure} crumb={crumb} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  return <OpenDomain key={id} domain={query.data} tab={tabOf(words.tabs, params.tab)} />
}

function OpenDomain({ domain, tab }: { domain: DomainRecord; tab: TabName }) {
  const team = useTeam()
  // The other tabs do not show the records.
  const isWatching = team.may('domain.verify') && tab === 'records'
  const live = useDomainCheck(team.api, domain, isWatching, () => refresh(team.id, 'domains'))
  const [isZoneShown, setZoneShown] = useState(false)
  const wrong = live.checks?.filter(({ ok }) => !ok).length
  const tabs = (Object.keys(words.tabs) as TabName[]).map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('domains', domain.id, name),
  }))
  const actions = (
    <>
      <Button icon="file-down" onPress={() => setZoneShown(true)}>
        {words.zoneFile}
      </Button>
      {isWatching && (
        <Button icon="refresh-cw" isBusy={live.isBusy} onPress={live.checkNow}>
          {words.checkNow}
        </Button>
      )}
    </>
  )
  return (
    <Page
      title={domain.domain}
      crumb={{ href: team.href('domains'), label: words.title }}
      record={domain}
      badge={<Summary domain={domain} wrong={wrong} />}
      below={tab === 'records' && <LiveLine live={isWatching ? live : null} />}
      actions={actions}
      curl={[
        { method: 'GET', path: `/domains/${domain.id}` },
        { method: 'GET', path: `/domains/${domain.id}/checks` },
        { method: 'POST', path: `/domains/${domain.id}/verify` },
        ...(tab === 'keys' ? [{ method: 'GET', path: `/domains/${domain.id}/dkim` }] : []),
        ...(tab === 'senders'
          ? ['dmarc-reports', 'tls-reports'].map((name) => ({ method: 'GET', path: `/domains/${domain.id}/${name}` }))
          : []),
      ]}
    >
      <Tabs label={domain.domain} tabs={tabs} current={tab} />
      {tab === 'records' && <Records domain={domain} live={live} />}
      {tab === 'filters' && <Filters domain={domain} />}
      {tab === 'keys' && <SigningKeys domain={domain} />}
      {tab === 'senders' && <Senders domain={domain} />}
      {tab === 'mailboxes' && <DomainMailboxes domain={domain} />}
      {tab === 'settings' && <Settings domain={domain} />}
      {isZoneShown && <ZoneDialog domain={domain} onClose={() => setZoneShown(false)} />}
    </Page>
  )
}

function Records({ domain, live }: { domain: DomainRecord; live: LiveCheck }) {
  return (
    <div class="columns narrow">
      <div class="stack wide">
        <DomainRecords domain={domain} live={live} />
        <ClientRecords domain={domain} live={live} />
      </div>
      <aside class="stack loose">
        <WhoAnswered live={live} />
        <Changes domain={domain} live={live} />
        <div class="panel stack">
          <h2 class="sub">{words.relativeTitle}</h2>
          <p class="soft meta">{words.relativeText(domain.domain)}</p>
        </div>
      </aside>
    </div>
  )
}

function Summary({ domain, wrong }: { domain: DomainRecord; wrong: number | undefined }) {
  if (wrong === undefined) return <DomainState status={domain.verification_status} />
  return wrong === 0 ? (
    <Badge tone="good">{words.allRight}</Badge>
  ) : (
    <Badge tone="warn">{words.recordsDiffer(wrong)}</Badge>
  )
}

function ZoneDialog({ domain, onClose }: { domain: DomainRecord; onClose: () => void }) {
  const text = zoneFile(domain)
  const foot = (
    <>
      <Button onPress={onClose}>{common.close}</Button>
      <CopyButton text={text} />
      <Button size="short" icon="file-down" onPress={() => saveFile(`${domain.domain}.zone`, text)}>
        {words.download}
      </Button>
    </>
  )
  return (
    <Dialog title={words.zoneTitle} isWide onClose={onClose} foot={foot}>
      <p class="soft">{words.zoneHint}</p>
      <pre class="code-block">{text}</pre>
    </Dialog>
  )
}

function Filters({ domain }: { domain: DomainRecord }) {
  const team = useTeam()
  const path = { domain_id: domain.id }
  const query = useQuery([team.id, 'domain-filters', domain.id], () =>
    takeTagged(team.api.GET('/domains/{domain_id}/filters', { params: { path } })),
  )
  const save = useAction(async (filter: FilterState) => {
    const header = { 'If-Match': query.data!.tag }
    await done(team.api.PUT('/domains/{domain_id}/filters', { params: { path, header }, body: filter }))
    refresh(team.id, 'domain-filters', domain.id)
    say(senderFilters.saved)
  })
  if (query.failure !== null) return <ErrorCard error={query.failure} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  return (
    <>
      <p class="soft">{words.filtersNote}</p>
      <SenderFilter
        key={query.data.tag}
        filter={query.data.value}
        mayChange={team.may('domain.create')}
        isBusy={save.isBusy}
        error={save.error}
        onSave={(filter) => void save.run(filter)}
      />
    </>
  )
}

function DomainMailboxes({ domain }: { domain: DomainRecord }) {
  const team = useTeam()
  const pages = usePages([team.id, 'mailboxes', { domain: domain.id }], (cursor) =>
    takeList(team.api.GET('/mailboxes', { params: { query: { domain_id: domain.id, cursor } } })),
  )
  return (
    <SearchedList
      label={words.mailboxesNote}
      pages={pages}
      textOf={({ email, id }) => `${email} ${id}`}
      keyOf={({ id }) => id}
      empty={
        <Empty
          icon="mailbox"
          title={words.noMailboxes}
          action={<a href={team.href('mailboxes')}>{words.toMailboxes}</a>}
        />
      }
      columns={[
        {
          head: words.address,
          cell: ({ id, email }) => (
            <a class="name-link" href={team.href('mailboxes', id)}>
              <Foreign>{email}</Foreign>
            </a>
          ),
        },
        { head: words.added, cell: ({ created_at }) => <Time at={created_at} />, class: 'number soft' },
      ]}
    />
  )
}

function Settings({ domain }: { domain: DomainRecord }) {
  const team = useTeam()
  const { route } = useLocation()
  const [isAsking, setAsking] = useState(false)
  const remove = useAction(async () => {
    await done(team.api.DELETE('/domains/{domain_id}', { params: { path: { domain_id: domain.id } } }))
    refresh(team.id, 'domains')
    say(words.deleted(domain.domain))
    route(team.href('domains'))
  })
  return (
    <div class="stack loose">
      <dl class="facts">
        <dt>{words.id}</dt>
        <dd>
          <CodeValue text={domain.id} what={words.id} />
        </dd>
        <dt>{words.added}</dt>
        <dd>
          <Time at={domain.created_at} />
        </dd>
        <dt>{words.verifiedAt}</dt>
        <dd>{domain.verified_at === null ? common.never : <Time at={domain.verified_at} />}</dd>
      </dl>
      {team.may('domain.delete') && (
        <div class="row">
          <Button kind="danger" icon="trash-2" onPress={() => setAsking(true)}>
            {words.delete}
          </Button>
        </div>
      )}
      {isAsking && (
        <Confirm
          title={words.deleteTitle(domain.domain)}
          verb={words.delete}
          typed={domain.domain}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => setAsking(false)}
        >
          {words.deleteText}
        </Confirm>
      )}
    </div>
  )
}
