// The first steps of a team: a list that ticks itself; the first open one says how.

import { take, takeList } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import { daysAgo } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { type OpenTeam, useTeam } from '../team.ts'

type StepName = keyof typeof words.step

interface Step {
  name: StepName
  isDone: boolean
  href: string
  /** What made it done, at the end of the line. */
  note?: string
}

/** The step that has a second way. */
const SECOND = 'second'

const LONGEST_DAYS = 90
const REFRESH_MS = 10_000

/** What the steps depend on, in one query of the page. */
async function findOut({ api }: OpenTeam) {
  const one = { params: { query: { limit: 1 } } }
  const [domains, mailboxes, members, webhooks, metrics] = await Promise.all([
    takeList(api.GET('/domains', { params: { query: { limit: 10 } } })),
    takeList(api.GET('/mailboxes', one)),
    takeList(api.GET('/team/members', { params: { query: { limit: 2 } } })),
    takeList(api.GET('/webhooks', { params: { query: { limit: 100 } } })),
    take(api.GET('/emails/metrics', { params: { query: { from_date: daysAgo(LONGEST_DAYS) } } })),
  ])
  return {
    domains: domains.items,
    mailboxes: mailboxes.items,
    members: members.items,
    webhooks: webhooks.items,
    totals: metrics.totals,
  }
}

function stepsOf(team: OpenTeam, found: Awaited<ReturnType<typeof findOut>>): Step[] {
  const { domains, mailboxes, members, webhooks, totals } = found
  // The list begins with the newest one.
  const first = domains.at(-1)
  const programs = webhooks.length
  const newOn = (page: string) => `${team.href(page)}?new=1`
  const verified = domains.findLast(({ verification_status }) => verification_status === 'verified')
  const ways = self.value?.sign_in
  return [
    { name: 'domain', isDone: first !== undefined, note: first?.domain, href: newOn('domains') },
    {
      name: 'records',
      isDone: verified !== undefined,
      note: verified?.domain,
      href: first === undefined ? newOn('domains') : team.href('domains', first.id),
    },
    {
      name: 'mailbox',
      isDone: mailboxes.length > 0,
      note: shortAddress(mailboxes[0]?.email),
      href: newOn('mailboxes'),
    },
    {
      name: 'person',
      isDone: members.length > 1,
      note: members[1]?.display_name ?? shortAddress(members[1]?.email),
      href: newOn('people'),
    },
    { name: 'received', isDone: totals.received > 0, note: count(totals.received), href: team.href('inbound') },
    { name: 'sent', isDone: totals.accepted > 0, note: count(totals.accepted), href: team.href('mailboxes') },
    {
      name: 'webhook',
      isDone: programs > 0,
      note: words.webhooks(programs),
      href: newOn('webhooks'),
    },
    { name: 'second', isDone: (ways?.passkeys ?? 0) > 1 || (ways?.recovery_codes ?? 0) > 0, href: '/me/sign-in' },
  ]
}

/** "ana@": which domain it is says the first line. */
const shortAddress = (email: string | undefined) => email?.replace(/@.*$/, '@')

/** For those whose role can take the steps. */
export function FirstSteps() {
  const team = useTeam()
  const found = useQuery([team.id, 'first-steps'], () => findOut(team), {
    every: REFRESH_MS,
    when: team.may('domain.create'),
  })
  // Steps that were done stay done: an answer that is missing for a moment changes none.
  if (found.failure !== null)
    return <ErrorCard error={found.failure} title={words.stepsMissing} onRetry={found.refetch} />
  if (found.data === undefined) return null
  const steps = stepsOf(team, found.data)
  const open = steps.filter(({ isDone }) => !isDone)
  if (open.length === 0) return null
  return (
    <section class="card">
      <div class="card-pad">
        <div class="row wide">
          <h2>{words.steps}</h2>
          <span class="soft meta">{words.stepsDone(steps.length - open.length, steps.length)}</span>
        </div>
        <div class="steps-bar" aria-hidden="true">
          {steps.map(({ name, isDone }) => (
            <span key={name} class={isDone ? 'done' : ''} />
          ))}
        </div>
        <ul>
          {steps
            .filter((step) => step !== open[0])
            .map((step) => (
              <StepRow key={step.name} step={step} />
            ))}
        </ul>
      </div>
      <OpenStep step={open[0]!} />
    </section>
  )
}

function StepRow({ step: { name, isDone, note } }: { step: Step }) {
  return (
    <li class="step-row">
      <Icon name={isDone ? 'check' : 'circle'} tone={isDone ? 'good' : 'soft'} />
      <span class="nowrap">{words.step[name].name}</span>
      {isDone && note !== undefined && <bdi class="end cut">{note}</bdi>}
    </li>
  )
}

function OpenStep({ step: { name, href } }: { step: Step }) {
  const { name: title, text, verb } = words.step[name]
  return (
    <div class="step-open">
      <Icon name="circle-dot" />
      <h3>{title}</h3>
      <p class="soft">{text}</p>
      <div class="row">
        <ButtonLink kind="primary" size="short" href={href}>
          {verb}
        </ButtonLink>
        {name === SECOND && (
          <ButtonLink size="short" href={href}>
            {words.step.second.other}
          </ButtonLink>
        )}
      </div>
    </div>
  )
}
