// What an operator does to a person: ends their sessions, hands them a link, and makes them an operator or withdraws it.

import { useState } from 'preact/hooks'
import { operatorApi, take } from '../api/client.ts'
import type { OperatorPerson } from '../api/operator.ts'
import { exact } from '../base/dates.ts'
import { refresh, useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Secret } from '../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../parts/dialog.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { operatorPeople as words } from '../words/en/operator-users.ts'

interface PersonDialogProps {
  person: OperatorPerson
  onClose: () => void
}

export function EndSessions({ person: { email }, onClose }: PersonDialogProps) {
  const action = useAction(async () => {
    await take(operatorApi.DELETE('/people/{email}/sessions', { params: { path: { email } } }))
    refresh('operator', 'people')
    say(words.ended(email))
    onClose()
  })
  return (
    <Confirm
      title={words.endTitle(email)}
      verb={words.endSessions}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.endText}
    </Confirm>
  )
}

const setOperator = (email: string, isOperator: boolean) =>
  take(operatorApi.PUT('/people/{email}/operator', { params: { path: { email } }, body: { is_operator: isOperator } }))

/** Makes a person an operator, or withdraws it. */
export function SetOperator({ person: { email, is_operator: isOne }, onClose }: PersonDialogProps) {
  const action = useAction(async () => {
    await setOperator(email, !isOne)
    refresh('operator', 'people')
    say(isOne ? words.withdrawn(email) : words.granted(email))
    onClose()
  })
  return (
    <Confirm
      title={isOne ? words.withdrawTitle(email) : words.grantTitle(email)}
      verb={isOne ? words.withdraw : words.grant}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {isOne ? words.withdrawText : words.grantText}
    </Confirm>
  )
}

/** Also someone who is in no team yet. */
export function NewOperator({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const action = useAction(async () => {
    const made = await setOperator(email.trim(), true)
    refresh('operator', 'people')
    say(words.granted(made.email))
    onClose()
  })
  const error = action.error?.fieldMessage('email')
  return (
    <Dialog
      title={words.add}
      foot={<FormFoot verb={words.grant} action={action} isOff={email.trim() === ''} onClose={onClose} />}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <p>{words.grantText}</p>
      <TextField
        label={words.address}
        hint={words.addHint}
        type="email"
        value={email}
        onValue={setEmail}
        error={error}
        hasFocus
      />
    </Dialog>
  )
}

export function SignInLink({ person: { email, teams }, onClose }: PersonDialogProps) {
  const [teamId, setTeamId] = useState(teams[0]?.id ?? '')
  const [link, setLink] = useState<{ url: string; until: string } | null>(null)
  const make = useAction(async () => {
    const params = { path: { email } }
    const made = await take(operatorApi.POST('/people/{email}/sign-in-link', { params, body: { team_id: teamId } }))
    setLink({ url: made.url, until: made.expires_at })
  })
  if (link !== null) {
    return (
      <Dialog title={words.linkTitle(email)} foot={<Button onPress={onClose}>{common.done}</Button>} onClose={onClose}>
        <Secret text={link.url} />
        <p class="soft">{words.linkUntil(exact(link.until))}</p>
      </Dialog>
    )
  }
  return (
    <Dialog
      title={words.linkTitle(email)}
      foot={<FormFoot verb={words.makeLink} action={make} onClose={onClose} />}
      error={make.error}
      onClose={onClose}
      onSubmit={() => void make.run()}
    >
      <p>{words.linkText}</p>
      <SelectField
        label={words.team}
        value={teamId}
        choices={teams.map(({ id, name }) => ({ value: id, label: name }))}
        onValue={setTeamId}
      />
    </Dialog>
  )
}
