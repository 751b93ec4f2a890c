// Which members of the team open a mailbox in the browser.

import { useState } from 'preact/hooks'
import { done, take, takeList } from '../../api/client.ts'
import type { MailboxAdmin, MailboxPerson, Member } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Person, Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'

type Access = keyof typeof words.accessLevels

type Grant = MailboxPerson

const MEMBERS_SHOWN = 100

const PEOPLE = '/mailboxes/{mailbox_id}/people'
const PERSON = '/mailboxes/{mailbox_id}/people/{member_id}'
const at = (mailbox: MailboxAdmin, memberId: string) => ({
  params: { path: { mailbox_id: mailbox.id, member_id: memberId } },
})

/** Shown to those who may give access. */
export function Grants({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  return team.may('mailbox.admin.manage') ? <People mailbox={mailbox} /> : <p class="soft">{common.viewerNote}</p>
}

function People({ mailbox }: { mailbox: MailboxAdmin }) {
  const team = useTeam()
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Grant | null>(null)
  const query = useQuery([team.id, 'grants', mailbox.id], () =>
    take(team.api.GET(PEOPLE, { params: { path: { mailbox_id: mailbox.id } } })),
  )
  const remove = useAction(async (grant: Grant) => {
    await done(team.api.DELETE(PERSON, at(mailbox, grant.member_id)))
    setLeaving(null)
    refresh(team.id, 'grants', mailbox.id)
    refresh(team.id, 'mailboxes')
  })
  const addButton = (
    <Button kind="primary" icon="user-plus" onPress={() => setAdding(true)}>
      {words.grant}
    </Button>
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  return (
    <Section title={words.tabs.people} note={words.peopleNote} actions={query.data.length > 0 && addButton}>
      {query.data.length === 0 ? (
        <Empty icon="users" title={words.noPeople} action={addButton}>
          {words.noPeopleText}
        </Empty>
      ) : (
        <Table
          label={words.tabs.people}
          rows={query.data}
          columns={columnsOf(setLeaving)}
          keyOf={({ member_id }) => member_id}
          isTall
        />
      )}
      {isAdding && <NewGrant mailbox={mailbox} taken={query.data} onClose={() => setAdding(false)} />}
      {leaving !== null && (
        <Confirm
          title={words.takeBackTitle(leaving.email)}
          verb={words.takeBack}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.takeBackText}
        </Confirm>
      )}
    </Section>
  )
}

function columnsOf(askToTakeBack: (grant: Grant) => void): Column<Grant>[] {
  return [
    {
      head: words.member,
      cell: ({ email }) => (
        <span class="row">
          <Person name={email} />
          <Foreign>{email}</Foreign>
        </span>
      ),
    },
    { head: words.accessLevel, cell: ({ access }) => words.shortLevels[access] },
    { head: words.since, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
    {
      head: '',
      cell: (grant) => (
        <Button
          size="short"
          kind="danger"
          label={`${words.takeBack} ${grant.email}`}
          onPress={() => askToTakeBack(grant)}
        >
          {words.takeBack}
        </Button>
      ),
      class: 'number',
    },
  ]
}

function NewGrant({
  mailbox,
  taken,
  onClose,
}: {
  mailbox: MailboxAdmin
  taken: readonly Grant[]
  onClose: () => void
}) {
  const team = useTeam()
  const [memberId, setMemberId] = useState('')
  const [access, setAccess] = useState<Access>('editor')
  const members = useQuery([team.id, 'people', { limit: MEMBERS_SHOWN }], () =>
    takeList(team.api.GET('/team/members', { params: { query: { limit: MEMBERS_SHOWN } } })),
  )
  const isFree = ({ id }: Member) => !taken.some(({ member_id }) => member_id === id)
  const free = (members.data?.items ?? []).filter(isFree)
  const chosen = memberId || free[0]?.id || ''
  const grant = useAction(async () => {
    await done(team.api.PUT(PERSON, { ...at(mailbox, chosen), body: { access } }))
    refresh(team.id, 'grants', mailbox.id)
    refresh(team.id, 'mailboxes')
    onClose()
  })
  const foot = <FormFoot verb={words.grant} action={grant} isOff={chosen === ''} onClose={onClose} />
  const levels = (Object.keys(words.accessLevels) as Access[]).map((value) => ({
    value,
    label: words.accessLevels[value],
  }))
  return (
    <Dialog title={words.grant} foot={foot} error={grant.error} onClose={onClose} onSubmit={() => void grant.run()}>
      {members.data !== undefined && free.length === 0 ? (
        <p>{words.noMembersLeft}</p>
      ) : (
        <>
          <SelectField
            label={words.member}
            value={chosen}
            choices={free.map(({ id, email }) => ({ value: id, label: email }))}
            onValue={setMemberId}
          />
          <SelectField label={words.accessLevel} value={access} choices={levels} onValue={setAccess} />
        </>
      )}
    </Dialog>
  )
}
