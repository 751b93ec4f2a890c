// The settings of a mailbox: name, space, suspension and deletion.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { done } from '../../api/client.ts'
import type { MailboxAdmin } from '../../api/types.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRecordForm } from '../../live/record-form.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { SaveTrouble } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'
import { useMailboxSave } from './mailbox-save.ts'
import { SendPolicySection } from './send-policy.tsx'
import { SendScope } from './send-scope.tsx'

const GB = 1_000_000_000
/** As people read it; a quota that was set in other units has more digits. */
const inGb = (bytes: number) => String(Math.round((bytes / GB) * 1000) / 1000)

/** What the form of the name and the space shows. */
const fieldsOf = ({ display_name: name, quota_bytes: quota }: MailboxAdmin) => ({
  name: name ?? '',
  quota: inGb(quota),
})

interface SettingsProps {
  mailbox: MailboxAdmin
  tag: string
}

export function Settings({ mailbox, tag }: SettingsProps) {
  const team = useTeam()
  return (
    <div class="stack wide">
      <NameAndSpace mailbox={mailbox} tag={tag} />
      {team.may('mailbox.admin.manage') && mailbox.domain_id !== null && <SendScope mailbox={mailbox} tag={tag} />}
      {team.may('mailbox.admin.manage') && <SendPolicySection mailboxId={mailbox.id} />}
      <dl class="facts">
        <dt>{words.id}</dt>
        <dd>
          <CodeValue text={mailbox.id} what={words.id} />
        </dd>
      </dl>
      <Ending mailbox={mailbox} />
    </div>
  )
}

function NameAndSpace({ mailbox, tag }: SettingsProps) {
  const team = useTeam()
  const mayManage = team.may('mailbox.admin.manage')
  const form = useRecordForm(fieldsOf(mailbox))
  const { name, quota } = form.fields
  const body = {
    ...(form.changed.name === undefined ? {} : { display_name: name.trim() || null }),
    ...(form.changed.quota === undefined ? {} : { quota_bytes: Math.round(Number(quota) * GB) }),
  }
  const save = useMailboxSave(form, { value: mailbox, tag }, fieldsOf, body)
  return (
    <Form class="stack loose narrow-form" onSubmit={() => void save.run()}>
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={name}
        onValue={(typed) => form.set({ name: typed })}
        isOff={!mayManage}
        error={save.error?.fieldMessage('display_name')}
      />
      <TextField
        label={words.quota}
        hint={words.quotaHint}
        type="number"
        min={0}
        value={quota}
        onValue={(typed) => form.set({ quota: typed })}
        isOff={!mayManage}
        error={save.error?.fieldMessage('quota_bytes')}
      />
      <SaveTrouble isOvertaken={form.isOvertaken} error={save.error} />
      {mayManage && (
        <div class="row">
          <Button kind="primary" submits isBusy={save.isBusy} isOff={!form.isChanged}>
            {words.save}
          </Button>
        </div>
      )}
    </Form>
  )
}

/** Suspending, reactivating and deleting. */
function Ending({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const { route } = useLocation()
  const [asked, setAsked] = useState<'suspend' | 'delete' | null>(null)
  const params = { path: { mailbox_id: mailbox.id } }
  const act = useAction(async (what: 'suspend' | 'reactivate' | 'delete') => {
    if (what === 'delete') await done(team.api.DELETE('/mailboxes/{mailbox_id}', { params }))
    else if (what === 'suspend') await done(team.api.POST('/mailboxes/{mailbox_id}/suspend', { params, body: {} }))
    else await done(team.api.POST('/mailboxes/{mailbox_id}/reactivate', { params }))
    setAsked(null)
    refresh(team.id, 'mailboxes')
    if (what !== 'delete') return
    say(words.deleted(mailbox.email))
    route(team.href('mailboxes'))
  })
  const isSuspended = mailbox.status === 'suspended'
  return (
    <div class="row wrap">
      {team.may('mailbox.admin.manage') && (
        <Button
          icon={isSuspended ? 'play' : 'pause'}
          isBusy={act.isBusy}
          onPress={() => (isSuspended ? void act.run('reactivate') : setAsked('suspend'))}
        >
          {isSuspended ? words.reactivate : words.suspend}
        </Button>
      )}
      {team.may('mailbox.admin.delete') && (
        <Button kind="danger" icon="trash-2" onPress={() => setAsked('delete')}>
          {words.delete}
        </Button>
      )}
      {asked !== null && (
        <Confirm
          title={asked === 'delete' ? words.deleteTitle(mailbox.email) : words.suspendTitle(mailbox.email)}
          verb={asked === 'delete' ? words.delete : words.suspend}
          typed={asked === 'delete' ? mailbox.email : undefined}
          isBusy={act.isBusy}
          error={act.error}
          onConfirm={() => void act.run(asked)}
          onClose={() => setAsked(null)}
        >
          {asked === 'delete' ? words.deleteText(mailbox.message_count ?? 0) : words.suspendText}
        </Confirm>
      )}
    </div>
  )
}
