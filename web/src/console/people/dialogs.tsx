// What is done to a member of a team: invited, given another role, signed out, handed a link, removed.

import { useState } from 'preact/hooks'
import { done, take } from '../../api/client.ts'
import type { MadeCounts, Member } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Secret } from '../../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { people as words } from '../../words/en/people.ts'
import { useTeam } from '../team.ts'
import { isLeft, LeftBehind } from './left-behind.tsx'

type Role = Member['role']

interface MemberDialogProps {
  member: Pick<Member, 'id' | 'email'>
  onClose: () => void
}

const ROLES = Object.keys(words.roles) as Role[]
const roleChoices = ROLES.map((value) => ({ value, label: words.roles[value] }))

export function Invite({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [unmailed, setUnmailed] = useState<Member | null>(null)
  const action = useAction(async () => {
    const body = { email: email.trim(), role }
    const answer = await team.api.POST('/team/members', { params: { header: headerOf(body) }, body })
    await done(Promise.resolve(answer))
    refresh(team.id, 'people')
    if (answer.data?.meta.link_mailed === false) {
      setUnmailed(answer.data.data)
      return
    }
    say(words.invited(body.email))
    onClose()
  })
  const error = action.error?.fieldMessage('email')
  if (unmailed !== null) return <NotMailed member={unmailed} onClose={onClose} />
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

/** Their address is on this server: an owner hands them a link. */
function NotMailed({ member, onClose }: MemberDialogProps) {
  const team = useTeam()
  const [isShown, setShown] = useState(false)
  if (isShown) return <SignInLink member={member} onClose={onClose} />
  const foot = (
    <>
      <Button onPress={onClose}>{common.done}</Button>
      {team.role === 'owner' && (
        <Button kind="primary" onPress={() => setShown(true)}>
          {words.link}
        </Button>
      )}
    </>
  )
  return (
    <Dialog title={words.notMailedTitle(member.email)} foot={foot} onClose={onClose}>
      <p>{words.notMailed}</p>
    </Dialog>
  )
}

/** A link that works once, to hand over. */
export function SignInLink({ member, onClose }: MemberDialogProps) {
  const team = useTeam()
  const [link, setLink] = useState<{ url: string; until: string } | null>(null)
  const make = useAction(async () => {
    const path = { member_id: member.id }
    const made = await take(team.api.POST('/team/members/{member_id}/sign-in-link', { params: { path } }))
    setLink({ url: made.url, until: made.expires_at })
  })
  const foot =
    link === null ? (
      <FormFoot verb={words.makeLink} action={make} onClose={onClose} />
    ) : (
      <Button onPress={onClose}>{common.done}</Button>
    )
  return (
    <Dialog
      title={words.linkTitle(member.email)}
      foot={foot}
      error={make.error}
      onClose={onClose}
      onSubmit={link === null ? () => void make.run() : undefined}
    >
      {link === null ? (
        <p>{words.linkText}</p>
      ) : (
        <>
          <Secret text={link.url} />
          <p class="soft">{words.linkUntil(exact(link.until))}</p>
        </>
      )}
    </Dialog>
  )
}

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
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

export function Remove({ member, onClose }: MemberDialogProps) {
  const team = useTeam()
  const [remaining, setRemaining] = useState<MadeCounts | null>(null)
  const action = useAction(async () => {
    const path = { member_id: member.id }
    const removed = await take(team.api.DELETE('/team/members/{member_id}', { params: { path } }))
    refresh(team.id, 'people')
    say(words.removed(member.email))
    if (isLeft(removed.remaining)) setRemaining(removed.remaining)
    else onClose()
  })
  if (remaining !== null) return <LeftBehind member={member} remaining={remaining} onClose={onClose} />
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

export function SignOut({ member, onClose }: MemberDialogProps) {
  const team = useTeam()
  const action = useAction(async () => {
    await done(team.api.DELETE('/team/members/{member_id}/sessions', { params: { path: { member_id: member.id } } }))
    say(words.signedOut(member.email))
    onClose()
  })
  return (
    <Confirm
      title={words.signOutTitle(member.email)}
      verb={words.signOut}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.signOutText}
    </Confirm>
  )
}
