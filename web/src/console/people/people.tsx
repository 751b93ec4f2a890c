// The people of a team and their roles.

import { useState } from 'preact/hooks'
import { takeList } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import type { Member } from '../../api/types.ts'
import { usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Badge, Person, State, Time } from '../../parts/marks.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { common } from '../../words/en/common.ts'
import { people as words } from '../../words/en/people.ts'
import { useTeam } from '../team.ts'
import { ChangeRole, Invite, Remove, SignInLink, SignOut } from './dialogs.tsx'
import { FormerMembers } from './left-behind.tsx'
import { MemberDetail } from './member-detail.tsx'

type Step = { kind: 'invite' } | { kind: MemberStep; member: Member }
type MemberStep = 'change' | 'remove' | 'sign-out' | 'link'

export function People() {
  const team = useTeam()
  const filters = useFilters()
  const [step, setStep] = useState<Step | null>(null)
  const query = { q: filters.get('q'), role: filters.get('role') as Member['role'] | undefined }
  const pages = usePages([team.id, 'people', query], (cursor) =>
    takeList(team.api.GET('/team/members', { params: { query: { ...query, cursor } } })),
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
      curl={[{ method: 'GET', path: '/team/members', query }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="role" label={words.role} choices={choicesOf(words.shortRoles)} />
      </FilterBar>
      <List
        label={words.title}
        pages={pages}
        isTall
        isNamed
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (member) => (
            <MemberDetail member={member} choose={mayManage ? (kind) => setStep({ kind, member }) : null} />
          ),
        }}
        keyOf={({ id }) => id}
        columns={columnsOf(mayManage ? setStep : null, team.role === 'owner')}
        clearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={<Empty icon="users" title={words.emptyTitle} action={inviteButton} />}
      />
      {mayManage && <FormerMembers />}
      {step?.kind === 'invite' && <Invite onClose={close} />}
      {step?.kind === 'change' && <ChangeRole member={step.member} onClose={close} />}
      {step?.kind === 'remove' && <Remove member={step.member} onClose={close} />}
      {step?.kind === 'sign-out' && <SignOut member={step.member} onClose={close} />}
      {step?.kind === 'link' && <SignInLink member={step.member} onClose={close} />}
    </Page>
  )
}

/**
 * @param choose null when the role does not allow changes
 * @param maySeeLinks only owners are shown links to sign in
 */
function columnsOf(choose: ((step: Step) => void) | null, maySeeLinks: boolean): Column<Member>[] {
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
      class: 'number corner',
      cell: (member) =>
        choose !== null && (
          <Menu
            class="icon-button"
            label={words.actions(member.email)}
            items={itemsFor(member, (kind) => choose({ kind, member }), maySeeLinks)}
          >
            <Icon name="ellipsis" />
          </Menu>
        ),
    },
  ]
}

/** Their own sessions a person ends on their own page. */
function itemsFor(member: Member, choose: (kind: MemberStep) => void, maySeeLinks: boolean): MenuItem[] {
  const isSelf = member.email === self.value?.email
  return [
    { label: words.change, icon: 'pencil', onPress: () => choose('change') },
    ...(maySeeLinks && !isSelf ? [{ label: words.link, icon: 'link' as const, onPress: () => choose('link') }] : []),
    ...(isSelf ? [] : [{ label: words.signOut, icon: 'log-out' as const, onPress: () => choose('sign-out') }]),
    { label: words.remove, icon: 'trash-2', isDangerous: true, onPress: () => choose('remove') },
  ]
}
