// A deleted mailbox: until when it is kept, restoring it, and erasing it before that.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { done, take } from '../../api/client.ts'
import type { MailboxAdmin } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { refresh, useAction } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { say } from '../../parts/toast.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'

export function Deleted({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const [asked, setAsked] = useState<'restore' | 'erase' | null>(null)
  const isOwner = team.role === 'owner'
  return (
    <div class="stack wide">
      <ToneLine tone="warn" icon="trash-2">
        {words.deletedNote(exact(mailbox.restorable_until!))}
      </ToneLine>
      <p>{words.restoreNote}</p>
      {isOwner ? (
        <div class="row wrap">
          <Button kind="primary" icon="undo-2" onPress={() => setAsked('restore')}>
            {words.restore}
          </Button>
          <Button kind="danger" icon="trash-2" onPress={() => setAsked('erase')}>
            {words.erase}
          </Button>
        </div>
      ) : (
        <p class="soft">{words.restoreByOwner}</p>
      )}
      {asked === 'restore' && <Restore mailbox={mailbox} onClose={() => setAsked(null)} />}
      {asked === 'erase' && <Erase mailbox={mailbox} onClose={() => setAsked(null)} />}
    </div>
  )
}

interface DialogProps {
  mailbox: MailboxAdmin
  onClose: () => void
}

function Restore({ mailbox: { id, email: previous }, onClose }: DialogProps) {
  const team = useTeam()
  const [email, setEmail] = useState(previous)
  const act = useAction(async () => {
    const body = email.trim() === previous ? {} : { email: email.trim() }
    const params = { path: { mailbox_id: id } }
    const restored = await take(team.api.POST('/mailboxes/{mailbox_id}/restore', { params, body }))
    refresh(team.id, 'mailboxes')
    onClose()
    const { lost_aliases: lost } = restored
    say(lost.length === 0 ? words.restored(restored.email) : words.restoredWithout(restored.email, lost))
  })
  const error = act.error?.fieldMessage('email')
  return (
    <Dialog
      title={words.restoreTitle(previous)}
      error={error === undefined ? act.error : null}
      foot={<FormFoot verb={words.restore} action={act} onClose={onClose} />}
      onSubmit={() => void act.run()}
      onClose={onClose}
    >
      <p>{words.restoreText}</p>
      <TextField
        label={words.address}
        hint={words.restoreAddressHint}
        value={email}
        onValue={setEmail}
        error={error}
        hasFocus
      />
    </Dialog>
  )
}

function Erase({ mailbox: { id, email, message_count: count = 0 }, onClose }: DialogProps) {
  const team = useTeam()
  const { route } = useLocation()
  const act = useAction(async () => {
    await done(team.api.POST('/mailboxes/{mailbox_id}/erase', { params: { path: { mailbox_id: id } } }))
    refresh(team.id, 'mailboxes')
    say(words.erased(email))
    route(team.href('mailboxes'))
  })
  return (
    <Confirm
      title={words.eraseTitle(email)}
      verb={words.erase}
      typed={email}
      isBusy={act.isBusy}
      error={act.error}
      onConfirm={() => void act.run()}
      onClose={onClose}
    >
      {words.eraseText(count)}
    </Confirm>
  )
}
