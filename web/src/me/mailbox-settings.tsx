// The name and the signature that a mailbox writes with, and its addresses.

import { apiAs, take } from '../api/client.ts'
import type { Identity } from '../api/types.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { useRecordForm } from '../live/record-form.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import { Addresses } from './addresses.tsx'

const fieldsOf = ({ name, text_signature: signature }: Identity) => ({ name, signature })

export function MailboxSettings({ id }: { id: string }) {
  const query = useQuery([id, 'identities'], () => take(apiAs(id).GET('/mailbox/identities')))
  const primary = query.data?.find((one) => one.is_primary)
  if (query.failure !== null) return <ErrorCard error={query.failure} onRetry={query.refetch} />
  if (primary === undefined) return <Skeleton rows={3} />
  return (
    <div class="stack wide">
      <Writer key={primary.id} id={id} identity={primary} />
      <Addresses id={id} identities={query.data ?? []} />
      <dl class="facts">
        <dt>{words.id}</dt>
        <dd>
          <CodeValue text={id} what={words.id} />
        </dd>
      </dl>
    </div>
  )
}

function Writer({ id, identity }: { id: string; identity: Identity }) {
  const form = useRecordForm(fieldsOf(identity))
  const { name, signature } = form.fields
  const save = useAction(async () => {
    const body = {
      ...(form.changed.name === undefined ? {} : { name: name.trim() }),
      ...(form.changed.signature === undefined ? {} : { text_signature: signature }),
    }
    const params = { path: { identity_id: identity.id } }
    form.saved(fieldsOf(await take(apiAs(id).PATCH('/mailbox/identities/{identity_id}', { params, body }))))
    refresh(id, 'identities')
    say(words.saved)
  })
  return (
    <Form class="stack loose narrow-form" onSubmit={() => void save.run()}>
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={name}
        onValue={(typed) => form.set({ name: typed })}
        error={save.error?.fieldMessage('name')}
      />
      <TextField
        label={words.signature}
        hint={words.signatureHint}
        lines={4}
        value={signature}
        onValue={(typed) => form.set({ signature: typed })}
        error={save.error?.fieldMessage('text_signature')}
      />
      {save.error !== null && <ErrorCard error={save.error} />}
      <div class="row">
        <Button kind="primary" submits isBusy={save.isBusy} isOff={!form.isChanged}>
          {words.save}
        </Button>
      </div>
    </Form>
  )
}
