// Sends what the person makes of a held message in its place.

import { useState } from 'preact/hooks'
import { editHeld } from '../api/held.ts'
import type { HeldDetail } from '../api/types.ts'
import { useAction } from '../live/query.ts'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { held as words } from '../words/en/held.ts'

const LINES = 10

interface EditHeldProps {
  message: HeldDetail
  onDone: () => void
  onClose: () => void
}

export function EditHeld({ message, onDone, onClose }: EditHeldProps) {
  const before = {
    to: (message.content?.to ?? []).map(({ email }) => email).join('\n'),
    subject: message.subject,
    text: message.content?.text ?? '',
  }
  const [to, setTo] = useState(before.to)
  const [subject, setSubject] = useState(before.subject)
  const [text, setText] = useState(before.text)
  const send = useAction(async () => {
    await editHeld(message, {
      ...(to === before.to ? {} : { to: to.split(/[\s,;]+/).filter(Boolean) }),
      ...(subject === before.subject ? {} : { subject }),
      ...(text === before.text ? {} : { text_body: text }),
    })
    onDone()
    say(words.edited)
  })
  return (
    <Dialog
      isWide
      title={words.editTitle}
      foot={<FormFoot verb={words.sendEdited} action={send} onClose={onClose} />}
      error={send.error}
      onClose={onClose}
      onSubmit={() => void send.run()}
    >
      <p>{words.editText}</p>
      <TextField label={words.recipients} hint={words.recipientsHint} value={to} onValue={setTo} lines={2} />
      <TextField label={words.subject} value={subject} onValue={setSubject} />
      <TextField label={words.text} value={text} onValue={setText} lines={LINES} />
    </Dialog>
  )
}
