// The last step: a test message from the mailbox to itself, read in the browser when it has arrived.

import { useState } from 'preact/hooks'
import { apiAs, done, take, takeList } from '../api/client.ts'
import type { MailboxAdmin, OwnTeam } from '../api/types.ts'
import { count } from '../base/numbers.ts'
import { useAction, useQuery } from '../live/query.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, Person } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { firstRun as words } from '../words/en/first-run.ts'

const WAIT_MS = 1000

interface MessageStepProps {
  team: OwnTeam
  mailbox: MailboxAdmin
  /** Whether the message has left, perhaps before the page was loaded again. */
  wasSent: boolean
  onSent: () => void
}

export function MessageStep({ team, mailbox, wasSent, onSent }: MessageStepProps) {
  const api = apiAs(mailbox.id)
  const [sentAt, setSentAt] = useState<number | null>(null)
  const send = useAction(async () => {
    const body = { to: [{ email: mailbox.email }], subject: words.subject, text_body: words.text(mailbox.email) }
    await done(api.POST('/mailbox/messages/send', { body }))
    setSentAt(Date.now())
    onSent()
  })
  return (
    <>
      <div>
        <h1>{words.messageTitle}</h1>
        <p class="lead">{words.messageLead(mailbox.email)}</p>
      </div>
      {send.error !== null && <ErrorCard error={send.error} onRetry={() => void send.run()} />}
      {!wasSent ? (
        <div class="row">
          <Button kind="primary" size="form" isBusy={send.isBusy} onPress={() => void send.run()}>
            {words.sendTest}
          </Button>
        </div>
      ) : (
        <Arrival mailbox={mailbox} sentAt={sentAt} />
      )}
      <div class="row">
        <ButtonLink kind={wasSent ? 'primary' : 'quiet'} size="form" href={`/console/${team.id}`}>
          {wasSent ? words.finish : words.skip}
        </ButtonLink>
      </div>
    </>
  )
}

/** @param sentAt null when the page was loaded again since */
function Arrival({ mailbox, sentAt }: { mailbox: MailboxAdmin; sentAt: number | null }) {
  const api = apiAs(mailbox.id)
  const [arrivedAt, setArrivedAt] = useState<number | null>(null)
  const message = useQuery(
    ['first-run', 'message', mailbox.id],
    async () => {
      const { items } = await takeList(
        api.GET('/mailbox/messages', { params: { query: { is_unread: true, limit: 1 } } }),
      )
      if (items[0] === undefined) return null
      setArrivedAt((at) => at ?? Date.now())
      return take(api.GET('/mailbox/messages/{message_id}', { params: { path: { message_id: items[0].id } } }))
    },
    { every: WAIT_MS, when: arrivedAt === null },
  )
  if (message.error !== null) return <ErrorCard error={message.error} onRetry={message.refetch} />
  if (message.data == null) {
    return (
      <p class="row soft" role="status">
        <span class="spinner" /> {words.waiting}
      </p>
    )
  }
  const { subject, text_body: text } = message.data
  return (
    <article class="card" aria-label={subject ?? ''}>
      <header class="card-pad row">
        <Person name={mailbox.email} />
        <span class="two-lines">
          <h2 class="sub">{subject}</h2>
          <span>
            {words.from} <Foreign>{mailbox.email}</Foreign>
          </span>
        </span>
        <span class="end">
          <Badge tone="good">
            {sentAt === null || arrivedAt === null
              ? words.hasArrived
              : words.arrived(`${count(arrivedAt - sentAt)} ms`)}
          </Badge>
        </span>
      </header>
      <div class="card-part">
        <p class="letter">{text}</p>
      </div>
    </article>
  )
}
