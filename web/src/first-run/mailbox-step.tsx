// The third step: a mailbox, and an app password with a code for the phone.

import { useState } from 'preact/hooks'
import { type Api, apiAs, done, take } from '../api/client.ts'
import { self } from '../api/session.ts'
import type { Domain, MailboxAdmin, NewAppPassword } from '../api/types.ts'
import { useAction } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { ProgramSettings } from '../panels/program-settings.tsx'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { common } from '../words/en/common.ts'
import { firstRun as words } from '../words/en/first-run.ts'
import { mailboxes } from '../words/en/mailboxes.ts'

interface MailboxStepProps {
  api: Api
  domain: Domain
  onDone: (mailbox: MailboxAdmin) => void
}

interface Made {
  mailbox: MailboxAdmin
  password: NewAppPassword
}

export function MailboxStep({ api, domain, onDone }: MailboxStepProps) {
  const headerOf = useRequestKey()
  const [local, setLocal] = useState('')
  const [made, setMade] = useState<Made | null>(null)
  const make = useAction(async () => {
    const body = { email: `${local.trim()}@${domain.domain}`, display_name: self.value?.display_name ?? undefined }
    const mailbox = await take(api.POST('/mailboxes', { params: { header: headerOf(body) }, body }))
    await openForMe(mailbox)
    const path = { mailbox_id: mailbox.id }
    const password = await take(
      api.POST('/mailboxes/{mailbox_id}/app-passwords', { params: { path }, body: { name: mailboxes.firstProgram } }),
    )
    setMade({ mailbox, password })
  })
  const error = make.error?.fieldMessage('email')
  return (
    <>
      <div>
        <h1>{words.mailboxTitle}</h1>
        <p class="lead">{words.mailboxLead}</p>
      </div>
      {made === null ? (
        <form
          class="stack loose"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void make.run()
          }}
        >
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
        </form>
      ) : (
        <Ready api={api} made={made} onDone={() => onDone(made.mailbox)} />
      )}
    </>
  )
}

function Ready({ api, made, onDone }: { api: Api; made: Made; onDone: () => void }) {
  return (
    <>
      <div class="card card-pad stack loose">
        <h2>{mailboxes.passwordTitle(made.password.name)}</h2>
        <p class="soft">{common.shownOnce}</p>
        <ProgramSettings api={api} mailbox={made.mailbox} password={made.password} />
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
