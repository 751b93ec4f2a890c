// The mail programs of a mailbox: app passwords, what to enter, and the last sign-ins.

import { useState } from 'preact/hooks'
import type { AppPassword, NewAppPassword, SignIn } from '../api/types.ts'
import { refresh, useAction, usePages } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, State, Time } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Empty } from '../parts/quiet.tsx'
import { SearchedList } from '../parts/searched-list.tsx'
import type { Column } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { mailboxes as words } from '../words/en/mailboxes.ts'
import type { MailboxRequests } from './mailbox-requests.ts'
import { NewPassword, ShownPassword } from './new-password.tsx'

/** App passwords are shown to those who may manage them. */
export function MailPrograms({ mailbox }: { mailbox: MailboxRequests }) {
  return (
    <>
      {mailbox.mayManage ? <Passwords mailbox={mailbox} /> : <p class="soft">{common.viewerNote}</p>}
      <SignIns mailbox={mailbox} />
    </>
  )
}

function Passwords({ mailbox }: { mailbox: MailboxRequests }) {
  const [isAdding, setAdding] = useState(false)
  const [made, setMade] = useState<NewAppPassword | null>(null)
  const [leaving, setLeaving] = useState<AppPassword | null>(null)
  const pages = usePages([mailbox.actor, 'app-passwords', mailbox.id], mailbox.listPasswords)
  const addButton = (
    <Button kind="primary" icon="plus" onPress={() => setAdding(true)}>
      {words.addPassword}
    </Button>
  )
  return (
    <>
      <Section title={words.programs} note={words.passwordsNote} actions={pages.items.length > 0 && addButton}>
        <SearchedList
          label={words.programs}
          pages={pages}
          textOf={({ name, id }) => `${name} ${id}`}
          isTall
          keyOf={({ id }) => id}
          columns={passwordColumns(setLeaving)}
          empty={
            <Empty icon="smartphone" title={words.noPasswords} action={addButton}>
              {words.noPasswordsText}
            </Empty>
          }
        />
      </Section>
      {isAdding && (
        <NewPassword
          mailbox={mailbox}
          onClose={() => setAdding(false)}
          onMade={(password) => {
            setAdding(false)
            setMade(password)
            refresh(mailbox.actor, 'app-passwords', mailbox.id)
          }}
        />
      )}
      {made !== null && <ShownPassword mailbox={mailbox} password={made} onClose={() => setMade(null)} />}
      {leaving !== null && <Revoke mailbox={mailbox} password={leaving} onClose={() => setLeaving(null)} />}
    </>
  )
}

interface RevokeProps {
  mailbox: MailboxRequests
  password: AppPassword
  onClose: () => void
}

function Revoke({ mailbox, password, onClose }: RevokeProps) {
  const revoke = useAction(async () => {
    await mailbox.revokePassword(password.id)
    refresh(mailbox.actor, 'app-passwords', mailbox.id)
    say(words.revoked(password.name))
    onClose()
  })
  return (
    <Confirm
      title={words.revokeTitle(password.name)}
      verb={words.revoke}
      isBusy={revoke.isBusy}
      error={revoke.error}
      onConfirm={() => void revoke.run()}
      onClose={onClose}
    >
      {words.revokeText}
    </Confirm>
  )
}

function passwordColumns(askToRevoke: (password: AppPassword) => void): Column<AppPassword>[] {
  return [
    {
      head: words.passwordName,
      cell: ({ name, last4, protocols }) => (
        <span class="two-lines">
          <span class="strong">{name}</span>
          <span>
            …{last4} · {protocols.map((protocol) => words.protocols[protocol]).join(', ')}
          </span>
        </span>
      ),
    },
    {
      head: words.state,
      cell: ({ status }) =>
        status === 'active' ? <State tone="good">{words.states.active}</State> : <Badge>{words.states[status]}</Badge>,
    },
    {
      head: words.lastUsed,
      cell: ({ last_used_at, last_used_from, last_used_client }) =>
        last_used_at === null ? (
          <span class="soft">{words.neverUsed}</span>
        ) : (
          <span class="two-lines">
            <Time at={last_used_at} />
            <Foreign>{[last_used_client, last_used_from].filter(Boolean).join(', ')}</Foreign>
          </span>
        ),
    },
    { head: words.created, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
    {
      head: '',
      cell: (one) =>
        one.status === 'active' && (
          <Button size="short" kind="danger" label={`${words.revoke} ${one.name}`} onPress={() => askToRevoke(one)}>
            {words.revoke}
          </Button>
        ),
      class: 'number',
    },
  ]
}

function SignIns({ mailbox }: { mailbox: MailboxRequests }) {
  const pages = usePages([mailbox.actor, 'sign-ins', mailbox.id], mailbox.listSignIns)
  const columns: Column<SignIn>[] = [
    { head: words.when, cell: ({ at }) => <Time at={at} /> },
    {
      head: words.what,
      cell: ({ outcome, times }) => (
        <State tone={outcome === 'ok' ? 'good' : 'danger'}>
          {words.signInOutcomes[outcome]} {words.times(times)}
        </State>
      ),
    },
    { head: words.client, cell: ({ client, protocol }) => <Foreign>{client ?? protocol.toUpperCase()}</Foreign> },
    { head: words.from, cell: ({ source }) => <span class="mono">{source}</span>, class: 'number soft' },
  ]
  return (
    <Section title={words.signIns}>
      <SearchedList
        label={words.signIns}
        pages={pages}
        textOf={({ source }) => source}
        columns={columns}
        keyOf={({ at, source }) => `${at} ${source}`}
        empty={<p class="soft">{words.noSignIns}</p>}
      />
    </Section>
  )
}
