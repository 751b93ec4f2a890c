// The entry of the console, the sign-in, the first run and the pages of the person.

import { effect } from '@preact/signals'
import { render } from 'preact'
import { LocationProvider, Route, Router } from 'preact-iso'
import { hasSession, underWay } from './api/client.ts'
import { ApiError } from './api/errors.ts'
import { loadSelf, self } from './api/session.ts'
import { setLocale, setTimeZone } from './base/dates.ts'
import { Console } from './console/console.tsx'
import { moreEntries } from './frame/palette.tsx'
import { Proof } from './frame/proof.tsx'
import { SessionEnded, signInHref } from './frame/session-ended.tsx'
import { followPreferences } from './live/preferences.ts'
import { markForeignText } from './parts/foreign.tsx'
import { lazyPage } from './parts/lazy-page.tsx'
import { ErrorCard } from './parts/quiet.tsx'
import { SignIn } from './sign-in/sign-in.tsx'
import { loadLanguage } from './words/language.ts'

const FirstRun = lazyPage(() => import('./first-run/first-run.tsx').then((module) => module.FirstRun))
const Operator = lazyPage(() => import('./operator/operator.tsx').then((module) => module.Operator))
const Me = lazyPage(() => import('./me/me.tsx').then((module) => module.Me))

function App() {
  return (
    <LocationProvider scope={/^\/(?:console|operator|me|sign-in|first-run)(?:\/|$)/}>
      <Router>
        <Route path="/sign-in" component={SignIn} />
        <Route path="/first-run" component={FirstRun} />
        <Route path="/console" component={Console} />
        <Route path="/console/:team" component={Console} />
        <Route path="/console/:team/*" component={Console} />
        <Route path="/operator" component={Operator} />
        <Route path="/operator/*" component={Operator} />
        <Route path="/me/mailboxes/:id/:tab?" component={Me} />
        <Route path="/me/:page?" component={Me} />
        <Route default component={Console} />
      </Router>
      <Proof />
      <SessionEnded />
    </LocationProvider>
  )
}

markForeignText()
const root = document.getElementById('app')!
/** Pages that need no session. */
const OPEN_PAGES = /^\/(?:sign-in|first-run)(?:\/|$)/

const toSignIn = () => location.replace(signInHref())

moreEntries.value = () => import('./palette-entries.ts').then((module) => module.paletteEntries())

// Said to assistive programs, and to tests.
effect(() => root.setAttribute('aria-busy', String(underWay.value > 0)))

async function start(): Promise<void> {
  if (!OPEN_PAGES.test(location.pathname)) {
    await loadSelf()
    if (self.value === null) return toSignIn()
    hasSession.value = true
    void followPreferences()
  }
  setTimeZone(self.value?.time_zone ?? null)
  const locale = self.value?.locale ?? ''
  setLocale(locale, await loadLanguage(locale === '' ? navigator.language : locale))
  render(<App />, root)
}

start().catch((error: unknown) => {
  const shown = error instanceof ApiError ? error : new ApiError(0, { code: 'no_answer', message: String(error) }, null)
  render(<ErrorCard error={shown} onRetry={() => location.reload()} />, root)
})
