// Attaching an outside account: its address, then the servers that were found with a password, or the page of its provider.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { take } from '../../api/client.ts'
import type { DiscoveredAccount } from '../../api/types.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { say } from '../../parts/toast.tsx'
import { outside as words } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'

export function Attach({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const [email, setEmail] = useState('')
  const [found, setFound] = useState<DiscoveredAccount | null>(null)
  const look = useAction(async () => {
    setFound(await take(team.api.POST('/remote-accounts/discover', { body: { email: email.trim() } })))
  })
  if (found !== null) {
    const props = { email: email.trim(), found, onClose }
    return found.auth === 'password' ? <WithPassword {...props} /> : <ByConsent {...props} auth={found.auth} />
  }
  return (
    <Dialog
      title={words.attachTitle}
      foot={<FormFoot verb={words.look} action={look} isOff={email.trim() === ''} onClose={onClose} />}
      error={look.error}
      onClose={onClose}
      onSubmit={() => void look.run()}
    >
      <p class="soft">{words.attachText}</p>
      <TextField label={words.email} type="email" value={email} onValue={setEmail} hasFocus />
    </Dialog>
  )
}

interface FoundProps {
  email: string
  found: DiscoveredAccount
  onClose: () => void
}

function WithPassword({ email, found, onClose }: FoundProps) {
  const team = useTeam()
  const { route } = useLocation()
  const headerOf = useRequestKey()
  const [imap, setImap] = useState(found.imap?.host ?? '')
  const [smtp, setSmtp] = useState(found.smtp?.host ?? '')
  const [password, setPassword] = useState('')
  const attach = useAction(async () => {
    const body = { email, password, ...serverOf('imap', found.imap, imap), ...serverOf('smtp', found.smtp, smtp) }
    const account = await take(team.api.POST('/remote-accounts', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'mailboxes')
    say(words.attached)
    route(team.href('mailboxes', account.mailbox_id))
  })
  const errorOf = (field: string) => attach.error?.fieldMessage(field)
  const isInForm = ['imap_host', 'smtp_host', 'password'].some((field) => errorOf(field) !== undefined)
  const isOff = password === '' || imap.trim() === ''
  return (
    <Dialog
      title={words.attachTitle}
      foot={<FormFoot verb={words.attach} action={attach} isOff={isOff} onClose={onClose} />}
      error={isInForm ? null : attach.error}
      onClose={onClose}
      onSubmit={() => void attach.run()}
    >
      <ToneLine tone={found.imap === null ? 'warn' : 'good'}>{words.found(found.source) ?? words.notFound}</ToneLine>
      <TextField
        label={words.password}
        hint={words.passwordHint}
        type="password"
        autoComplete="off"
        value={password}
        onValue={setPassword}
        error={errorOf('password')}
        hasFocus
      />
      <TextField label={words.imapHost} value={imap} onValue={setImap} error={errorOf('imap_host')} isMono />
      <TextField
        label={words.smtpHost}
        hint={words.smtpHint}
        value={smtp}
        onValue={setSmtp}
        error={errorOf('smtp_host')}
        isMono
      />
    </Dialog>
  )
}

function ByConsent({ email, auth, onClose }: FoundProps & { auth: 'google' | 'microsoft' }) {
  const team = useTeam()
  const company = words.companies[auth]
  const go = useAction(async () => {
    const body = { type: auth, mode: 'mirror', name: email, redirect_after: team.href('mailboxes') } as const
    const { authorization_url: url } = await take(team.api.POST('/remote-accounts/oauth/authorize', { body }))
    location.assign(url)
  })
  return (
    <Dialog
      title={words.attachTitle}
      foot={<FormFoot verb={words.goTo(company)} action={go} onClose={onClose} />}
      error={go.error}
      onClose={onClose}
      onSubmit={() => void go.run()}
    >
      <p>{words.consent(company)}</p>
    </Dialog>
  )
}

type Server = DiscoveredAccount['imap']
type Kind = 'imap' | 'smtp'

/** What was found belongs to its host: another one has the usual port. */
function serverOf(kind: Kind, found: Server, host: string) {
  const name = host.trim()
  if (name === '') return {}
  const known = found?.host === name ? { [`${kind}_port`]: found.port, [`${kind}_protocol`]: found.protocol } : {}
  return { [`${kind}_host`]: name, ...known }
}
