// The entry of the mail pages.

import { LocationProvider } from 'preact-iso'
import { Proof } from './frame/proof.tsx'
import { SessionEnded } from './frame/session-ended.tsx'
import { MailApp } from './mail/mail.tsx'
import { startShell } from './start.tsx'
import { loadMailLanguage } from './words/mail-language.ts'

function App() {
  return (
    <LocationProvider scope={/^\/mail(?:\/|$)/}>
      <MailApp />
      <Proof />
      <SessionEnded />
    </LocationProvider>
  )
}

startShell({ App, loadLanguage: loadMailLanguage })
