// The delivery of each copy of a sent message, with the last reply of the server that took or refused it.

import { useEffect, useState } from 'preact/hooks'
import { readSubmission } from '../../api/drafts.ts'
import type { Message, Submission } from '../../api/types.ts'
import { clockTime, dayAndTime } from '../../base/dates.ts'
import { useAction } from '../../live/action.ts'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { Badge, State } from '../../parts/marks.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { compose } from '../../words/en/compose.ts'
import { mail as words } from '../../words/en/mail.ts'
import { takeBack } from '../compose/draft-writer.ts'
import { openSaved } from '../compose/state.ts'
import { useMail } from '../mail-context.ts'

type Delivered = Submission['recipients'][number]['delivered']

const TONES: Readonly<Record<Delivered, Tone>> = { queued: '', yes: 'good', no: 'danger', unknown: 'warn' }

/** Of the message as a whole. */
function toneOf({ status, recipients }: Submission): Tone {
  if (status === 'sent' && recipients.every(({ delivered }) => delivered === 'yes')) return 'good'
  return status === 'failed' || status === 'partially_sent' ? 'danger' : ''
}

export function Deliveries({ message }: { message: Message }) {
  const { data } = useMail()
  const [submission, setSubmission] = useState<Submission | null>(null)
  const [isOpen, setOpen] = useState(false)
  const id = message.delivery?.submission_id ?? null
  const status = message.delivery?.status
  useEffect(() => {
    if (id === null) return undefined
    let isGone = false
    readSubmission(data.api, id).then(
      (read) => isGone || setSubmission(read),
      // Its rows in the delivery log have expired: then nothing is shown.
      () => null,
    )
    return () => {
      isGone = true
    }
  }, [id, status])
  if (submission === null) return null
  const { recipients, send_at: sendAt } = submission
  const yes = recipients.filter(({ delivered }) => delivered === 'yes').length
  const label =
    submission.status === 'scheduled'
      ? words.deliveries.scheduled(dayAndTime(sendAt))
      : submission.status === 'canceled'
        ? words.deliveries.canceled
        : words.deliveries.delivered(yes, recipients.length)
  return (
    <div class="deliveries">
      <div class="row">
        <button type="button" class="deliveries-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Badge tone={toneOf(submission)} icon={submission.status === 'scheduled' ? 'clock' : undefined}>
            {label}
          </Badge>
        </button>
        {submission.status === 'scheduled' && submission.undo_status === 'pending' && <Cancel id={submission.id} />}
      </div>
      {isOpen && <Recipients recipients={recipients} />}
    </div>
  )
}

function Recipients({ recipients }: { recipients: Submission['recipients'] }) {
  return (
    <ul class="deliveries-list" aria-label={words.deliveries.title}>
      {recipients.map(({ email, delivered, smtp_reply: reply, updated_at: at }) => (
        <li key={email}>
          <span class="soft meta">{clockTime(at)}</span>
          <State tone={TONES[delivered]}>{words.deliveries.states[delivered]}</State>
          <span class="strong">
            <Foreign>{email}</Foreign>
          </span>
          {reply !== null && (
            <span class="soft meta">
              <Foreign>{reply}</Foreign>
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Takes a message back that waits for its time. */
function Cancel({ id }: { id: string }) {
  const { data } = useMail()
  const cancel = useAction(async () => {
    const draft = await takeBack(data, id)
    if (draft !== null) openSaved(data, draft)
    say(compose.undone)
  })
  return (
    <>
      <Button kind="link" isBusy={cancel.isBusy} onPress={() => void cancel.run()}>
        {words.deliveries.cancel}
      </Button>
      {cancel.error !== null && <ErrorCard error={cancel.error} />}
    </>
  )
}
