// Saving the forms of a mailbox: that of its name and space, and that of its sending accounts.

import { takeTagged } from '../../api/client.ts'
import type { MailboxAdmin, MailboxUpdate } from '../../api/types.ts'
import type { Tagged } from '../../live/change.ts'
import type { Action } from '../../live/query.ts'
import { type RecordForm, useRecordSave } from '../../live/record-form.ts'
import { say } from '../../parts/toast.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'

/** @param body what was changed, as the API names it */
export function useMailboxSave<F extends object>(
  form: RecordForm<F>,
  seen: Tagged<MailboxAdmin>,
  fieldsOf: (mailbox: MailboxAdmin) => F,
  body: MailboxUpdate,
): Action<[], void> {
  const team = useTeam()
  const { id } = seen.value
  const params = { path: { mailbox_id: id } }
  return useRecordSave(form, {
    ...{ fieldsOf, seen, key: [team.id, 'mailboxes', id] },
    read: () => takeTagged(team.api.GET('/mailboxes/{mailbox_id}', { params })),
    send: (version) => {
      const header = { 'If-Match': version }
      return takeTagged(team.api.PATCH('/mailboxes/{mailbox_id}', { params: { ...params, header }, body }))
    },
    onSaved: () => say(words.saved),
  })
}
