// Dialogs of a team: make, rename, suspend, and a root key that is shown once.

import { useState } from 'preact/hooks'
import { operatorApi, take } from '../api/client.ts'
import type { OperatorTeam } from '../api/operator.ts'
import { refresh, useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Button } from '../parts/button.tsx'
import { Secret } from '../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { operator } from '../words/en/operator.ts'

const words = operator.teams

interface TeamDialogProps {
  team: OperatorTeam
  onClose: () => void
}

/** Changes a team, and shows the list as it is then. */
async function change(team: OperatorTeam, body: { name?: string; status?: OperatorTeam['status'] }): Promise<void> {
  await take(operatorApi.PATCH('/teams/{team_id}', { params: { path: { team_id: team.id } }, body }))
  refresh('operator', 'teams')
}

export function NewTeam({ onClose }: { onClose: () => void }) {
  const headerOf = useRequestKey()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const action = useAction(async () => {
    const body = { name: name.trim(), ...(owner.trim() === '' ? {} : { owner_email: owner.trim() }) }
    const made = await take(operatorApi.POST('/teams', { params: { header: headerOf(body) }, body }))
    refresh('operator', 'teams')
    onClose()
    say(words.made(made.name))
  })
  const errorOf = (field: string) => action.error?.fieldMessage(field)
  const isInField = errorOf('name') !== undefined || errorOf('owner_email') !== undefined
  return (
    <Dialog
      title={words.newTitle}
      foot={<FormFoot verb={words.add} action={action} isOff={name.trim() === ''} onClose={onClose} />}
      error={isInField ? null : action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField label={words.name} value={name} onValue={setName} error={errorOf('name')} hasFocus />
      <TextField
        label={words.owner}
        hint={words.ownerHint}
        type="email"
        value={owner}
        onValue={setOwner}
        error={errorOf('owner_email')}
      />
    </Dialog>
  )
}

export function RenameTeam({ team, onClose }: TeamDialogProps) {
  const [name, setName] = useState(team.name)
  const action = useAction(async () => {
    await change(team, { name: name.trim() })
    onClose()
  })
  const error = action.error?.fieldMessage('name')
  return (
    <Dialog
      title={words.renameTitle}
      foot={<FormFoot verb={common.save} action={action} isOff={name.trim() === ''} onClose={onClose} />}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField label={words.name} value={name} onValue={setName} error={error} hasFocus />
    </Dialog>
  )
}

export function SuspendTeam({ team, onClose }: TeamDialogProps) {
  const action = useAction(async () => {
    await change(team, { status: 'suspended' })
    onClose()
    say(words.suspended(team.name))
  })
  return (
    <Confirm
      title={words.suspendTitle(team.name)}
      verb={words.suspend}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.suspendText}
    </Confirm>
  )
}

export function useReactivate(team: OperatorTeam) {
  return useAction(async () => {
    await change(team, { status: 'active' })
    say(words.reactivated(team.name))
  })
}

export function TeamKey({ team, onClose }: TeamDialogProps) {
  const headerOf = useRequestKey()
  const [name, setName] = useState<string>(words.keyDefault)
  const [secret, setSecret] = useState<string | null>(null)
  const action = useAction(async () => {
    const body = { name: name.trim() }
    const params = { path: { team_id: team.id }, header: headerOf(body) }
    const made = await take(operatorApi.POST('/teams/{team_id}/api-keys', { params, body }))
    setSecret(made.key)
  })
  if (secret !== null) {
    return (
      <Dialog
        title={words.keyTitle(team.name)}
        foot={<Button onPress={onClose}>{common.done}</Button>}
        onClose={onClose}
      >
        <Secret text={secret} />
        <p class="soft">{common.shownOnce}</p>
      </Dialog>
    )
  }
  const error = action.error?.fieldMessage('name')
  return (
    <Dialog
      title={words.keyTitle(team.name)}
      foot={<FormFoot verb={words.make} action={action} isOff={name.trim() === ''} onClose={onClose} />}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <p>{words.keyText}</p>
      <TextField label={words.keyName} value={name} onValue={setName} error={error} hasFocus />
    </Dialog>
  )
}
