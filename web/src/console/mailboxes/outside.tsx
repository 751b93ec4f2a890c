// The outside account that a mailbox is or collects from: its state in a sentence, how far its import is, and what can be done.

import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { done, take } from '../../api/client.ts'
import type { RemoteAccount } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Bar, ToneLine } from '../../parts/marks.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { outside as words } from '../../words/en/outside.ts'
import { useTeam } from '../team.ts'
import { RemovedMessages } from './removed.tsx'

/** Between two looks while the page is shown, ms. */
const LOOK_MS = 3000
type Verb = 'pause' | 'resume'
type Side = RemoteAccount['held_removals'][number]['at']
/** What a person chose to do about a held removal. */
interface Decision {
  side: Side
  verb: 'confirm-removal' | 'undo-removal'
}

export function OutsideState({ id }: { id: string }) {
  const team = useTeam()
  const path = { remote_account_id: id }
  const query = useQuery(
    [team.id, 'mailboxes', 'outside', id],
    () => take(team.api.GET('/remote-accounts/{remote_account_id}', { params: { path } })),
    // The stream does not report the progress of an import.
    { every: LOOK_MS, when: team.may('remote.read'), isAlone: true },
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  return query.data === undefined ? null : <Shown account={query.data} />
}

function Shown({ account }: { account: RemoteAccount }) {
  const team = useTeam()
  const [open, setOpen] = useState<'password' | Decision | null>(null)
  const path = { remote_account_id: account.id }
  const act = useAction(async (verb: Verb) => {
    const route = `/remote-accounts/{remote_account_id}/${verb}` as const
    await done(team.api.POST(route, { params: { path } }))
    setOpen(null)
    refresh(team.id, 'mailboxes', 'outside', account.id)
  })
  const { allowed_actions: may, import: progress, held_removals: held } = account
  const isImporting = account.status === 'importing' && progress.messages_total > 0
  return (
    <ToneLine tone={toneOf(account)}>
      <div class="stack tight">
        <span>{sentenceOf(account)}</span>
        {isImporting && <Bar share={progress.messages_done / progress.messages_total} isNeutral />}
        {held.map(({ at }) => (
          <span key={at}>{words.held[at]}</span>
        ))}
        {account.differences.map((one) => (
          <span key={`${one.kind} ${one.folder}`}>{`${one.sentence} ${one.next_step}`}</span>
        ))}
        {act.error !== null && open === null && <ErrorCard error={act.error} />}
        {team.may('remote.manage') && (
          <span class="row wrap">
            {may.pause && (
              <Button size="short" icon="pause" isBusy={act.isBusy} onPress={() => void act.run('pause')}>
                {words.pause}
              </Button>
            )}
            {may.resume && (
              <Button size="short" icon="play" isBusy={act.isBusy} onPress={() => void act.run('resume')}>
                {words.resume}
              </Button>
            )}
            {account.has_password && account.status === 'error' && team.may('remote.update') && (
              <Button size="short" icon="key-round" onPress={() => setOpen('password')}>
                {words.newPassword}
              </Button>
            )}
            {held.map(({ at }) => (
              <DecisionButtons key={at} side={at} onChoose={setOpen} />
            ))}
          </span>
        )}
        {account.mode === 'mirror' && <RemovedMessages id={account.id} />}
      </div>
      {open === 'password' && <NewSecret account={account} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'password' && (
        <DecideRemoval account={account} decision={open} onClose={() => setOpen(null)} />
      )}
    </ToneLine>
  )
}

function DecisionButtons({ side, onChoose }: { side: Side; onChoose: (decision: Decision) => void }) {
  return (
    <Fragment>
      <Button size="short" icon="undo-2" onPress={() => onChoose({ side, verb: 'undo-removal' })}>
        {words.undoRemoval}
      </Button>
      <Button size="short" kind="danger" onPress={() => onChoose({ side, verb: 'confirm-removal' })}>
        {words.confirmRemoval[side]}
      </Button>
    </Fragment>
  )
}

interface DecisionProps {
  account: RemoteAccount
  decision: Decision
  onClose: () => void
}

function DecideRemoval({ account, decision: { side, verb }, onClose }: DecisionProps) {
  const team = useTeam()
  const confirm = useAction(async () => {
    const params = { path: { remote_account_id: account.id } }
    const route = `/remote-accounts/{remote_account_id}/${verb}` as const
    await done(team.api.POST(route, { params, body: { at: side } }))
    refresh(team.id, 'mailboxes', 'outside', account.id)
    onClose()
  })
  const isUndo = verb === 'undo-removal'
  return (
    <Confirm
      title={isUndo ? words.undoTitle[side] : words.confirmTitle[side]}
      verb={isUndo ? words.undoRemoval : words.confirmRemoval[side]}
      isBusy={confirm.isBusy}
      error={confirm.error}
      onConfirm={() => void confirm.run()}
      onClose={onClose}
    >
      {isUndo ? words.undoText[side] : words.confirmText[side]}
    </Confirm>
  )
}

function NewSecret({ account, onClose }: { account: RemoteAccount; onClose: () => void }) {
  const team = useTeam()
  const [password, setPassword] = useState('')
  const save = useAction(async () => {
    const params = { path: { remote_account_id: account.id } }
    await done(team.api.PATCH('/remote-accounts/{remote_account_id}', { params, body: { password } }))
    refresh(team.id, 'mailboxes', 'outside', account.id)
    onClose()
  })
  return (
    <Dialog
      title={words.newPasswordTitle(account.email)}
      foot={<FormFoot verb={words.save} action={save} isOff={password === ''} onClose={onClose} />}
      error={save.error}
      onClose={onClose}
      onSubmit={() => void save.run()}
    >
      <TextField
        label={words.password}
        hint={words.passwordHint}
        type="password"
        autoComplete="off"
        value={password}
        onValue={setPassword}
        hasFocus
      />
    </Dialog>
  )
}

function toneOf({ status, differences, allowed_actions: may }: RemoteAccount): 'good' | 'warn' | 'danger' | '' {
  if (status === 'error') return 'danger'
  if (status === 'delayed' || status === 'paused' || may.confirm_removal || differences.length > 0) return 'warn'
  return status === 'active' ? 'good' : ''
}

function sentenceOf(account: RemoteAccount): string {
  const { status, status_reason: reason, import: progress, held_removals: held, differences } = account
  const why = reason ?? words.unknown
  if (status === 'error') return words.error(why)
  if (status === 'delayed') return words.delayed(why)
  if (status === 'active' && differences.length > 0 && held.length === 0) return words.differs
  if (status === 'active' && reason !== null && held.length === 0) return reason
  if (status === 'active' && held.length > 0) return words.waiting
  if (status === 'active' && account.mode === 'collect') return words.upToDate
  if (status !== 'importing') return words[status]
  const { messages_done: here, messages_total: total } = progress
  return total === 0 ? words.counting : words.importing(count(here), count(total))
}
