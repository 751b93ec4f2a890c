// The settings of one webhook.

import { takeTagged } from '../../api/client.ts'
import type { Webhook } from '../../api/types.ts'
import { useRecordForm, useRecordSave } from '../../live/record-form.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Check, TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { SaveTrouble } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { EventChoice, type EventTypes } from './event-choice.tsx'

const fieldsOf = ({ url, description, event_types: types, status }: Webhook) => ({
  url,
  description: description ?? '',
  types: types as EventTypes,
  enabled: status === 'enabled',
})

/** What was changed, as the API names it. */
function bodyOf({ url, description, types, enabled }: Partial<ReturnType<typeof fieldsOf>>) {
  return {
    ...(url === undefined ? {} : { url: url.trim() }),
    ...(description === undefined ? {} : { description: description.trim() || null }),
    ...(types === undefined ? {} : { event_types: types }),
    ...(enabled === undefined ? {} : { enabled }),
  }
}

export function Settings({ webhook, tag }: { webhook: Webhook; tag: string }) {
  const team = useTeam()
  const form = useRecordForm(fieldsOf(webhook))
  const { url, description, types, enabled } = form.fields
  const params = { path: { webhook_id: webhook.id } }
  const body = bodyOf(form.changed)
  const save = useRecordSave(form, {
    ...{ fieldsOf, key: [team.id, 'webhooks', webhook.id], seen: { value: webhook, tag } },
    read: () => takeTagged(team.api.GET('/webhooks/{webhook_id}', { params })),
    send: (version) =>
      takeTagged(
        team.api.PATCH('/webhooks/{webhook_id}', { params: { ...params, header: { 'If-Match': version } }, body }),
      ),
    onSaved: () => say(words.saved),
  })
  const mayChange = team.may('webhook.update')
  const urlError = save.error?.fieldMessage('url')
  return (
    <div class="stack loose">
      <Form class="stack measure" onSubmit={() => void save.run()}>
        {!mayChange && <p class="soft">{common.viewerNote}</p>}
        <TextField
          label={words.url}
          hint={words.urlHint}
          error={urlError}
          type="url"
          value={url}
          onValue={(typed) => form.set({ url: typed })}
        />
        <TextField
          label={words.description}
          value={description}
          onValue={(typed) => form.set({ description: typed })}
        />
        <EventChoice types={types} onTypes={(chosen) => form.set({ types: chosen })} />
        <Check label={words.statuses.enabled} isOn={enabled} onChange={(isOn) => form.set({ enabled: isOn })} />
        <SaveTrouble isOvertaken={form.isOvertaken} error={urlError === undefined ? save.error : null} />
        {mayChange && (
          <div class="row">
            <Button kind="primary" submits isBusy={save.isBusy} isOff={!form.isChanged || types.length === 0}>
              {common.save}
            </Button>
          </div>
        )}
      </Form>
      <dl class="facts">
        <Fact name={words.id}>
          <CodeValue text={webhook.id} what={words.idOf} />
        </Fact>
      </dl>
    </div>
  )
}
