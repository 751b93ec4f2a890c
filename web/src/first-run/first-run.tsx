// The first run: owner and team, domain with its records, mailbox with an app password, and the first message.

import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { apiAs } from '../api/client.ts'
import { readFirstRun } from '../api/first-run.ts'
import { loadSelf, self } from '../api/session.ts'
import type { Domain, MailboxAdmin } from '../api/types.ts'
import { useQuery } from '../live/query.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { firstRun as words } from '../words/en/first-run.ts'
import { DomainStep } from './domain-step.tsx'
import { MailboxStep } from './mailbox-step.tsx'
import { MessageStep } from './message-step.tsx'
import { OwnerStep } from './owner-step.tsx'
import { BEGINNING, findProgress, firstStep, noteProgress, type Progress, type StepName } from './progress.ts'
import { ServerStep } from './server-step.tsx'

const STEPS = Object.keys(words.steps) as StepName[]

/** Where Back leads; an owner stays one. */
const EARLIER: Readonly<Partial<Record<StepName, StepName>>> = {
  domain: 'server',
  mailbox: 'domain',
  message: 'mailbox',
}

/** The token is behind `#`: browsers do not send it. */
const tokenInAddress = () => location.hash.slice(1)

async function findOut() {
  const { open, allowed } = await readFirstRun()
  return { allowed, progress: open ? BEGINNING : await findProgress() }
}

export function FirstRun() {
  const [token] = useState(tokenInAddress)
  const found = useQuery(['first-run'], findOut)
  useEffect(() => {
    document.title = words.title
  }, [])
  if (found.error !== null) return <ErrorCard error={found.error} onRetry={found.refetch} />
  if (found.data === undefined) return <Skeleton />
  const { allowed, progress } = found.data
  if (progress === null) return <Closed />
  return <Steps token={token} allowed={allowed} start={progress} />
}

/** There is an owner, and it is not the person at this browser. */
function Closed() {
  return (
    <main class="alone">
      <div class="alone-main">
        <Mark size="huge" />
        <h1>{words.title}</h1>
        <Empty
          icon="lock"
          title={words.closedTitle}
          action={<ButtonLink href="/console">{words.toConsole}</ButtonLink>}
        >
          {words.closedText}
        </Empty>
      </div>
    </main>
  )
}

function Steps({ token, allowed, start }: { token: string; allowed: readonly string[]; start: Progress }) {
  const [progress, setProgress] = useState(start)
  const { step, domain, mailbox } = progress
  const go = (change: Partial<Progress>) => setProgress((now) => ({ ...now, ...change }))
  // Before the step is seen: a reload goes on with it.
  useLayoutEffect(() => noteProgress(progress), [progress])
  const team = self.value?.teams[0]
  const signedIn = async () => {
    await loadSelf()
    go({ step: firstStep() })
  }
  return (
    <div class="set-up">
      <aside class="set-up-side" aria-label={words.title}>
        <p class="set-up-brand">
          <Mark size="large" /> {common.product}
        </p>
        <ol class="stack set-up-steps">
          {STEPS.map((name, index) => (
            <StepLine
              key={name}
              name={name}
              index={index}
              current={STEPS.indexOf(step)}
              note={noteOf(name, domain, mailbox)}
            />
          ))}
        </ol>
        <p class="set-up-foot">{words.foot}</p>
      </aside>
      <main class="set-up-main">
        {step === 'owner' && <OwnerStep token={token} allowed={allowed} onDone={() => void signedIn()} />}
        {step === 'server' && <ServerStep onDone={() => go({ step: 'domain' })} />}
        {step === 'domain' && team !== undefined && (
          <DomainStep
            api={apiAs(team.id)}
            domain={domain}
            onMade={(made) => go({ domain: made })}
            onDone={() => go({ step: 'mailbox' })}
          />
        )}
        {step === 'mailbox' && team !== undefined && domain !== null && (
          <MailboxStep
            api={apiAs(team.id)}
            domain={domain}
            mailbox={mailbox}
            onMade={(made) => go({ mailbox: made })}
            onDone={() => go({ step: 'message' })}
          />
        )}
        {step === 'message' && team !== undefined && mailbox !== null && (
          <MessageStep team={team} mailbox={mailbox} wasSent={progress.isSent} onSent={() => go({ isSent: true })} />
        )}
        <BackOrSkip step={step} teamId={team?.id ?? ''} go={(earlier) => go({ step: earlier })} />
      </main>
    </div>
  )
}

interface BackOrSkipProps {
  step: StepName
  teamId: string
  go: (step: StepName) => void
}

function BackOrSkip({ step, teamId, go }: BackOrSkipProps) {
  const earlier = step === 'domain' && firstStep() !== 'server' ? undefined : EARLIER[step]
  if (earlier === undefined) return null
  return (
    <div class="row wrap">
      <Button kind="quiet" icon="chevron-left" onPress={() => go(earlier)}>
        {common.back}
      </Button>
      {step !== 'message' && (
        <ButtonLink kind="quiet" href={`/console/${teamId}`}>
          {words.finishLater}
        </ButtonLink>
      )}
    </div>
  )
}

/** What a finished step made. */
function noteOf(name: StepName, domain: Domain | null, mailbox: MailboxAdmin | null): string {
  const made = {
    owner: self.value?.email,
    server: undefined,
    domain: domain?.domain,
    mailbox: mailbox?.email,
    message: undefined,
  }[name]
  return made ?? words.steps[name].note
}

function StepLine({ name, index, current, note }: { name: StepName; index: number; current: number; note: string }) {
  const isDone = index < current
  return (
    <li class="set-up-step" aria-current={index === current ? 'step' : undefined}>
      <span class={`step-sign ${isDone ? 'done' : index === current ? 'now' : ''}`}>
        {isDone ? <Icon name="check" size="small" /> : index + 1}
      </span>
      <b>{words.steps[name].name}</b>
      <span />
      <span class="soft meta cut">{note}</span>
    </li>
  )
}
