// The dialog that adds a forward: where to, and whether a copy stays.

import { useState } from 'preact/hooks'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { Check, SelectField, TextField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { forwards as words } from '../words/en/forwards.ts'
import type { MailboxRequests } from './mailbox-requests.ts'

export function NewForward({ mailbox, onClose }: { mailbox: MailboxRequests; onClose: () => void }) {
  const headerOf = useRequestKey()
  const [to, setTo] = useState('')
  const [alias, setAlias] = useState('')
  const [keepsCopy, setKeepsCopy] = useState(true)
  const aliases = useQuery([mailbox.actor, 'aliases', mailbox.id, 'choices'], mailbox.listAliases)
  const choices = [
    { value: '', label: words.all },
    ...(aliases.data ?? []).map((email) => ({ value: email, label: words.alias(email) })),
  ]
  const add = useAction(async () => {
    const body = { to: to.trim(), keep_copy: keepsCopy, ...(alias === '' ? {} : { alias }) }
    await mailbox.createForward(body, headerOf(body))
    refresh(mailbox.actor, 'forwards', mailbox.id)
    say(words.asked(body.to))
    onClose()
  })
  const wrongAddress = add.error?.fieldMessage('to')
  return (
    <Dialog
      title={words.addTitle}
      foot={<FormFoot verb={words.add} action={add} onClose={onClose} />}
      error={wrongAddress === undefined ? add.error : null}
      onClose={onClose}
      onSubmit={() => void add.run()}
    >
      <TextField
        label={words.to}
        type="email"
        inputMode="email"
        value={to}
        onValue={setTo}
        hint={words.toHint}
        error={wrongAddress}
        hasFocus
      />
      {choices.length > 1 && <SelectField label={words.which} value={alias} choices={choices} onValue={setAlias} />}
      <Check label={words.keepCopy} note={words.keepCopyNote} isOn={keepsCopy} onChange={setKeepsCopy} />
    </Dialog>
  )
}
