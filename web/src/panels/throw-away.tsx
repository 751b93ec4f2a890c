// The throw-away addresses of a mailbox: made for one correspondent, paused and ended.

import { useState } from 'preact/hooks'
import type { ThrowAwayAddress } from '../api/types.ts'
import { day } from '../base/dates.ts'
import { refresh, useAction, usePages } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { State } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Empty, ErrorCard } from '../parts/quiet.tsx'
import { SearchedList } from '../parts/searched-list.tsx'
import type { Column } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { throwAway as words } from '../words/en/throw-away.ts'
import type { MailboxRequests } from './mailbox-requests.ts'

const KEY = 'throw-away-addresses'

export function ThrowAway({ mailbox }: { mailbox: MailboxRequests }) {
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<ThrowAwayAddress | null>(null)
  const pages = usePages([mailbox.actor, KEY, mailbox.id], mailbox.listThrowAway)
  const change = useAction(async (work: () => Promise<void>) => {
    await work()
    refresh(mailbox.actor, KEY, mailbox.id)
  })
  const end = ({ id, email }: ThrowAwayAddress) =>
    change.run(async () => {
      await mailbox.endThrowAway(id)
      setLeaving(null)
      say(words.ended(email))
    })
  const pause = ({ id, paused }: ThrowAwayAddress) => void change.run(() => mailbox.pauseThrowAway(id, !paused))
  const add = mailbox.mayManage && (
    <Button icon="plus" onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Section title={words.title} note={words.note} actions={pages.items.length > 0 && add}>
      {change.error !== null && leaving === null && <ErrorCard error={change.error} />}
      <SearchedList
        label={words.title}
        pages={pages}
        textOf={({ email, made_for: madeFor }) => `${email} ${madeFor}`}
        isTall
        isNamed
        columns={columnsOf(mailbox.mayManage, pause, setLeaving)}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="at-sign" title={words.emptyTitle} action={add}>
            {words.emptyText}
          </Empty>
        }
      />
      {isAdding && <NewAddress mailbox={mailbox} onClose={() => setAdding(false)} />}
      {leaving !== null && (
        <Confirm
          title={words.endTitle(leaving.email)}
          verb={words.end}
          isBusy={change.isBusy}
          error={change.error}
          onConfirm={() => void end(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.endText}
        </Confirm>
      )}
    </Section>
  )
}

function columnsOf(
  mayManage: boolean,
  pause: (row: ThrowAwayAddress) => void,
  askToEnd: (row: ThrowAwayAddress) => void,
): Column<ThrowAwayAddress>[] {
  return [
    {
      head: words.address,
      cell: ({ email, made_for: madeFor }) => (
        <span class="two-lines">
          <CodeValue text={email} what={words.address} />
          <Foreign>{madeFor}</Foreign>
        </span>
      ),
    },
    {
      head: words.state,
      cell: ({ paused_at: at }) => (
        <State tone={at === null ? 'good' : 'warn'}>{at === null ? words.receives : words.paused(day(at))}</State>
      ),
    },
    {
      head: '',
      cell: (row) =>
        mayManage && (
          <span class="row end-row">
            <Button
              size="short"
              label={row.paused ? words.resumeLabel(row.email) : words.pauseLabel(row.email)}
              onPress={() => pause(row)}
            >
              {row.paused ? words.resume : words.pause}
            </Button>
            <IconButton icon="trash-2" label={words.endLabel(row.email)} onPress={() => askToEnd(row)} />
          </span>
        ),
      class: 'number',
    },
  ]
}

function NewAddress({ mailbox, onClose }: { mailbox: MailboxRequests; onClose: () => void }) {
  const headerOf = useRequestKey()
  const [madeFor, setMadeFor] = useState('')
  const make = useAction(async () => {
    const body = { made_for: madeFor.trim() }
    const { email } = await mailbox.makeThrowAway(body, headerOf(body))
    refresh(mailbox.actor, KEY, mailbox.id)
    say(words.made(email))
    onClose()
  })
  const wrong = make.error?.fieldMessage('made_for')
  return (
    <Dialog
      title={words.add}
      foot={<FormFoot verb={words.add} action={make} onClose={onClose} />}
      error={wrong === undefined ? make.error : null}
      onClose={onClose}
      onSubmit={() => void make.run()}
    >
      <TextField
        label={words.madeFor}
        value={madeFor}
        onValue={setMadeFor}
        hint={words.madeForHint}
        error={wrong}
        isRequired
        hasFocus
      />
    </Dialog>
  )
}
