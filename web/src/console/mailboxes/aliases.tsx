// The aliases of a mailbox.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import type { MailboxAdmin, MailboxAlias } from '../../api/types.ts'
import { refresh, useAction, usePages } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Form } from '../../parts/form.tsx'
import { Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard } from '../../parts/quiet.tsx'
import { SearchedList } from '../../parts/searched-list.tsx'
import type { Column } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'

export function Aliases({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const path = { mailbox_id: mailbox.id }
  const mayManage = team.may('mailbox.admin.manage')
  const pages = usePages([team.id, 'aliases', mailbox.id], (cursor) =>
    takeList(team.api.GET('/mailboxes/{mailbox_id}/aliases', { params: { path, query: { cursor } } })),
  )
  const remove = useAction(async (alias: MailboxAlias) => {
    await done(
      team.api.DELETE('/mailboxes/{mailbox_id}/aliases/{alias_id}', {
        params: { path: { ...path, alias_id: alias.id } },
      }),
    )
    refresh(team.id, 'aliases', mailbox.id)
    say(words.aliasRemoved(alias.email))
  })
  const columns: Column<MailboxAlias>[] = [
    { head: words.address, cell: ({ email }) => <Foreign>{email}</Foreign> },
    { head: words.created, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
    {
      head: '',
      cell: (alias) =>
        mayManage && (
          <IconButton icon="trash-2" label={words.removeAlias(alias.email)} onPress={() => void remove.run(alias)} />
        ),
      class: 'number',
    },
  ]
  return (
    <Section title={words.tabs.aliases} note={words.aliasesNote}>
      {mayManage && <AddAlias mailbox={mailbox} />}
      {remove.error !== null && <ErrorCard error={remove.error} />}
      <SearchedList
        label={words.tabs.aliases}
        pages={pages}
        textOf={({ email, id }) => `${email} ${id}`}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="at-sign" title={words.noAliases} />}
      />
    </Section>
  )
}

function AddAlias({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [email, setEmail] = useState('')
  const add = useAction(async () => {
    const body = { email: email.trim() }
    const params = { path: { mailbox_id: mailbox.id }, header: headerOf(body) }
    await done(team.api.POST('/mailboxes/{mailbox_id}/aliases', { params, body }))
    setEmail('')
    refresh(team.id, 'aliases', mailbox.id)
  })
  const domain = mailbox.email.slice(mailbox.email.indexOf('@'))
  return (
    <Form class="row-form" onSubmit={() => void add.run()}>
      <TextField
        label={words.addAlias}
        type="email"
        placeholder={`info${domain}`}
        value={email}
        onValue={setEmail}
        error={add.error === null ? undefined : (add.error.fieldMessage('email') ?? add.error.message)}
      />
      <Button submits isBusy={add.isBusy}>
        {words.addAlias}
      </Button>
    </Form>
  )
}
