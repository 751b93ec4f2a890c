// The timeline of one delivery: its steps, and the calls of webhooks that they caused.

import { takeList } from '../../api/client.ts'
import type { DeliveryEvent, DeliveryLogDetail } from '../../api/types.ts'
import { moment, preciseTime, secondsBetween } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { ErrorCard } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { Timeline, type TimelineStep } from '../../parts/timeline.tsx'
import { delivery as words } from '../../words/en/delivery.ts'
import { useTeam } from '../team.ts'

type Step = DeliveryLogDetail['timeline'][number]
type Attempt = NonNullable<DeliveryEvent['attempts']>[number]

const STEP_TONES: Partial<Record<Step['type'], TimelineStep['tone']>> = {
  deferred: 'warn',
  held: 'warn',
  approved: 'good',
  sent: 'good',
  bounced: 'danger',
  expired: 'danger',
  rejected: 'danger',
  complained: 'danger',
}
const HOOK_TONES = { success: 'good', retrying: 'warn', failed: 'danger', permanent_failure: 'danger' } as const

export function History({ row }: { row: DeliveryLogDetail }) {
  const team = useTeam()
  const { timeline } = row
  const events = useQuery([team.id, 'delivery', 'events', row.id, timeline.length], () =>
    takeList(team.api.GET('/emails/logs/{log_id}/events', { params: { path: { log_id: row.id } } })),
  )
  const calls = (events.data?.items ?? []).flatMap(({ type, attempts }) =>
    (attempts ?? []).map((attempt) => ({
      at: attempt.created_at,
      step: <HookCall type={type} attempt={attempt} />,
      attempt,
    })),
  )
  const steps = [
    ...timeline.map((step) => ({ at: step.at, step: stepOf(step) })),
    ...calls.map(({ at, step, attempt }) => ({
      at,
      step: { time: preciseTime(at), title: words.hook.title, detail: step, tone: HOOK_TONES[attempt.result] },
    })),
  ].sort((one, other) => one.at.localeCompare(other.at))
  return (
    <section>
      <h3 class="small soft">{words.timeline(`${length(timeline)} ${words.seconds}`)}</h3>
      <Timeline steps={steps.map(({ step }) => step)} />
      {events.error !== null && <ErrorCard error={events.error} onRetry={events.refetch} />}
    </section>
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
    detail: <ServerText>{detail}</ServerText>,
    tone: STEP_TONES[type],
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

function HookCall({ type, attempt }: { type: string; attempt: Attempt }) {
  const team = useTeam()
  const { hook } = words
  const { response_status: status, response_ms: ms, error_message: error, next_retry_at: next } = attempt
  const parts = [
    status === 0 ? hook.noAnswer(error ?? '') : hook.answered(status, count(ms)),
    ...(attempt.delivery_attempt > 1 || next !== null
      ? [hook.attempt(attempt.delivery_attempt, attempt.max_attempts)]
      : []),
    ...(next === null ? [] : [hook.next(moment(next))]),
  ]
  return (
    <>
      <a href={`${team.href('webhooks', attempt.webhook_id)}?open=${attempt.id}`}>
        {hook.called(type, hostOf(attempt.webhook_url))}
      </a>
      {`: ${parts.join(', ')}`}
    </>
  )
}
