// The settings of one webhook.

import { useState } from 'preact/hooks'
import { done, takeTagged } from '../../api/client.ts'
import type { Webhook } from '../../api/types.ts'
import { changeShown } from '../../live/change.ts'
import { refresh, useAction } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Check, TextField } from '../../parts/field.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { EventChoice, type EventTypes } from './event-choice.tsx'

/** What the form shows. */
export const shownOf = ({ url, description, event_types: types, status }: Webhook) => [url, description, types, status]

export function Settings({ webhook, tag }: { webhook: Webhook; tag: string }) {
  const team = useTeam()
  const [url, setUrl] = useState(webhook.url)
  const [description, setDescription] = useState(webhook.description ?? '')
  const [types, setTypes] = useState(webhook.event_types as EventTypes)
  const [enabled, setEnabled] = useState(webhook.status === 'enabled')
  const save = useAction(async () => {
    const note = description.trim()
    const body = { url: url.trim(), description: note === '' ? null : note, event_types: types, enabled }
    const path = { webhook_id: webhook.id }
    await changeShown({
      seen: { value: webhook, tag },
      shown: shownOf,
      read: () => takeTagged(team.api.GET('/webhooks/{webhook_id}', { params: { path } })),
      send: (version) =>
        done(team.api.PATCH('/webhooks/{webhook_id}', { params: { path, header: { 'If-Match': version } }, body })),
    })
    refresh(team.id, 'webhooks')
    say(words.saved)
  })
  const mayChange = team.may('webhook.update')
  const urlError = save.error?.fieldMessage('url')
  return (
    <div class="stack loose">
      <form
        class="stack measure"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save.run()
        }}
      >
        {!mayChange && <p class="soft">{common.viewerNote}</p>}
        <TextField label={words.url} hint={words.urlHint} error={urlError} type="url" value={url} onValue={setUrl} />
        <TextField label={words.description} value={description} onValue={setDescription} />
        <EventChoice types={types} onTypes={setTypes} />
        <Check label={words.statuses.enabled} isOn={enabled} onChange={setEnabled} />
        {save.error !== null && urlError === undefined && <ErrorCard error={save.error} />}
        {mayChange && (
          <div class="row">
            <Button kind="primary" submits isBusy={save.isBusy} isOff={types.length === 0}>
              {common.save}
            </Button>
          </div>
        )}
      </form>
      <dl class="facts">
        <Fact name={words.id}>
          <CodeValue text={webhook.id} what={words.idOf} />
        </Fact>
      </dl>
    </div>
  )
}
