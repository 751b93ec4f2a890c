// What can be done with a webhook: a test, replay of what failed, a new secret, deleting it.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { done, take } from '../../api/client.ts'
import type { Webhook } from '../../api/types.ts'
import { daysAgo } from '../../base/dates.ts'
import { plural } from '../../base/numbers.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { choicesOf } from '../../parts/filters.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { ShownSecret } from './secret.tsx'

const DEFAULT_GRACE = '86400'

export function Actions({ webhook }: { webhook: Webhook }) {
  const team = useTeam()
  const path = { webhook_id: webhook.id }
  const test = useAction(async () => {
    const { delivery } = await take(team.api.POST('/webhooks/{webhook_id}/test', { params: { path } }))
    refresh(team.id, 'webhooks', webhook.id)
    say(words.tested(words.attempts.results[delivery.result]))
  })
  const isOff = webhook.status === 'disabled'
  return (
    <>
      {test.error !== null && <ErrorCard error={test.error} />}
      {team.may('webhook.manage') && (
        <>
          <Button isBusy={test.isBusy} onPress={() => void test.run()}>
            {words.test}
          </Button>
          {!isOff && <ReplayButton id={webhook.id} />}
          <RotateButton id={webhook.id} />
        </>
      )}
      {team.may('webhook.delete') && <DeleteButton webhook={webhook} />}
    </>
  )
}

/** Turns a disabled webhook on again; it is paused in its settings. */
export function EnableButton({ id, tag }: { id: string; tag: string }) {
  const team = useTeam()
  const enable = useAction(async () => {
    const params = { path: { webhook_id: id }, header: { 'If-Match': tag } }
    await done(team.api.PATCH('/webhooks/{webhook_id}', { params, body: { enabled: true } }))
    refresh(team.id, 'webhooks')
    say(words.enabled)
  })
  if (!team.may('webhook.update')) return null
  return (
    <>
      <Button size="short" isBusy={enable.isBusy} onPress={() => void enable.run()}>
        {words.enable}
      </Button>
      {enable.error !== null && <ErrorCard error={enable.error} />}
    </>
  )
}

function ReplayButton({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onPress={() => setOpen(true)}>{words.replayFailed.button}</Button>
      {isOpen && <ReplayDialog id={id} onClose={() => setOpen(false)} />}
    </>
  )
}

type Since = keyof typeof words.replayFailed.sinces
const DAYS: Record<Since, number | null> = { all: null, day: 1, week: 7 }

function ReplayDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const team = useTeam()
  const texts = words.replayFailed
  const [since, setSince] = useState<Since>('all')
  const days = DAYS[since]
  // Rounded to the minute, so that what is counted is what is asked for.
  const after = days === null ? undefined : `${daysAgo(days).slice(0, 16)}:00Z`
  const path = { webhook_id: id }
  const { data, error, refetch } = useQuery([team.id, 'webhooks', id, 'failed', since], () =>
    take(team.api.GET('/webhooks/{webhook_id}/failed-events', { params: { path, query: { after } } })),
  )
  const replay = useAction(async () => {
    const body = after === undefined ? {} : { after }
    const { events } = await take(team.api.POST('/webhooks/{webhook_id}/replay-failed', { params: { path }, body }))
    refresh(team.id, 'webhooks', id)
    say(texts.done(plural(events, texts.event, texts.events)))
    onClose()
  })
  return (
    <Dialog
      title={texts.title}
      foot={<FormFoot verb={texts.verb} action={replay} isOff={!data?.events} onClose={onClose} />}
      error={replay.error}
      onClose={onClose}
      onSubmit={() => void replay.run()}
    >
      <SelectField label={texts.since} value={since} choices={choicesOf(texts.sinces) as never} onValue={setSince} />
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton rows={1} />}
      {data !== undefined && (
        <p role="status">
          {data.events === 0 ? texts.none : texts.text(plural(data.events, texts.event, texts.events), data.has_more)}
        </p>
      )}
    </Dialog>
  )
}

function RotateButton({ id }: { id: string }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [isAsking, setAsking] = useState(false)
  const [grace, setGrace] = useState(DEFAULT_GRACE)
  const [secret, setSecret] = useState<string | null>(null)
  const rotate = useAction(async () => {
    const body = { grace_seconds: Number(grace) }
    const params = { path: { webhook_id: id }, header: headerOf(body) }
    const made = await take(team.api.POST('/webhooks/{webhook_id}/rotate-secret', { params, body }))
    setAsking(false)
    refresh(team.id, 'webhooks')
    setSecret(made.signing_secret)
  })
  return (
    <>
      <Button onPress={() => setAsking(true)}>{words.rotate}</Button>
      {isAsking && (
        <Confirm
          title={words.rotateTitle}
          verb={words.rotate}
          isBusy={rotate.isBusy}
          error={rotate.error}
          onConfirm={() => void rotate.run()}
          onClose={() => setAsking(false)}
        >
          <div class="stack">
            <p>{words.rotateText}</p>
            <SelectField label={words.grace} value={grace} choices={choicesOf(words.graces)} onValue={setGrace} />
          </div>
        </Confirm>
      )}
      {secret !== null && <ShownSecret webhookId={id} secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

function DeleteButton({ webhook }: { webhook: Webhook }) {
  const team = useTeam()
  const { route } = useLocation()
  const [isAsking, setAsking] = useState(false)
  const remove = useAction(async () => {
    await done(team.api.DELETE('/webhooks/{webhook_id}', { params: { path: { webhook_id: webhook.id } } }))
    route(team.href('webhooks'))
    refresh(team.id, 'webhooks')
    say(words.removed)
  })
  return (
    <>
      <Button kind="danger" onPress={() => setAsking(true)}>
        {words.remove}
      </Button>
      {isAsking && (
        <Confirm
          title={words.removeTitle(webhook.url)}
          verb={words.remove}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => setAsking(false)}
        >
          {words.removeText}
        </Confirm>
      )}
    </>
  )
}
