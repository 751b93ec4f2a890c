// One row of the delivery log, opened: what happened in a sentence, step by step, and what the other server answered.

import { useState } from 'preact/hooks'
import { done, take, takeList } from '../../api/client.ts'
import type { DeliveryLogDetail } from '../../api/types.ts'
import { preciseTime, secondsBetween } from '../../base/dates.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { Timeline, type TimelineStep } from '../../parts/timeline.tsx'
import { say } from '../../parts/toast.tsx'
import { delivery as words } from '../../words/en/delivery.ts'
import { answerOf, isNoMailbox } from '../../words/en/replies.ts'
import { useTeam } from '../team.ts'
import { SentMessage } from './sent-message.tsx'

type Step = DeliveryLogDetail['timeline'][number]

const STEP_TONES: Partial<Record<Step['type'], TimelineStep['tone']>> = {
  deferred: 'warn',
  sent: 'good',
  bounced: 'danger',
  expired: 'danger',
  rejected: 'danger',
  complained: 'danger',
}

export function DeliveryDetail({ id }: { id: string }) {
  const team = useTeam()
  const { data, error, refetch } = useQuery([team.id, 'delivery', 'one', id], () =>
    take(team.api.GET('/emails/logs/{log_id}', { params: { path: { log_id: id } } })),
  )
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={4} />
  return (
    <div class="card">
      <Head row={data} />
      <div class="delivery-parts">
        <section>
          <h3 class="small soft">{words.timeline(`${length(data.timeline)} ${words.seconds}`)}</h3>
          <Timeline steps={data.timeline.map(stepOf)} />
        </section>
        <Server row={data} />
      </div>
    </div>
  )
}

function length(steps: readonly Step[]): string {
  const [first, last] = [steps[0], steps.at(-1)]
  return first === undefined || last === undefined ? '0' : secondsBetween(first.at, last.at)
}

function stepOf({ at, type, detail }: Step): TimelineStep {
  return {
    time: preciseTime(at),
    title: words.steps[type],
    detail: <Foreign>{detail}</Foreign>,
    tone: STEP_TONES[type],
  }
}

function Head({ row }: { row: DeliveryLogDetail }) {
  return (
    <div class="card-part delivery-head row wide wrap">
      <div>
        <h2 class="sub">{headline(row)}</h2>
        {row.status_reason !== null && (
          <p class="soft meta">
            <Foreign>{answerOf(row.status_reason)}</Foreign>
          </p>
        )}
      </div>
      <div class="row end">
        <Actions row={row} />
      </div>
    </div>
  )
}

function headline({ status, status_reason: reason, to_email: email, timeline }: DeliveryLogDetail): string {
  if (status === 'sent')
    return words.headline.sent(timeline.findLast(({ type }) => type === 'sent')?.remote_host ?? null)
  if (status === 'failed' && isNoMailbox(reason)) return words.headline.noMailbox(email)
  if (status === 'failed') return words.headline.failed(email)
  return words.headline[status]
}

function Actions({ row }: { row: DeliveryLogDetail }) {
  const team = useTeam()
  const [isShown, setShown] = useState(false)
  const cancel = useAction(async () => {
    await done(team.api.POST('/emails/{message_id}/cancel', { params: { path: { message_id: row.message_id } } }))
    refresh(team.id, 'delivery')
    say(words.canceled)
  })
  return (
    <>
      {cancel.error !== null && <ErrorCard error={cancel.error} />}
      {row.status === 'pending' && team.may('email.send') && (
        <Button isBusy={cancel.isBusy} onPress={() => void cancel.run()}>
          {words.cancel}
        </Button>
      )}
      {(row.status === 'failed' || row.status === 'rejected') && <FreeAddress email={row.to_email} />}
      <Button icon="mail-open" onPress={() => setShown(true)}>
        {words.show}
      </Button>
      {isShown && <SentMessage id={row.message_id} onClose={() => setShown(false)} />}
    </>
  )
}

/** Offered when the address is on the list of suppressed ones. */
function FreeAddress({ email }: { email: string }) {
  const team = useTeam()
  const { data } = useQuery(
    [team.id, 'suppressed', 'of', email],
    () => takeList(team.api.GET('/suppressions', { params: { query: { q: email } } })),
    { when: team.may('suppression.read') },
  )
  const found = data?.items.find((one) => one.email === email.toLowerCase())
  const free = useAction(async (id: string) => {
    await done(team.api.DELETE('/suppressions/{suppression_id}', { params: { path: { suppression_id: id } } }))
    refresh(team.id, 'suppressed')
    say(words.freed(email))
  })
  if (found === undefined || !team.may('suppression.manage')) return null
  return (
    <>
      {free.error !== null && <ErrorCard error={free.error} />}
      <Button icon="undo-2" isBusy={free.isBusy} onPress={() => void free.run(found.id)}>
        {words.free}
      </Button>
    </>
  )
}

function Server({ row }: { row: DeliveryLogDetail }) {
  const last = row.timeline.findLast(({ remote_host: host, smtp_code: code }) => host !== null || code !== null)
  const { server } = words
  const tags = Object.entries(row.tags ?? {})
  return (
    <section>
      <h3 class="small soft">{server.title}</h3>
      {last === undefined ? (
        <p class="soft">{row.status === 'sent' ? server.here : server.none}</p>
      ) : (
        <p class="code-block">
          <Foreign>{last.detail}</Foreign>
        </p>
      )}
      <dl class="facts small">
        {last?.remote_host != null && (
          <Fact name={server.name}>
            {last.remote_host}
            {last.remote_address !== null && `, ${last.remote_address}`}
          </Fact>
        )}
        <Fact name={server.route}>{row.provider_name ?? words.direct}</Fact>
        <Fact name={server.from}>
          <Foreign>{row.sent_from_email}</Foreign>
        </Fact>
        <Fact name={server.attempts}>{String(row.attempts)}</Fact>
        <Fact name={server.delivery}>
          <CodeValue text={row.id} what={server.idOfDelivery} />
        </Fact>
        <Fact name={server.message}>
          <CodeValue text={row.message_id} what={server.idOfMessage} />
        </Fact>
        {tags.length > 0 && (
          <Fact name={server.tags}>{tags.map(([name, value]) => `${name}: ${value}`).join(', ')}</Fact>
        )}
      </dl>
    </section>
  )
}
