// Messages of programs that wait for the person: who, to whom, what, why, and which messages of strangers were read before.

import { useState } from 'preact/hooks'
import { decideHeld, listHeld, readHeld } from '../api/held.ts'
import type { HeldDetail, HeldMessage } from '../api/types.ts'
import { exact } from '../base/dates.ts'
import { focusTitle } from '../base/focus.ts'
import { size } from '../base/numbers.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { TextField } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Icon } from '../parts/icon.tsx'
import { Time } from '../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { held as words } from '../words/en/held.ts'
import { EditHeld } from './edit-held.tsx'

const REFRESH_MS = 60_000

/** What waits for the person; asked again after a while, and when the stream says so. */
export function useHeld(when = true) {
  return useQuery(['held'], listHeld, { every: REFRESH_MS, when })
}

/** Asks again after a decision. */
export function refreshHeld(): void {
  refresh('held')
  focusTitle()
}

export function HeldMessages({ messages }: { messages: readonly HeldMessage[] }) {
  return (
    <section aria-label={words.title}>
      {messages.map((one) => (
        <HeldCard key={`${one.id} ${one.hash}`} message={one} />
      ))}
    </section>
  )
}

function HeldCard({ message }: { message: HeldMessage }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <article class="card approval held">
      <div class="approval-head">
        <span class="approval-sign hue-7">
          <Icon name="bot" />
        </span>
        <div>
          <h2 class="sub">
            <Foreign>{words.headline(message.from)}</Foreign>
          </h2>
          <p class="soft meta">{words.reasons[message.reason]}</p>
        </div>
      </div>
      {isOpen ? (
        <Opened id={message.id} />
      ) : (
        <>
          <Summary message={message} />
          <div class="approval-foot">
            <Button kind="primary" onPress={() => setOpen(true)}>
              {words.look}
            </Button>
          </div>
        </>
      )}
    </article>
  )
}

function Summary({ message: { recipients, subject, created_at } }: { message: HeldMessage }) {
  return (
    <dl class="facts approval-body">
      <Fact name={words.to}>
        <Foreign>{recipients.join(', ')}</Foreign>
      </Fact>
      <Fact name={words.subject}>
        <Foreign>{subject}</Foreign>
      </Fact>
      <Fact name={words.waits}>
        <Time at={created_at} as="relative" />
      </Fact>
    </dl>
  )
}

/** The whole message: a subject alone is too little to decide by. */
function Opened({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(['held', id], () => readHeld(id))
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={6} />
  return (
    <>
      <Facts message={data} />
      <Content message={data} />
      <Strangers message={data} />
      <Answers message={data} />
    </>
  )
}

function Facts({ message }: { message: HeldDetail }) {
  const { from, recipients, subject, credential, created_at, expires_at, content } = message
  const hidden = content?.hidden ?? []
  const files = content?.attachments ?? []
  const rows: [string, string][] = [
    [words.from, from],
    [words.to, recipients.filter((address) => !hidden.includes(address)).join(', ')],
    [words.hidden, hidden.join(', ')],
    [words.answers, (content?.reply_to ?? []).map(({ email }) => email).join(', ')],
    [words.subject, subject],
    [words.files, files.map(({ filename, size_bytes }) => words.file(filename, size(size_bytes))).join(', ')],
    [words.sentBy, credential ?? ''],
    [words.waits, exact(created_at)],
    [words.until, exact(expires_at)],
  ]
  return (
    <dl class="facts approval-body">
      {rows
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <Fact key={name} name={name}>
            <Foreign>{value}</Foreign>
          </Fact>
        ))}
    </dl>
  )
}

function Content({ message: { content } }: { message: HeldDetail }) {
  if (content === null) return null
  return (
    <div class="approval-body held-text">
      {content.text !== '' && (
        <pre class="code-block" dir="auto">
          {content.text}
        </pre>
      )}
      {content.html_text !== null && (
        <>
          <h3 class="sub">{words.formatted}</h3>
          <pre class="code-block" dir="auto">
            {content.html_text}
          </pre>
        </>
      )}
      {content.truncated && <p class="soft">{words.cut}</p>}
    </div>
  )
}

function Strangers({ message: { read_before: read } }: { message: HeldDetail }) {
  if (read.length === 0) return null
  return (
    <div class="approval-body held-text">
      <h3 class="sub">{words.strangers}</h3>
      <ul>
        {read.map(({ message_id: id, author, subject, reason, read_at }) => (
          <li key={id}>
            <Foreign>{author}</Foreign>: <Foreign>{subject}</Foreign>{' '}
            <span class="soft meta">
              {words.stranger[reason]}, <Time at={read_at} as="relative" />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Answers({ message }: { message: HeldDetail }) {
  const [dialog, setDialog] = useState<'edit' | 'reject' | null>(null)
  const close = () => setDialog(null)
  const approve = useAction(async () => {
    await decideHeld(message, 'approve', '')
    refreshHeld()
    say(words.approved)
  })
  return (
    <>
      {approve.error !== null && (
        <div class="card-pad">
          <ErrorCard error={approve.error} />
        </div>
      )}
      <div class="approval-foot">
        <Button kind="primary" icon="check" isBusy={approve.isBusy} onPress={() => void approve.run()}>
          {words.approve}
        </Button>
        <Button onPress={() => setDialog('edit')}>{words.edit}</Button>
        <Button onPress={() => setDialog('reject')}>{words.reject}</Button>
      </div>
      {dialog === 'reject' && <Reject message={message} onClose={close} />}
      {dialog === 'edit' && <EditHeld message={message} onDone={refreshHeld} onClose={close} />}
    </>
  )
}

function Reject({ message, onClose }: { message: HeldDetail; onClose: () => void }) {
  const [note, setNote] = useState('')
  const reject = useAction(async () => {
    await decideHeld(message, 'reject', note.trim())
    refreshHeld()
    say(words.rejected)
  })
  return (
    <Dialog
      title={words.rejectTitle}
      foot={<FormFoot verb={words.reject} action={reject} onClose={onClose} />}
      error={reject.error}
      onClose={onClose}
      onSubmit={() => void reject.run()}
    >
      <p>{words.rejectText}</p>
      <TextField label={words.note} hint={words.noteHint} value={note} onValue={setNote} lines={2} />
    </Dialog>
  )
}
