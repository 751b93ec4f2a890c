// The pages of the operators of this server, and the sidebar that leads to them.

import { Route, Router } from 'preact-iso'
import { self } from '../api/session.ts'
import { Frame, type SideGroup } from '../frame/frame.tsx'
import { lazyPage } from '../parts/lazy-page.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { operator as words } from '../words/en/operator.ts'
import { shell } from '../words/en/shell.ts'
import { findRecords } from './find-records.ts'
import { OPERATOR_PAGES, operatorHref } from './pages.ts'

const ROUTES = OPERATOR_PAGES.map(({ name, load }) => ({
  path: operatorHref(name).slice('/operator'.length) || '/',
  component: lazyPage(load),
}))

const GROUPS = ['health', 'mail', 'users', 'server'] as const

function groups(): SideGroup[] {
  return GROUPS.map((group) => ({
    head: words.groups[group],
    links: OPERATOR_PAGES.filter((page) => page.group === group).map(({ name, icon }) => ({
      href: operatorHref(name),
      label: words.pages[name],
      icon,
    })),
  }))
}

/** What is shown to people who are no operators is the same for every address. */
export function Operator() {
  const isAllowed = self.value?.is_operator === true
  return (
    <Frame
      groups={isAllowed ? groups() : []}
      room={words.title}
      teamId={null}
      findRecords={isAllowed ? findRecords : undefined}
    >
      {isAllowed ? (
        <Router>
          {ROUTES.map(({ path, component }) => (
            <Route key={path} path={path} component={component} />
          ))}
          <Route default component={NoPage} />
        </Router>
      ) : (
        <Page title={words.title}>
          <Empty icon="lock" title={words.notHere} action={<a href="/console">{shell.toOverview}</a>}>
            {words.notHereHint}
          </Empty>
        </Page>
      )}
    </Frame>
  )
}

function NoPage() {
  return (
    <Page title={shell.notFound}>
      <Empty icon="search" title={shell.notFound} action={<a href="/operator">{words.pages.doctor}</a>}>
        {shell.notFoundHint}
      </Empty>
    </Page>
  )
}
