// What waits for a decision of the person: one at a time, with what is known of who asks, and the answers.

import { useState } from 'preact/hooks'
import { type Approval, type ApprovalAction, decide, listApprovals } from '../api/agents.ts'
import { exact } from '../base/dates.ts'
import { focusTitle } from '../base/focus.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Fact } from '../parts/facts.tsx'
import { Check } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Icon } from '../parts/icon.tsx'
import { Time } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { approvals as words } from '../words/en/approvals.ts'

const REFRESH_MS = 60_000

/** What waits for the person; asked again after a while, and when the stream says so. */
export function useApprovals() {
  return useQuery(['approvals'], listApprovals, { every: REFRESH_MS })
}

/** One at a time: two answers on one page would be two tasks. */
export function ApprovalCard({ approvals }: { approvals: readonly Approval[] }) {
  const [at, setAt] = useState(0)
  const index = Math.min(at, approvals.length - 1)
  const shown = approvals[index]
  if (shown === undefined) return null
  const pager = approvals.length > 1 && (
    <span class="row soft meta nowrap">
      {words.of(index + 1, approvals.length)}
      <IconButton
        icon="chevron-left"
        label={words.earlier}
        onPress={() => setAt((index + approvals.length - 1) % approvals.length)}
      />
      <IconButton icon="chevron-right" label={words.later} onPress={() => setAt((index + 1) % approvals.length)} />
    </span>
  )
  return (
    <section class="card approval" aria-label={words.title}>
      <div class="approval-head">
        <span class="approval-sign hue-7">
          <Icon name={shown.kind === 'limit_request' ? 'gauge' : 'bot'} />
        </span>
        <div>
          <h2 class="sub">
            <Foreign>{words.headlines[shown.kind](shown.subject)}</Foreign>
          </h2>
          <p class="soft meta">{words.notes[shown.kind]}</p>
        </div>
        {pager}
      </div>
      <Facts approval={shown} />
      <Answers key={shown.id} approval={shown} />
    </section>
  )
}

/** What the title says is not said again. */
function Facts({ approval: { subject, facts, created_at, expires_at } }: { approval: Approval }) {
  return (
    <dl class="facts approval-body">
      {facts
        .filter(({ value }) => value !== subject)
        .map(({ label, value, untrusted }) => (
          <Fact key={label} name={label}>
            <Foreign>{/^\d{4}-\d\d-\d\dT/.test(value) ? exact(value) : value}</Foreign>{' '}
            {untrusted && <span class="soft meta">{words.notVerified}</span>}
          </Fact>
        ))}
      <Fact name={words.asked}>
        <Time at={created_at} as="relative" />
      </Fact>
      {expires_at !== null && <Fact name={words.until}>{exact(expires_at)}</Fact>}
    </dl>
  )
}

function Answers({ approval }: { approval: Approval }) {
  const [allowsSending, setAllowsSending] = useState(false)
  const [isRefusing, setRefusing] = useState(false)
  const answer = useAnswer(approval)
  const actionOf = (name: ApprovalAction['name']) => approval.actions.find((action) => action.name === name)
  const approve = actionOf('approve')
  const mayAllow = approve?.options.includes('allow_sending') ?? false
  return (
    <>
      {answer.error !== null && !isRefusing && (
        <div class="card-pad">
          <ErrorCard error={answer.error} />
        </div>
      )}
      <div class="approval-foot">
        {approve !== undefined && (
          <Button
            kind="primary"
            icon="check"
            isBusy={answer.isBusy && !isRefusing}
            onPress={() => void answer.run('approve', mayAllow ? { allow_sending: allowsSending } : {})}
          >
            {words.approve[approval.kind]}
          </Button>
        )}
        {actionOf('deny') !== undefined && <Button onPress={() => setRefusing(true)}>{words.deny}</Button>}
        {mayAllow && <Check label={words.allowSending} isOn={allowsSending} onChange={setAllowsSending} />}
      </div>
      {isRefusing && <Refuse approval={approval} answer={answer} onClose={() => setRefusing(false)} />}
    </>
  )
}

function useAnswer({ id }: Approval) {
  return useAction(async (name: ApprovalAction['name'], options: Record<string, boolean>) => {
    await decide(id, name, options)
    refresh('approvals')
    refresh('agents')
    focusTitle()
    say(name === 'approve' ? words.approved : words.denied)
  })
}

interface RefuseProps {
  approval: Approval
  answer: ReturnType<typeof useAnswer>
  onClose: () => void
}

function Refuse({ approval: { kind, subject, actions }, answer, onClose }: RefuseProps) {
  const [optsOut, setOptsOut] = useState(false)
  const mayOptOut = actions.some(({ name, options }) => name === 'deny' && options.includes('opt_out'))
  return (
    <Dialog
      title={words.denyTitle(subject)}
      foot={<FormFoot verb={words.deny} action={answer} onClose={onClose} />}
      error={answer.error}
      onClose={onClose}
      onSubmit={() => void answer.run('deny', mayOptOut ? { opt_out: optsOut } : {})}
    >
      <p>{words.denyText[kind]}</p>
      {mayOptOut && <Check label={words.optOut} isOn={optsOut} onChange={setOptsOut} />}
    </Dialog>
  )
}
