// The people of a team and their roles.

import { useState } from 'preact/hooks'
import { done, takeList } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import type { Member } from '../../api/types.ts'
import { refresh, useAction, usePages } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
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
        columns={columnsOf(mayManage ? setStep : null)}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={<Empty icon="users" title={words.emptyTitle} action={inviteButton} />}
      />
      {step?.kind === 'invite' && <Invite onClose={close} />}
      {step?.kind === 'change' && <ChangeRole member={step.member} onClose={close} />}
      {step?.kind === 'remove' && <Remove member={step.member} onClose={close} />}
    </Page>
  )
}

/** @param choose null when the role does not allow changes */
function columnsOf(choose: ((step: Step) => void) | null): Column<Member>[] {
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
  const action = useAction(async () => {
    const body = { email: email.trim(), role }
    await done(team.api.POST('/team/members', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'people')
    say(words.invited(body.email))
    onClose()
  })
  const error = action.error?.fieldMessage('email')
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
