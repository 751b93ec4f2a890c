// Making a webhook: its address, a note, and the events it gets.

import { useState } from 'preact/hooks'
import { take } from '../../api/client.ts'
import type { NewWebhook } from '../../api/types.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { EventChoice, type EventTypes } from './event-choice.tsx'

interface Props {
  onDone: (webhook: NewWebhook) => void
  onClose: () => void
}

export function WebhookForm({ onDone, onClose }: Props) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  const [types, setTypes] = useState<EventTypes>(['*'])
  const make = useAction(async () => {
    const note = description.trim()
    const body = { url: url.trim(), description: note === '' ? null : note, event_types: types }
    const made = await take(team.api.POST('/webhooks', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'webhooks')
    onClose()
    onDone(made)
  })
  const { error } = make
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button kind="primary" submits isBusy={make.isBusy} isOff={types.length === 0}>
        {words.add}
      </Button>
    </>
  )
  return (
    <Dialog
      title={words.add}
      isWide
      foot={foot}
      error={error?.fieldMessage('url') === undefined ? error : null}
      onClose={onClose}
      onSubmit={() => void make.run()}
    >
      <TextField
        label={words.url}
        hint={words.urlHint}
        error={error?.fieldMessage('url')}
        type="url"
        value={url}
        onValue={setUrl}
        hasFocus
      />
      <TextField label={words.description} value={description} onValue={setDescription} />
      <EventChoice types={types} onTypes={setTypes} />
    </Dialog>
  )
}
