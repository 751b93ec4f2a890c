// Attaching an outside account, as a mailbox or to collect from: its address, then the servers that were found with a password, or the page of its provider.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { take } from '../../api/client.ts'
import type { DiscoveredAccount } from '../../api/types.ts'
import { startOfFieldDay } from '../../base/dates.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { say } from '../../parts/toast.tsx'
import { outside as words } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'

interface AttachProps {
  /** The mailbox that collects from the account; without one the account becomes a mailbox. */
  into?: { id: string; email: string }
  onClose: () => void
}

export function Attach({ into, onClose }: AttachProps) {
  const team = useTeam()
  const [email, setEmail] = useState('')
  const [found, setFound] = useState<DiscoveredAccount | null>(null)
  const look = useAction(async () => {
    setFound(await take(team.api.POST('/remote-accounts/discover', { body: { email: email.trim() } })))
  })
  if (found !== null) {
    const props = { email: email.trim(), found, into, onClose }
    return found.auth === 'password' ? <WithPassword {...props} /> : <ByConsent {...props} auth={found.auth} />
  }
  return (
    <Dialog
      title={titleOf(into)}
      foot={<FormFoot verb={words.look} action={look} isOff={email.trim() === ''} onClose={onClose} />}
      error={look.error}
      onClose={onClose}
      onSubmit={() => void look.run()}
    >
      <p class="soft">{into === undefined ? words.attachText : words.collectText}</p>
      <TextField label={words.email} type="email" value={email} onValue={setEmail} hasFocus />
    </Dialog>
  )
}

const titleOf = (into: AttachProps['into']) => (into === undefined ? words.attachTitle : words.collectTitle(into.email))

const verbOf = (into: AttachProps['into']) => (into === undefined ? words.attach : words.collect)

/** Midnight of a day of the field; undefined without one. */
function sinceOf(day: string): { since?: string } {
  const time = startOfFieldDay(day)
  return Number.isNaN(time) ? {} : { since: new Date(time).toISOString() }
}

interface FoundProps extends AttachProps {
  email: string
  found: DiscoveredAccount
}

function WithPassword({ email, found, into, onClose }: FoundProps) {
  const team = useTeam()
  const { route } = useLocation()
  const headerOf = useRequestKey()
  const [imap, setImap] = useState(found.imap?.host ?? '')
  const [smtp, setSmtp] = useState(found.smtp?.host ?? '')
  const [password, setPassword] = useState('')
  const [since, setSince] = useState('')
  const attach = useAction(async () => {
    const servers = { email, password, ...serverOf('imap', found.imap, imap) }
    const body =
      into === undefined
        ? { ...servers, ...serverOf('smtp', found.smtp, smtp) }
        : { ...servers, mode: 'collect' as const, mailbox_id: into.id, ...sinceOf(since) }
    const account = await take(team.api.POST('/remote-accounts', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'mailboxes')
    say(into === undefined ? words.attached : words.collectBegun)
    onClose()
    if (into === undefined) route(team.href('mailboxes', account.mailbox_id))
  })
  const errorOf = (field: string) => attach.error?.fieldMessage(field)
  const isInForm = ['imap_host', 'smtp_host', 'password', 'since'].some((field) => errorOf(field) !== undefined)
  const isOff = password === '' || imap.trim() === ''
  return (
    <Dialog
      title={titleOf(into)}
      foot={<FormFoot verb={verbOf(into)} action={attach} isOff={isOff} onClose={onClose} />}
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
      {into === undefined ? (
        <SmtpField value={smtp} onValue={setSmtp} error={errorOf('smtp_host')} />
      ) : (
        <SinceField value={since} onValue={setSince} error={errorOf('since')} />
      )}
    </Dialog>
  )
}

type ValueProps = Pick<Parameters<typeof TextField>[0], 'value' | 'onValue' | 'error'>

const SmtpField = (props: ValueProps) => <TextField {...props} label={words.smtpHost} hint={words.smtpHint} isMono />

const SinceField = (props: ValueProps) => (
  <TextField {...props} label={words.since} hint={words.sinceHint} type="date" />
)

function ByConsent({ email, auth, into, onClose }: FoundProps & { auth: 'google' | 'microsoft' }) {
  const team = useTeam()
  const company = words.companies[auth]
  const go = useAction(async () => {
    const kind =
      into === undefined ? ({ mode: 'mirror' } as const) : ({ mode: 'collect', mailbox_id: into.id } as const)
    const back = into === undefined ? team.href('mailboxes') : team.href('mailboxes', into.id, 'collects')
    const body = { type: auth, ...kind, name: email, redirect_after: back }
    const { authorization_url: url } = await take(team.api.POST('/remote-accounts/oauth/authorize', { body }))
    location.assign(url)
  })
  return (
    <Dialog
      title={titleOf(into)}
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
