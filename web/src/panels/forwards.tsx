// Where mail of a mailbox goes on to: addresses whose owners confirmed it.

import { useState } from 'preact/hooks'
import type { Forward } from '../api/types.ts'
import { day } from '../base/dates.ts'
import { refresh, useAction, usePages } from '../live/query.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Check } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import type { Tone } from '../parts/icon.tsx'
import { State } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Empty, ErrorCard } from '../parts/quiet.tsx'
import { SearchedList } from '../parts/searched-list.tsx'
import type { Column } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { forwards as words } from '../words/en/forwards.ts'
import type { MadeForward, MailboxRequests } from './mailbox-requests.ts'
import { NewForward } from './new-forward.tsx'

type Status = Forward['status']

const TONES: Readonly<Record<Status, Tone>> = {
  pending: 'warn',
  active: 'good',
  expired: '',
  declined: 'danger',
  ended: '',
}

export function Forwards({ mailbox }: { mailbox: MailboxRequests }) {
  const { mayManage } = mailbox
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Forward | null>(null)
  const pages = usePages([mailbox.actor, 'forwards', mailbox.id], mailbox.listForwards)
  const changes = useChanges(mailbox, () => setLeaving(null))
  const addButton = mayManage && (
    <Button kind="primary" icon="plus" onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Section title={words.title} note={words.note} actions={pages.items.length > 0 && addButton}>
      {changes.error !== null && leaving === null && <ErrorCard error={changes.error} />}
      <SearchedList
        label={words.title}
        pages={pages}
        textOf={({ to: email, id, maker }) => `${email} ${id} ${maker ?? ''}`}
        isTall
        isNamed
        columns={columnsOf(mayManage, changes, setLeaving)}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="forward" title={words.emptyTitle} action={addButton}>
            {words.emptyText}
          </Empty>
        }
      />
      {isAdding && <NewForward mailbox={mailbox} onClose={() => setAdding(false)} />}
      {leaving !== null && (
        <Confirm
          title={words.removeTitle(leaving.to)}
          verb={words.remove}
          isBusy={changes.isBusy}
          error={changes.error}
          onConfirm={() => changes.remove(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.removeText}
        </Confirm>
      )}
    </Section>
  )
}

/** What is done with a forward: one at a time. */
function useChanges(mailbox: MailboxRequests, onRemoved: () => void) {
  const action = useAction(async (work: () => Promise<void>) => {
    await work()
    refresh(mailbox.actor, 'forwards', mailbox.id)
  })
  return {
    ...action,
    keepCopy: (forward: Forward, keep: boolean) => void action.run(() => mailbox.keepCopy(forward.id, keep)),
    askAgain: (forward: Forward) =>
      void action.run(async () => {
        await mailbox.askAgain(forward.id)
        say(words.sentAgain(forward.to))
      }),
    remove: (forward: Forward) =>
      void action.run(async () => {
        await mailbox.removeForward(forward.id)
        onRemoved()
        say(words.removed(forward.to))
      }),
  }
}

/** The state, and since or until when. */
function ForwardState({ forward }: { forward: Forward }) {
  const { status, suppressed, expires_at, confirmed_at, ended_at } = forward
  const when =
    status === 'pending' && expires_at !== null
      ? words.until(day(expires_at))
      : status === 'active' && confirmed_at !== null
        ? words.since(day(confirmed_at))
        : ended_at === null
          ? ''
          : words.on(day(ended_at))
  return (
    <span class="two-lines">
      <State
        tone={suppressed ? 'warn' : TONES[status]}
        icon={status === 'pending' && !suppressed ? 'clock' : undefined}
      >
        {suppressed ? words.suppressed : words.states[status]}
      </State>
      <span>{when}</span>
    </span>
  )
}

function columnsOf(
  mayManage: boolean,
  changes: ReturnType<typeof useChanges>,
  askToRemove: (forward: Forward) => void,
): Column<MadeForward>[] {
  return [
    {
      head: words.to,
      cell: ({ to, alias, maker }) => (
        <span class="two-lines">
          <span class="strong">
            <Foreign>{to}</Foreign>
          </span>
          <span>
            {alias === null ? words.everything : words.alias(alias)}
            {maker !== null && <Foreign>{words.madeBy(maker)}</Foreign>}
          </span>
        </span>
      ),
    },
    { head: words.state, cell: (forward) => <ForwardState forward={forward} /> },
    {
      head: words.copy,
      cell: (forward) =>
        mayManage ? (
          <Check
            label={<span class="hidden-word">{words.keepsLabel(forward.to)}</span>}
            note={forward.keep_copy ? words.keeps : words.keepsNot}
            isOn={forward.keep_copy}
            onChange={(keep) => changes.keepCopy(forward, keep)}
          />
        ) : (
          <span class="soft">{forward.keep_copy ? words.keeps : words.keepsNot}</span>
        ),
    },
    {
      head: '',
      cell: (forward) => mayManage && <Ways forward={forward} changes={changes} askToRemove={askToRemove} />,
      class: 'number',
    },
  ]
}

interface WaysProps {
  forward: Forward
  changes: ReturnType<typeof useChanges>
  askToRemove: (forward: Forward) => void
}

function Ways({ forward, changes, askToRemove }: WaysProps) {
  return (
    <span class="row end-row">
      {(forward.status === 'pending' || forward.status === 'expired') && (
        <Button size="short" label={words.sendAgainTo(forward.to)} onPress={() => changes.askAgain(forward)}>
          {words.sendAgain}
        </Button>
      )}
      <IconButton icon="trash-2" label={words.removeOf(forward.to)} onPress={() => askToRemove(forward)} />
    </span>
  )
}
