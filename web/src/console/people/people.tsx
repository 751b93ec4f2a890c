// The people of a team and their roles.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import type { Member } from '../../api/types.ts'
import { refresh, useAction, usePages } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Badge, Foreign, Person, State, Time } from '../../parts/marks.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { people as words } from '../../words/en/people.ts'
import { useTeam } from '../team.ts'

type Role = Member['role']
type Step = { kind: 'invite' } | { kind: 'change' | 'remove'; member: Member }

const ROLES = Object.keys(words.roles) as Role[]

export function People() {
  const team = useTeam()
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const pages = usePages([team.id, 'people'], (cursor) =>
    takeList(team.api.GET('/team/members', { params: { query: { cursor } } })),
  )
  const wanted = (filters.get('q') ?? '').toLowerCase()
  const shown = pages.items.filter(({ email, display_name }) =>
    `${email} ${display_name ?? ''}`.toLowerCase().includes(wanted),
  )
  const mayManage = team.may('team.manage')
  const close = () => setStep(null)
  const inviteButton = mayManage && (
    <Button kind="primary" icon="user-plus" onPress={() => setStep({ kind: 'invite' })}>
      {words.invite}
    </Button>
  )
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={inviteButton}
      curl={[{ method: 'GET', path: '/team/members' }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
      </FilterBar>
      <List
        label={words.title}
        pages={{ ...pages, items: shown }}
        isTall
        keyOf={({ id }) => id}
        columns={columnsOf(mayManage ? setStep : null, team.role === 'owner' ? linkPage(team.id) : null)}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={<Empty icon="users" title={words.emptyTitle} action={inviteButton} />}
      />
      {step?.kind === 'invite' && <Invite onClose={close} />}
      {step?.kind === 'change' && <ChangeRole member={step.member} onClose={close} />}
      {step?.kind === 'remove' && <Remove member={step.member} onClose={close} />}
    </Page>
  )
}

/** The page without script that shows an owner links for people who cannot be mailed one. */
const linkPage = (teamId: string) => `/owner/keys/${teamId}/members`

/**
 * @param choose null when the role does not allow changes
 * @param links the page of links; null when the role does not allow it
 */
function columnsOf(choose: ((step: Step) => void) | null, links: string | null): Column<Member>[] {
  return [
    {
      head: words.title,
      cell: ({ email, display_name }) => (
        <span class="row">
          <Person name={display_name ?? email} />
          <span class="two-lines">
            <span class="strong">
              <Foreign>{display_name ?? email}</Foreign>{' '}
              {email === self.value?.email && <span class="soft">({words.you})</span>}
            </span>
            <span>{display_name === null ? '' : email}</span>
          </span>
        </span>
      ),
    },
    { head: words.role, cell: ({ role }) => words.shortRoles[role] },
    {
      head: words.status,
      cell: ({ status }) =>
        status === 'active' ? (
          <State tone="good">{words.statuses.active}</State>
        ) : (
          <Badge icon="mail">{words.statuses.invited}</Badge>
        ),
    },
    {
      head: words.lastSignIn,
      cell: ({ last_login_at }) => (last_login_at === null ? common.never : <Time at={last_login_at} />),
      class: 'soft',
    },
    {
      head: '',
      class: 'number',
      cell: (member) =>
        choose !== null && (
          <Menu
            class="icon-button"
            label={words.actions(member.email)}
            items={[
              { label: words.change, icon: 'pencil', onPress: () => choose({ kind: 'change', member }) },
              ...(links === null ? [] : [{ label: words.link, icon: 'link' as const, href: links }]),
              {
                label: words.remove,
                icon: 'trash-2',
                isDangerous: true,
                onPress: () => choose({ kind: 'remove', member }),
              },
            ]}
          >
            <Icon name="ellipsis" />
          </Menu>
        ),
    },
  ]
}

const roleChoices = ROLES.map((value) => ({ value, label: words.roles[value] }))

function Invite({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [isUnmailed, setUnmailed] = useState(false)
  const action = useAction(async () => {
    const body = { email: email.trim(), role }
    const answer = await team.api.POST('/team/members', { params: { header: headerOf(body) }, body })
    await done(Promise.resolve(answer))
    refresh(team.id, 'people')
    if (answer.data?.meta.link_mailed === false) {
      setUnmailed(true)
      return
    }
    say(words.invited(body.email))
    onClose()
  })
  const error = action.error?.fieldMessage('email')
  if (isUnmailed) return <NotMailed email={email.trim()} onClose={onClose} />
  const foot = <FormFoot verb={words.invite} action={action} onClose={onClose} />
  return (
    <Dialog
      title={words.inviteTitle}
      foot={foot}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField
        label={words.email}
        type="email"
        hint={words.emailHint}
        value={email}
        onValue={setEmail}
        error={error}
        hasFocus
      />
      <SelectField label={words.role} value={role} choices={roleChoices} onValue={setRole} />
    </Dialog>
  )
}

/** Their address is on this server: someone hands them a link. */
function NotMailed({ email, onClose }: { email: string; onClose: () => void }) {
  const team = useTeam()
  const foot = (
    <>
      <Button onPress={onClose}>{common.done}</Button>
      {team.role === 'owner' && (
        <ButtonLink kind="primary" href={linkPage(team.id)}>
          {words.link}
        </ButtonLink>
      )}
    </>
  )
  return (
    <Dialog title={words.notMailedTitle(email)} foot={foot} onClose={onClose}>
      <p>{words.notMailed}</p>
    </Dialog>
  )
}

function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const team = useTeam()
  const [role, setRole] = useState<Role>(member.role)
  const action = useAction(async () => {
    await done(
      team.api.PATCH('/team/members/{member_id}', { params: { path: { member_id: member.id } }, body: { role } }),
    )
    refresh(team.id, 'people')
    say(words.changed(member.email))
    onClose()
  })
  const foot = <FormFoot verb={common.save} action={action} onClose={onClose} />
  return (
    <Dialog
      title={words.changeTitle(member.email)}
      foot={foot}
      error={action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <SelectField label={words.role} value={role} choices={roleChoices} onValue={setRole} />
    </Dialog>
  )
}

function Remove({ member, onClose }: { member: Member; onClose: () => void }) {
  const team = useTeam()
  const action = useAction(async () => {
    await done(team.api.DELETE('/team/members/{member_id}', { params: { path: { member_id: member.id } } }))
    refresh(team.id, 'people')
    say(words.removed(member.email))
    onClose()
  })
  return (
    <Confirm
      title={words.removeTitle(member.email)}
      verb={words.remove}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.removeText}
    </Confirm>
  )
}
