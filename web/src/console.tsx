// The entry of the console, the sign-in, the first run and the pages of the person.

import { LocationProvider, Route, Router } from 'preact-iso'
import { Console } from './console/console.tsx'
import { moreEntries } from './frame/palette.tsx'
import { Proof } from './frame/proof.tsx'
import { SessionEnded } from './frame/session-ended.tsx'
import { lazyPage } from './parts/lazy-page.tsx'
import { SignIn } from './sign-in/sign-in.tsx'
import { startShell } from './start.tsx'
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

moreEntries.value = () => import('./palette-entries.ts').then((module) => module.paletteEntries())

startShell({ App, open: /^\/(?:sign-in|first-run)(?:\/|$)/, loadLanguage })
