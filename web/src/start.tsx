// Starts a shell: who is signed in, the preferences, the language, then the pages.

import { effect } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { hasSession, underWay } from './api/client.ts'
import { ApiError } from './api/errors.ts'
import { loadSelf, self } from './api/session.ts'
import { setLocale, setTimeZone } from './base/dates.ts'
import { signInHref } from './frame/session-ended.tsx'
import { followPreferences } from './live/preferences.ts'
import { markForeignText } from './parts/foreign.tsx'
import { ErrorCard } from './parts/quiet.tsx'

interface Shell {
  App: ComponentType
  /** Paths of pages that need no session. */
  open?: RegExp
  /** Loads the language of a locale. @returns its tag */
  loadLanguage: (locale: string) => Promise<string>
}

/** Draws a shell into the page; a person without a session is led to sign in. */
export function startShell(shell: Shell): void {
  const root = document.getElementById('app')!
  markForeignText()
  // Said to assistive programs, and to tests.
  effect(() => root.setAttribute('aria-busy', String(underWay.value > 0)))
  start(shell, root).catch((error: unknown) => {
    const shown =
      error instanceof ApiError ? error : new ApiError(0, { code: 'no_answer', message: String(error) }, null)
    render(<ErrorCard error={shown} onRetry={() => location.reload()} />, root)
  })
}

async function start({ App, open, loadLanguage }: Shell, root: HTMLElement): Promise<void> {
  if (open?.test(location.pathname) !== true) {
    await loadSelf()
    if (self.value === null) {
      location.replace(signInHref())
      return
    }
    hasSession.value = true
    void followPreferences()
  }
  setTimeZone(self.value?.time_zone ?? null)
  const locale = self.value?.locale ?? ''
  setLocale(locale, await loadLanguage(locale === '' ? navigator.language : locale))
  render(<App />, root)
}
