// `mailstead member list`, `member add`, `login-link`, `sign-out`: lists and adds members, prints sign-in links, also before mail can be sent, and ends
// sessions.

import { presentMember } from '../../api/management/team.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { checkPersonEmail, MEMBER_ROLES, type MemberRole } from '../../people/members.ts'
import { auditCommand } from '../frame/audit-command.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { shellWord } from '../frame/shell-word.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const memberList: Command = {
  words: 'member list',
  summary: 'List the members of a team, the first invited first.',
  options: { ...TEAM_OPTION, ...LIMIT_OPTION },
  async run(call) {
    const limit = readLimit(call)
    const { directory, people } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const page = people.members.list(team.id, { limit, after: null })
    const rows = page.items.map(presentMember)
    return listOutput(rows, page.next !== null, {
      none: 'There are no members. Add one with mailstead member add.',
      head: ['Member', 'Role', 'Status', 'Last sign-in', 'Address'],
      cells: (row) => [row.id, row.role, row.status, row.last_login_at ?? 'never', row.email],
    })
  },
}

export const memberAdd: Command = {
  words: 'member add',
  summary: 'Add a person to a team as a member; no mail is sent, see login-link.',
  operands: ['email'],
  options: {
    ...TEAM_OPTION,
    role: { value: 'role', says: `${MEMBER_ROLES.join(', ')}; owner unless given`, words: MEMBER_ROLES },
  },
  async run(call) {
    const role = (call.text('role') ?? 'owner') as MemberRole
    if (!MEMBER_ROLES.includes(role)) {
      throw new ProductError('invalid_parameter', `The role must be one of ${MEMBER_ROLES.join(', ')}.`)
    }
    const app = await call.open()
    const { directory, people, db } = app
    const team = chooseTeam(directory, call.text('team'))
    const person = { email: call.operands[0]!, role }
    const { id, email } = await db.write((tx) => {
      const added = people.members.add(tx, team.id, person)
      auditCommand(tx, app, memberAdd.words, { email: added.email, teamId: team.id })
      return added
    })
    return {
      data: { id, email, role, team_id: team.id },
      lines: [
        `${email} is now ${role} of ${team.name}.`,
        `  To sign in: mailstead login-link ${shellWord(email)} --team ${team.id}`,
      ],
    }
  },
}

export const loginLink: Command = {
  words: 'login-link',
  summary:
    'Print a one-time link that signs an operator in, another person to one team, or opens the invitation of an agent.',
  operands: ['email'],
  options: {
    team: {
      value: 'team',
      says: 'id or name of the team the link opens; required for members of several who are no operators',
    },
  },
  async run(call) {
    const app = await call.open()
    const email = checkPersonEmail(call.operands[0]!)
    const wanted = call.text('team')
    const isWhole = wanted === undefined && app.people.isOperator({ email, teamId: null })
    const { teamId, show } = isWhole ? operatorChoice(app, email) : choose(await linksFor(app, email), email, wanted)
    const { url, lines } = await show()
    await app.db.write((tx) => auditCommand(tx, app, 'login-link', { email, teamId }))
    return { data: { url }, lines: [...lines, `  ${url}`] }
  },
}

export const signOut: Command = {
  words: 'sign-out',
  summary: 'Sign a person out of every browser, and revoke their unused links.',
  operands: ['email'],
  async run(call) {
    const app = await call.open()
    const email = checkPersonEmail(call.operands[0]!)
    const { people, db } = app
    const ended = await db.write((tx) => {
      people.links.dropOf(tx, email)
      auditCommand(tx, app, 'sign-out', { email, teamId: null })
      return people.sessions.closeOf(tx, email)
    })
    return { data: { email, sessions: ended }, lines: [`${email} is signed out of ${ended} browsers.`] }
  },
}

/** A link that can be printed for a person. */
interface Link {
  /** The team it opens; null for everything that is the person's. */
  teamId: string | null
  show(): Promise<{ url: string; lines: readonly string[] }>
}

/** A link that opens one team. */
interface Choice extends Link {
  teamId: string
  teamName: string
}

/** The pages of the operator open to a session that is bound to no team. */
function operatorChoice({ people, db }: Context, email: string): Link {
  const lines = [`This link signs the operator ${email} in. It works once, for 15 minutes:`]
  return {
    teamId: null,
    show: async () => ({ url: await db.write((tx) => people.makeOperatorLink(tx, email)), lines }),
  }
}

/** The teams a person belongs to, and those of agents that have invited them. */
async function linksFor({ people, agents, directory: { teams } }: Context, email: string): Promise<Choice[]> {
  const choices: Choice[] = []
  for (const { teamId } of people.members.of(email)) {
    const teamName = teams.get(teamId)?.name ?? teamId
    const lines = [`This link signs in to ${teamName}. It works once, for 15 minutes:`]
    const show = async () => ({ url: (await people.showLink(teamId, email, null))!, lines })
    choices.push({ teamId, teamName, show })
  }
  for (const { invite, registration } of await agents.invites.openFor(email)) {
    const lines = [`The agent ${registration.email} has invited ${email}. This link opens the invitation:`]
    const show = async () => ({ url: await agents.invites.showLink(invite), lines })
    choices.push({ teamId: registration.teamId, teamName: registration.email, show })
  }
  return choices
}

/** @throws ProductError not_found, missing_parameter */
function choose(all: readonly Choice[], email: string, wanted: string | undefined): Choice {
  if (all.length === 0) {
    const add = `mailstead member add ${shellWord(email)}`
    throw new ProductError('not_found', `${email} belongs to no team; add this person first with ${add}.`)
  }
  const fits = all.filter(({ teamId, teamName }) => wanted === undefined || teamId === wanted || teamName === wanted)
  if (fits.length === 1) return fits[0]!
  if (fits.length === 0) throw new ProductError('not_found', `${email} does not belong to the team ${wanted}.`)
  const names = fits.map(({ teamId, teamName }) => `${teamId} (${teamName})`).join(', ')
  throw new ProductError('missing_parameter', `The link opens one team. Name it with --team and its id: ${names}.`)
}
