// What to enter in a mail program: the password that is shown once, the servers, and a code that a phone reads.

import { useEffect, useRef } from 'preact/hooks'
import type { ClientSettings, NewAppPassword } from '../api/types.ts'
import { useQuery } from '../live/query.ts'
import { CodeValue, Secret } from '../parts/copy.tsx'
import { mailboxes as words } from '../words/en/mailboxes.ts'
import type { MailboxRequests } from './mailbox-requests.ts'

interface ProgramSettingsProps {
  mailbox: Pick<MailboxRequests, 'id' | 'email' | 'clientSettings'>
  password: NewAppPassword
}

export const useClientSettings = (mailbox: Pick<MailboxRequests, 'id' | 'clientSettings'>) =>
  useQuery(['client-settings', mailbox.id], mailbox.clientSettings)

const serversOf = (settings: ClientSettings | undefined) =>
  (['imap', 'submission', 'managesieve'] as const).flatMap((name) => {
    const server = settings?.[name]
    return server == null ? [] : [{ name, ...server }]
  })

/** The user name and the servers. */
export function ServerFacts({ email, settings }: { email: string; settings: ClientSettings | undefined }) {
  return (
    <dl class="facts">
      <dt>{words.userName}</dt>
      <dd>
        <CodeValue text={settings?.username ?? email} what={words.userName} />
      </dd>
      {serversOf(settings).map(({ name, host, port, security }) => [
        <dt key={name}>{words.protocols[name]}</dt>,
        <dd key={`${name} value`}>{words.server(host, port, words.securities[security])}</dd>,
      ])}
    </dl>
  )
}

/** What to enter in a mail program, with the password and a code that a phone reads. */
export function ProgramSettings({ mailbox, password }: ProgramSettingsProps) {
  const { data } = useClientSettings(mailbox)
  const lines = [
    `${words.userName}: ${data?.username ?? mailbox.email}`,
    ...serversOf(data).map(
      ({ name, host, port, security }) =>
        `${words.protocols[name]}: ${words.server(host, port, words.securities[security])}`,
    ),
    `${words.password}: ${password.password}`,
  ]
  return (
    <>
      <Secret text={password.password_grouped} />
      <h3>{words.setUp}</h3>
      <ServerFacts email={mailbox.email} settings={data} />
      {data !== undefined && (
        <div class="row top wrap">
          <QrCode text={data.setup_url ?? lines.join('\n')} label={words.qrTitle} />
          <div class="stack qr-note">
            <h3>{words.qrTitle}</h3>
            <p class="soft meta">{words.qrNote}</p>
          </div>
        </div>
      )}
    </>
  )
}

/** A code that cameras read; the library is loaded with it. */
function QrCode({ text, label }: { text: string; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    void import('lean-qr').then(({ generate }) => generate(text).toCanvas(canvas.current!, { padX: 1, padY: 1 }))
  }, [text])
  return <canvas ref={canvas} class="qr" role="img" aria-label={label} />
}
