// A new app password: the form, and what is shown once with the settings of the mail program and a code for the phone.

import { useState } from 'preact/hooks'
import type { NewAppPassword } from '../api/types.ts'
import { useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { common } from '../words/en/common.ts'
import { mailboxes as words } from '../words/en/mailboxes.ts'
import type { MailboxRequests } from './mailbox-requests.ts'
import { ProgramSettings } from './program-settings.tsx'

type Access = keyof typeof words.accesses

/** What an app password may, by the choice of the form; everything when it is left out. */
const PERMISSIONS = { all: undefined, read: ['mailbox.read' as const], send: ['email.send' as const] }

interface NewPasswordProps {
  mailbox: MailboxRequests
  onMade: (password: NewAppPassword) => void
  onClose: () => void
}

export function NewPassword({ mailbox, onMade, onClose }: NewPasswordProps) {
  const headerOf = useRequestKey()
  const [name, setName] = useState('')
  const [access, setAccess] = useState<Access>('all')
  const action = useAction(async () => {
    const body = { name: name.trim(), permissions: PERMISSIONS[access] }
    onMade(await mailbox.createPassword(body, headerOf(body)))
  })
  const error = action.error?.fieldMessage('name')
  const foot = <FormFoot verb={words.addPassword} action={action} onClose={onClose} />
  const choices = (Object.keys(words.accesses) as Access[]).map((value) => ({ value, label: words.accesses[value] }))
  return (
    <Dialog
      title={words.addPassword}
      foot={foot}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField
        label={words.passwordName}
        hint={words.passwordNameHint}
        value={name}
        onValue={setName}
        error={error}
        hasFocus
      />
      <SelectField label={words.access} value={access} choices={choices} onValue={setAccess} />
    </Dialog>
  )
}

interface ShownPasswordProps {
  mailbox: Pick<MailboxRequests, 'id' | 'email' | 'clientSettings'>
  password: NewAppPassword
  onClose: () => void
}

export function ShownPassword({ mailbox, password, onClose }: ShownPasswordProps) {
  return (
    <Dialog
      title={words.passwordTitle(password.name)}
      isWide
      onClose={onClose}
      foot={<Button onPress={onClose}>{common.done}</Button>}
    >
      <p class="soft">{common.shownOnce}</p>
      <ProgramSettings mailbox={mailbox} password={password} />
    </Dialog>
  )
}
