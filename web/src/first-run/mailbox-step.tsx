// The third step: a mailbox, and an app password with a code for the phone.

import { useState } from 'preact/hooks'
import { type Api, apiAs, done, take } from '../api/client.ts'
import { self } from '../api/session.ts'
import type { Domain, MailboxAdmin, NewAppPassword } from '../api/types.ts'
import { type Action, useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { ProgramSettings } from '../panels/program-settings.tsx'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { firstRun as words } from '../words/en/first-run.ts'
import { mailboxes } from '../words/en/mailboxes.ts'

interface MailboxStepProps {
  api: Api
  domain: Domain
  /** Null before it is made. */
  mailbox: MailboxAdmin | null
  onMade: (mailbox: MailboxAdmin) => void
  onDone: () => void
}

export function MailboxStep({ api, domain, mailbox, onMade, onDone }: MailboxStepProps) {
  const headerOf = useRequestKey()
  const [local, setLocal] = useState('')
  const [password, setPassword] = useState<NewAppPassword | null>(null)
  const makePassword = useAction(async (of: MailboxAdmin) => {
    await openForMe(of)
    const path = { mailbox_id: of.id }
    const body = { name: mailboxes.firstProgram }
    setPassword(await take(api.POST('/mailboxes/{mailbox_id}/app-passwords', { params: { path }, body })))
  })
  const make = useAction(async () => {
    const body = { email: `${local.trim()}@${domain.domain}`, display_name: self.value?.display_name ?? undefined }
    const made = await take(api.POST('/mailboxes', { params: { header: headerOf(body) }, body }))
    onMade(made)
    await makePassword.run(made)
  })
  const error = make.error?.fieldMessage('email')
  return (
    <>
      <div>
        <h1>{words.mailboxTitle}</h1>
        <p class="lead">{words.mailboxLead}</p>
      </div>
      {mailbox === null ? (
        <Form class="stack loose" onSubmit={() => void make.run()}>
          <TextField
            label={mailboxes.localPart}
            isLarge
            value={local}
            onValue={setLocal}
            error={error}
            inside={<span class="soft">@{domain.domain}</span>}
            hasFocus
          />
          {make.error !== null && error === undefined && <ErrorCard error={make.error} />}
          <div class="row">
            <Button kind="primary" size="form" submits isBusy={make.isBusy}>
              {words.makeMailbox}
            </Button>
          </div>
        </Form>
      ) : password === null ? (
        <WithoutPassword mailbox={mailbox} make={makePassword} onDone={onDone} />
      ) : (
        <Ready api={api} mailbox={mailbox} password={password} onDone={onDone} />
      )}
    </>
  )
}

interface WithoutPasswordProps {
  mailbox: MailboxAdmin
  make: Action<[MailboxAdmin], void>
  onDone: () => void
}

/** The mailbox is made, and no password is shown: the page was loaded again, or making the password failed. */
function WithoutPassword({ mailbox, make, onDone }: WithoutPasswordProps) {
  const goOn = useAction(async () => {
    await openForMe(mailbox)
    onDone()
  })
  const error = make.error ?? goOn.error
  if (make.isBusy) return <Skeleton rows={4} />
  return (
    <>
      <p>{words.mailboxMade(mailbox.email)}</p>
      {error !== null && <ErrorCard error={error} />}
      <div class="row wrap">
        <Button kind="primary" size="form" isBusy={goOn.isBusy} onPress={() => void goOn.run()}>
          {common.continue}
        </Button>
        <Button size="form" onPress={() => void make.run(mailbox)}>
          {words.makePassword}
        </Button>
      </div>
    </>
  )
}

interface ReadyProps {
  api: Api
  mailbox: MailboxAdmin
  password: NewAppPassword
  onDone: () => void
}

function Ready({ api, mailbox, password, onDone }: ReadyProps) {
  const path = { mailbox_id: mailbox.id }
  const requests = {
    ...mailbox,
    clientSettings: () => take(api.GET('/mailboxes/{mailbox_id}/client-settings', { params: { path } })),
  }
  return (
    <>
      <div class="card card-pad stack loose">
        <h2>{mailboxes.passwordTitle(password.name)}</h2>
        <p class="soft">{common.shownOnce}</p>
        <ProgramSettings mailbox={requests} password={password} />
      </div>
      <div class="row">
        <Button kind="primary" size="form" onPress={onDone}>
          {common.continue}
        </Button>
      </div>
    </>
  )
}

/** The person becomes owner of the mailbox, so that the first message can be read in the browser. */
async function openForMe(mailbox: MailboxAdmin): Promise<void> {
  const team = self.value!.teams[0]!
  const path = { mailbox_id: mailbox.id, member_id: team.member_id }
  const people = apiAs(team.id).PUT('/mailboxes/{mailbox_id}/people/{member_id}', {
    ...{ params: { path }, body: { access: 'owner' } },
  })
  await done(people)
}
