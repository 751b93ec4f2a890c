// The sending accounts of a team, the shared account of the server, and the groups.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { take, takeList } from '../../api/client.ts'
import type { Provider } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { useAction, useMatching, usePages, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { Bar, State, Time, ToneLine } from '../../parts/marks.tsx'
import { Page, Tabs } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { sending as words } from '../../words/en/sending.ts'
import { type OpenTeam, useTeam } from '../team.ts'
import { Connect } from './connect.tsx'
import { Groups } from './groups.tsx'
import { Rules } from './rules.tsx'
import { Limits } from './use.tsx'

type Status = Provider['status']

const TONES: Readonly<Record<Status, Tone>> = { active: 'good', inactive: '', error: 'danger', pending: 'warn' }
const ICONS = { inactive: 'pause', pending: 'clock' } as const

export function AccountState({ status }: { status: Status }) {
  const icon = status === 'inactive' || status === 'pending' ? ICONS[status] : undefined
  return (
    <State tone={TONES[status]} icon={icon}>
      {words.statuses[status]}
    </State>
  )
}

const PATHS = { accounts: '/providers', groups: '/delivery-groups', rules: '/routing-rules' } as const
const TABS = Object.keys(PATHS) as (keyof typeof PATHS)[]

export function Sending() {
  const team = useTeam()
  const { params } = useRoute()
  const [isConnecting, setConnecting] = useState(false)
  const tab = TABS.find((name) => name === params.tab) ?? 'accounts'
  const tabs = [
    { name: 'accounts', label: words.tabs.accounts, href: team.href('sending') },
    { name: 'groups', label: words.tabs.groups, href: team.href('sending', 'in', 'groups') },
    { name: 'rules', label: words.tabs.rules, href: team.href('sending', 'in', 'rules') },
  ]
  const connectButton = team.may('provider.create') && (
    <Button kind="primary" icon="plus" onPress={() => setConnecting(true)}>
      {words.connect}
    </Button>
  )
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={tab === 'accounts' && connectButton}
      curl={[{ method: 'GET', path: PATHS[tab] }]}
    >
      <Tabs label={words.title} tabs={tabs} current={tab} />
      {tab === 'groups' && <Groups />}
      {tab === 'rules' && <Rules />}
      {tab === 'accounts' && <Accounts connectButton={connectButton} />}
      {isConnecting && <Connect onClose={() => setConnecting(false)} />}
    </Page>
  )
}

function Accounts({ connectButton }: { connectButton: ComponentChildren }) {
  const team = useTeam()
  const filters = useFilters()
  const query = {
    status: filters.get('status') as Status | undefined,
    type: filters.get('type') as Provider['type'] | undefined,
  }
  const pages = usePages([team.id, 'providers', query], (cursor) =>
    takeList(team.api.GET('/providers', { params: { query: { ...query, cursor } } })),
  )
  const shown = useMatching(
    pages,
    filters.get('q') ?? '',
    ({ name, smtp_host, oauth_email }) => `${name} ${smtp_host ?? ''} ${oauth_email ?? ''}`,
  )
  return (
    <>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
        <FilterMenu filters={filters} name="type" label={words.type} choices={choicesOf(words.types)} />
      </FilterBar>
      <List
        label={words.title}
        pages={shown}
        isTall
        isNamed
        keyOf={({ id }) => id}
        columns={columnsOf(team, pages.items)}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={
          <Empty icon="route" title={words.emptyTitle} action={connectButton}>
            {words.emptyText}
          </Empty>
        }
      />
      <SharedLimit />
    </>
  )
}

/** What an account gets of the messages that name no group: its share of all shares. */
function shareOf(provider: Provider, all: readonly Provider[]): number | null {
  const active = all.filter(({ status, percentage }) => status !== 'inactive' && percentage !== null)
  const sum = active.reduce((total, { percentage }) => total + percentage!, 0)
  return active.includes(provider) && sum > 0 ? provider.percentage! / sum : null
}

function columnsOf(team: OpenTeam, all: readonly Provider[]): Column<Provider>[] {
  return [
    {
      head: words.account,
      cell: ({ id, name, type, smtp_host, oauth_email, is_shared }) => (
        <span class="two-lines">
          <a class="name-link" href={team.href('sending', id)}>
            {name}
          </a>
          <span>
            {is_shared ? words.shared : [words.types[type], oauth_email ?? smtp_host].filter(Boolean).join(', ')}
          </span>
        </span>
      ),
    },
    {
      head: words.status,
      cell: ({ status, status_reason }) => (
        <span class="two-lines">
          <AccountState status={status} />
          <span class="cut reason-cell">{status_reason !== null && <ServerText>{status_reason}</ServerText>}</span>
        </span>
      ),
    },
    {
      head: words.share,
      cell: (provider) => {
        const share = shareOf(provider, all)
        return share === null ? <span class="soft">–</span> : <ShareBar share={share} />
      },
    },
    { head: words.limits, cell: (provider) => <Limits provider={provider} />, class: 'soft wide-only' },
    {
      head: words.lastUsed,
      cell: ({ last_used_at }) => (last_used_at === null ? common.never : <Time at={last_used_at} />),
      class: 'number soft',
    },
  ]
}

function ShareBar({ share }: { share: number }) {
  return (
    <span class="used">
      <span class="meta">{words.shareOf(String(Math.round(share * 100)))}</span>
      <Bar share={share} isNeutral />
    </span>
  )
}

/** The limit of the shared account, and how to ask for a higher one. */
function SharedLimit() {
  const team = useTeam()
  const [isAsking, setAsking] = useState(false)
  const query = useQuery([team.id, 'shared-limit'], () =>
    take(team.api.GET('/providers/shared-amazon-ses-limit-request')),
  )
  const limit = query.data?.limit
  if (limit === undefined || limit.provider_id === null || limit.daily_limit === null) return null
  return (
    <section class="panel stack">
      <div class="row wide">
        <h2 class="sub">{words.sharedTitle}</h2>
        <span class="meta">{words.sharedToday(count(limit.sent_today), count(limit.daily_limit))}</span>
      </div>
      <Bar share={limit.daily_limit === 0 ? 0 : limit.sent_today / limit.daily_limit} />
      {limit.pending_request_id !== null && <ToneLine icon="clock">{words.pendingRequest}</ToneLine>}
      {limit.can_request_increase && team.may('provider.manage') && (
        <div class="row">
          <Button onPress={() => setAsking(true)}>{words.askMore}</Button>
        </div>
      )}
      {isAsking && <AskMore onClose={() => setAsking(false)} onAsked={query.refetch} />}
    </section>
  )
}

function AskMore({ onClose, onAsked }: { onClose: () => void; onAsked: () => void }) {
  const team = useTeam()
  const [limit, setLimit] = useState('')
  const [reason, setReason] = useState('')
  const action = useAction(async () => {
    const body = { reason: reason.trim() || undefined, requested_daily_limit: limit === '' ? undefined : Number(limit) }
    await take(team.api.POST('/providers/shared-amazon-ses-limit-request', { body }))
    onAsked()
    say(words.asked)
    onClose()
  })
  const foot = <FormFoot verb={words.askMore} action={action} onClose={onClose} />
  return (
    <Dialog
      title={words.askTitle}
      foot={foot}
      error={action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField label={words.askLimit} inputMode="numeric" value={limit} onValue={setLimit} hasFocus />
      <TextField label={words.askReason} lines={3} value={reason} onValue={setReason} />
    </Dialog>
  )
}
