// The opened row of a member: their times, and the mailboxes they open, which are given and taken back here.

import { useState } from 'preact/hooks'
import { done, take, takeList } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import type { MailboxAdmin, Member, MemberMailbox } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Fact } from '../../parts/facts.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { mailboxes as mailboxWords } from '../../words/en/mailboxes.ts'
import { people as words } from '../../words/en/people.ts'
import { type OpenTeam, useTeam } from '../team.ts'

type Access = MemberMailbox['access']

const MAILBOXES_SHOWN = 50
const PERSON = '/mailboxes/{mailbox_id}/people/{member_id}'

interface MemberDetailProps {
  member: Member
  /** Null when the role does not allow changes. */
  choose: ((kind: 'change' | 'remove' | 'sign-out' | 'link') => void) | null
}

export function MemberDetail({ member, choose }: MemberDetailProps) {
  const team = useTeam()
  const isSelf = member.email === self.value?.email
  return (
    <div class="card card-pad stack loose">
      <dl class="facts small">
        <Fact name={words.id}>
          <CodeValue text={member.id} what={words.idOfMember} />
        </Fact>
        <Fact name={words.invitedAt}>{exact(member.invited_at)}</Fact>
        <Fact name={words.joinedAt}>{member.joined_at === null ? words.notYet : exact(member.joined_at)}</Fact>
        <Fact name={words.lastSignIn}>
          {member.last_login_at === null ? common.never : exact(member.last_login_at)}
        </Fact>
      </dl>
      {team.may('mailbox.admin.manage') && <MemberMailboxes member={member} />}
      {choose !== null && (
        <div class="row wrap">
          <Button size="short" onPress={() => choose('change')}>
            {words.change}
          </Button>
          {!isSelf && (
            <Button size="short" onPress={() => choose('sign-out')}>
              {words.signOut}
            </Button>
          )}
          {!isSelf && team.role === 'owner' && (
            <Button size="short" onPress={() => choose('link')}>
              {words.link}
            </Button>
          )}
          <Button size="short" kind="danger" onPress={() => choose('remove')}>
            {words.remove}
          </Button>
        </div>
      )}
      <RawJson record={member} />
    </div>
  )
}

function MemberMailboxes({ member }: { member: Member }) {
  const team = useTeam()
  const [isGiving, setGiving] = useState(false)
  const [leaving, setLeaving] = useState<MemberMailbox | null>(null)
  const path = { member_id: member.id }
  const query = useQuery([team.id, 'grants', member.id], () =>
    take(team.api.GET('/team/members/{member_id}/mailboxes', { params: { path } })),
  )
  const takeBack = useAction(async (one: MemberMailbox) => {
    await done(team.api.DELETE(PERSON, { params: { path: { ...path, mailbox_id: one.mailbox_id } } }))
    setLeaving(null)
    refresh(team.id, 'grants')
  })
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={2} />
  const give = (
    <Button size="short" icon="plus" onPress={() => setGiving(true)}>
      {words.give}
    </Button>
  )
  return (
    <Section title={words.mailboxes} actions={give}>
      {query.data.length === 0 ? (
        <p class="soft">{words.noMailboxes}</p>
      ) : (
        <Table
          label={words.mailboxesOf(member.email)}
          rows={query.data}
          columns={columnsOf(team, setLeaving)}
          keyOf={({ mailbox_id }) => mailbox_id}
        />
      )}
      {isGiving && <GiveMailbox member={member} taken={query.data} onClose={() => setGiving(false)} />}
      {leaving !== null && (
        <Confirm
          title={words.takeBackTitle(leaving.email, member.email)}
          verb={mailboxWords.takeBack}
          isBusy={takeBack.isBusy}
          error={takeBack.error}
          onConfirm={() => void takeBack.run(leaving)}
          onClose={() => setLeaving(null)}
        >
          {mailboxWords.takeBackText}
        </Confirm>
      )}
    </Section>
  )
}

function columnsOf(team: OpenTeam, askToTakeBack: (one: MemberMailbox) => void): Column<MemberMailbox>[] {
  return [
    {
      head: words.mailbox,
      cell: ({ mailbox_id, email }) => (
        <a href={team.href('mailboxes', mailbox_id, 'people')}>
          <Foreign>{email}</Foreign>
        </a>
      ),
    },
    { head: mailboxWords.accessLevel, cell: ({ access }) => mailboxWords.shortLevels[access] },
    { head: mailboxWords.since, cell: ({ created_at }) => <Time at={created_at} />, class: 'soft' },
    {
      head: '',
      class: 'number',
      cell: (one) => (
        <Button
          size="short"
          kind="danger"
          label={`${mailboxWords.takeBack} ${one.email}`}
          onPress={() => askToTakeBack(one)}
        >
          {mailboxWords.takeBack}
        </Button>
      ),
    },
  ]
}

interface GiveMailboxProps {
  member: Member
  taken: readonly MemberMailbox[]
  onClose: () => void
}

/** Teams may have thousands of mailboxes: they are found by a part of their address. */
function GiveMailbox({ member, taken, onClose }: GiveMailboxProps) {
  const team = useTeam()
  const [text, setText] = useState('')
  const [mailboxId, setMailboxId] = useState('')
  const [access, setAccess] = useState<Access>('editor')
  const wanted = { q: text.trim() === '' ? undefined : text.trim(), limit: MAILBOXES_SHOWN }
  const found = useQuery([team.id, 'mailboxes', 'to-give', wanted], () =>
    takeList(team.api.GET('/mailboxes', { params: { query: wanted } })),
  )
  const isFree = ({ id }: MailboxAdmin) => taken.every(({ mailbox_id }) => mailbox_id !== id)
  const free = (found.data?.items ?? []).filter(isFree)
  const chosen = free.find(({ id }) => id === mailboxId)?.id ?? free[0]?.id ?? ''
  const give = useAction(async () => {
    const path = { mailbox_id: chosen, member_id: member.id }
    await done(team.api.PUT(PERSON, { params: { path }, body: { access } }))
    refresh(team.id, 'grants')
    say(words.given(member.email))
    onClose()
  })
  const levels = (Object.keys(mailboxWords.accessLevels) as Access[]).map((value) => {
    return { value, label: mailboxWords.accessLevels[value] }
  })
  return (
    <Dialog
      title={words.giveTitle(member.email)}
      foot={<FormFoot verb={words.give} action={give} isOff={chosen === ''} onClose={onClose} />}
      error={give.error ?? found.error}
      onClose={onClose}
      onSubmit={() => void give.run()}
    >
      <TextField label={words.findMailbox} value={text} onValue={setText} hasFocus />
      {found.data !== undefined && free.length === 0 ? (
        <p class="soft">{words.noMailboxFound}</p>
      ) : (
        <SelectField
          label={words.mailbox}
          value={chosen}
          choices={free.map(({ id, email }) => ({ value: id, label: email }))}
          onValue={setMailboxId}
        />
      )}
      <SelectField label={mailboxWords.accessLevel} value={access} choices={levels} onValue={setAccess} />
    </Dialog>
  )
}
