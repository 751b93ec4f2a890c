// The first run: owner and team, domain with its records, mailbox with an app password, and the first message.

import { useEffect, useState } from 'preact/hooks'
import { apiAs } from '../api/client.ts'
import { readFirstRun } from '../api/first-run.ts'
import { loadSelf, self } from '../api/session.ts'
import type { Domain, MailboxAdmin } from '../api/types.ts'
import { useQuery } from '../live/query.ts'
import { ButtonLink } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { firstRun as words } from '../words/en/first-run.ts'
import { DomainStep } from './domain-step.tsx'
import { MailboxStep } from './mailbox-step.tsx'
import { MessageStep } from './message-step.tsx'
import { OwnerStep } from './owner-step.tsx'

type StepName = keyof typeof words.steps

const STEPS = Object.keys(words.steps) as StepName[]

/** The token is behind `#`: browsers do not send it. */
const tokenInAddress = () => location.hash.slice(1)

export function FirstRun() {
  const [token] = useState(tokenInAddress)
  const state = useQuery(['first-run'], readFirstRun)
  const [isSignedIn, setSignedIn] = useState(self.value !== null)
  useEffect(() => {
    document.title = words.title
  }, [])
  if (state.error !== null) return <ErrorCard error={state.error} onRetry={state.refetch} />
  if (state.data === undefined) return <Skeleton />
  if (!state.data.open && !isSignedIn) {
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
  return (
    <Steps token={token} allowed={state.data.allowed} isSignedIn={isSignedIn} onSignedIn={() => setSignedIn(true)} />
  )
}

interface StepsProps {
  token: string
  allowed: readonly string[]
  isSignedIn: boolean
  onSignedIn: () => void
}

function Steps({ token, allowed, isSignedIn, onSignedIn }: StepsProps) {
  const [step, setStep] = useState<StepName>(isSignedIn ? 'domain' : 'owner')
  const [domain, setDomain] = useState<Domain | null>(null)
  const [mailbox, setMailbox] = useState<MailboxAdmin | null>(null)
  const team = self.value?.teams[0]
  const signedIn = async () => {
    await loadSelf()
    // The token works once; it need not stay in the address.
    history.replaceState(null, '', location.pathname)
    onSignedIn()
    setStep('domain')
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
        {step === 'domain' && team !== undefined && (
          <DomainStep
            api={apiAs(team.id)}
            onDone={(made) => {
              setDomain(made)
              setStep('mailbox')
            }}
          />
        )}
        {step === 'mailbox' && team !== undefined && domain !== null && (
          <MailboxStep
            api={apiAs(team.id)}
            domain={domain}
            onDone={(made) => {
              setMailbox(made)
              setStep('message')
            }}
          />
        )}
        {step === 'message' && team !== undefined && mailbox !== null && <MessageStep team={team} mailbox={mailbox} />}
      </main>
    </div>
  )
}

/** What a finished step made. */
function noteOf(name: StepName, domain: Domain | null, mailbox: MailboxAdmin | null): string {
  const made = { owner: self.value?.email, domain: domain?.domain, mailbox: mailbox?.email, message: undefined }[name]
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
