// `mailstead member add`, `login-link`: who may open the console, also before any mail can leave.

import { ProductError } from '../base/errors.ts'
import { MEMBER_ROLES, type MemberRole } from '../directory/people/members.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { chooseTeam } from './team-choice.ts'

export const memberAdd: Command = {
  words: 'member add',
  summary: 'Makes a person a member of a team; no mail is sent, see login-link.',
  operands: ['email'],
  options: { ...TEAM_OPTION, role: { value: 'role', says: `${MEMBER_ROLES.join(', ')}; owner unless given` } },
  async run(call) {
    const role = (call.text('role') ?? 'owner') as MemberRole
    if (!MEMBER_ROLES.includes(role)) {
      throw new ProductError('invalid_parameter', `The role must be one of ${MEMBER_ROLES.join(', ')}.`)
    }
    const { directory, db } = await call.open()
    const team = await chooseTeam(directory, call.text('team'))
    const person = { email: call.operands[0]!, role }
    const { id, email } = await db.write((tx) => directory.people.members.add(tx, team.id, person))
    return {
      data: { id, email, role, team_id: team.id },
      lines: [`${email} is now ${role} of ${team.name}.`, `  To sign in: mailstead login-link ${email}`],
    }
  },
}

export const loginLink: Command = {
  words: 'login-link',
  summary: 'Prints a link with which a person signs in, once, within 15 minutes.',
  operands: ['email'],
  async run(call) {
    const { directory } = await call.open()
    const email = call.operands[0]!
    const url = await directory.people.printLink(email)
    if (url === undefined) {
      const add = `mailstead member add ${email}`
      throw new ProductError('not_found', `${email} belongs to no team; add this person first with ${add}.`)
    }
    return {
      data: { url },
      lines: ['Whoever opens this link is signed in. It works once, for 15 minutes:', `  ${url}`],
    }
  },
}
