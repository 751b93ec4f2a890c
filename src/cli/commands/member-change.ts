// `mailstead member role` and `member remove`: changes the role of a member of a team, and removes members.

import { presentMember } from '../../api/management/team.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { checkPersonEmail, MEMBER_ROLES, type MemberRole } from '../../people/members.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { type Call, type Command, TEAM_OPTION } from '../frame/command.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const memberRole: Command = {
  words: 'member role',
  summary: 'Change the role of a member of a team; a team keeps an owner.',
  operands: ['email', MEMBER_ROLES.join('|')],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const { id, teamId, email } = chooseMember(app, call)
    const role = call.operands[1]! as MemberRole
    const changed = await app.people.changeRole(teamId, id, role, () => {})
    const target = { type: 'member', id, label: email }
    await auditCredential(app, memberRole.words, { teamId, target, opens: role })
    return { data: presentMember(changed), lines: [`${email} is now ${role}.`] }
  },
}

export const memberRemove: Command = {
  words: 'member remove',
  summary: 'Remove a person from a team; what they made stays, see the page People.',
  operands: ['email'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const { id, teamId, email } = chooseMember(app, call)
    await app.people.remove(teamId, id)
    await auditCredential(app, memberRemove.words, { teamId, target: { type: 'member', id, label: email } })
    return { data: { deleted: true, id }, lines: [`${email} is no member any more.`] }
  },
}

/** @throws ProductError not_found */
function chooseMember({ directory, people }: Context, call: Call) {
  const team = chooseTeam(directory, call.text('team'))
  const email = checkPersonEmail(call.operands[0]!)
  const member = people.members.of(email).find(({ teamId }) => teamId === team.id)
  if (member === undefined) throw new ProductError('not_found', `${email} is no member of ${team.name}.`)
  return member
}
