// The console of one team: its pages and the sidebar that leads to them.

import { useEffect, useMemo } from 'preact/hooks'
import { Route, Router, useLocation, useRoute } from 'preact-iso'
import { self } from '../api/session.ts'
import { Frame, type SideGroup } from '../frame/frame.tsx'
import type { PaletteEntry } from '../frame/palette.tsx'
import { followTeam } from '../live/team-changes.ts'
import { lazyPage } from '../parts/lazy-page.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { pageNames } from '../words/en/pages.ts'
import { shell as words } from '../words/en/shell.ts'
import { CONSOLE_PAGES, type ConsolePage } from './pages.ts'
import { Counts } from './shell/counts.tsx'
import { findRecords } from './shell/find-records.ts'
import { pageOfId } from './shell/record-pages.ts'
import { type OpenTeam, openTeam, TeamContext } from './team.ts'

const ROUTES = CONSOLE_PAGES.flatMap(({ name, routes }) =>
  Object.entries(routes).map(([path, load]) => ({
    path: path === '' ? '/' : `/${path}`,
    name,
    component: lazyPage(load),
  })),
)

const GROUPS = [null, 'addresses', 'traffic', 'programs', 'team'] as const

function groupsOf(team: OpenTeam): SideGroup[] {
  return GROUPS.map((group) => ({
    head: group === null ? null : words.groups[group],
    links: CONSOLE_PAGES.filter((page) => page.group === group && team.may(page.permission)).map((page) => ({
      href: page.name === 'overview' ? team.href() : team.href(page.name),
      label: pageNames[page.name],
      icon: page.icon,
      end: <Counts page={page.name} />,
    })),
  })).filter(({ links }) => links.length > 0)
}

/** The primary actions of pages, each with the permission for it. */
const CREATES: Readonly<Record<keyof typeof words.creates & ConsolePage['name'], string>> = {
  domains: 'domain.create',
  mailboxes: 'mailbox.admin.create',
  people: 'team.manage',
  sending: 'provider.create',
  suppressed: 'suppression.manage',
  webhooks: 'webhook.create',
  keys: 'apikey.create',
}

function createsOf(team: OpenTeam): PaletteEntry[] {
  const names = Object.keys(CREATES) as (keyof typeof words.creates)[]
  return names
    .filter((name) => team.may(CREATES[name]))
    .map((name) => ({
      label: words.creates[name],
      note: pageNames[name],
      icon: 'plus',
      href: `${team.href(name)}?new=1`,
    }))
}

/** The console of the team in the address. */
export function Console() {
  const { params } = useRoute()
  const { route } = useLocation()
  const teams = self.value?.teams ?? []
  const known = teams.find(({ id }) => id === params.team)
  const team = useMemo(() => (known === undefined ? null : openTeam(known)), [known])
  useEffect(() => {
    if (params.team === undefined && teams[0] !== undefined) route(`/console/${teams[0].id}`, true)
  }, [params.team])
  useEffect(() => {
    if (known !== undefined) followTeam(known.id)
  }, [known?.id])
  const opensMailboxesAlone = team?.permissions.length === 0 && (self.value?.mailboxes.length ?? 0) > 0
  useEffect(() => {
    if (opensMailboxesAlone) route('/me/mailboxes', true)
  }, [opensMailboxesAlone])
  if (team === null) return params.team === undefined && teams.length > 0 ? null : <NoTeam />
  const groups = groupsOf(team)
  return (
    <TeamContext.Provider value={team}>
      <Frame
        groups={groups}
        room={words.console}
        teamId={team.id}
        openId={(id) => pageOfId(id, team)}
        findRecords={(text) => findRecords(team, text)}
        creates={createsOf(team)}
      >
        {team.permissions.length === 0 ? <NothingOpen /> : <Pages key={team.id} />}
      </Frame>
    </TeamContext.Provider>
  )
}

function Pages() {
  return (
    <Router>
      {ROUTES.map(({ path, component }) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={NoPage} />
    </Router>
  )
}

/** For those whose role opens mailboxes alone. */
function NothingOpen() {
  return (
    <Page title={words.console}>
      <Empty icon="lock" title={words.nothingOpen} action={<a href="/me">{words.toAccount}</a>}>
        {words.nothingOpenHint}
      </Empty>
    </Page>
  )
}

function NoPage() {
  return (
    <Page title={words.notFound}>
      <Empty icon="search" title={words.notFound} action={<a href="/console">{words.toOverview}</a>}>
        {words.notFoundHint}
      </Empty>
    </Page>
  )
}

function NoTeam() {
  return (
    <Frame groups={[]} room={words.console} teamId={null}>
      <NoPage />
    </Frame>
  )
}
