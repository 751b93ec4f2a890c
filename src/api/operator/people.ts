// The people of the appliance, for the operator: who signs in, who is an operator, and the end of their sessions.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery, Words } from '../../http/schema.ts'
import type { KnownPerson } from '../../people/known-people.ts'
import { SIGN_IN_MS } from '../../people/links.ts'
import { checkPersonEmail, MEMBER_ROLES } from '../../people/members.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../schemas/time.ts'

const params = Type.Object({
  email: Type.String({
    minLength: 3,
    maxLength: 254,
    description: 'The address the person signs in with.',
    examples: ['ana@example.org'],
  }),
})
const ROUTE = { surface: 'operator', access: { as: 'operator' } } as const

const PersonTeam = record('OperatorPersonTeam', 'A team of a person.', {
  id: Id('team'),
  name: Type.String(),
  member_id: Id('member'),
  role: Words(MEMBER_ROLES),
})

const Person = record('OperatorPerson', 'A person who is a member of a team, or has signed in.', {
  email: Type.String({ description: 'Lower-case.' }),
  display_name: Nullable(Type.String()),
  is_operator: Type.Boolean({ description: 'Whether they reach the operator pages in the browser.' }),
  teams: Type.Array(PersonTeam),
  passkeys: Type.Integer({ minimum: 0 }),
  password: Type.Boolean({ description: 'Whether they have a password.' }),
  sessions: Type.Integer({ minimum: 0, description: 'Browsers that are signed in.' }),
  last_login_at: TimeOrNull('When they last signed in to a team.'),
})

const listPeople = route({
  ...ROUTE,
  method: 'GET',
  path: '/people',
  docs: {
    operation: 'listPeople',
    tag: 'People',
    summary: 'List the people of all teams, and the operators, by address',
    description: 'With their teams and roles, and when each last signed in.',
  },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    ...searchFilters('Part of the address or of the name.'),
    is_operator: Type.Boolean({ description: 'Whether they are operators.' }),
  }),
  reply: { schema: listOf(Person) },
  async handle({ query, after, app }) {
    const { is_operator: isOperator, limit } = query
    const page = await app.people.known.list({ search: searchOf(query), isOperator, limit, after })
    return { items: page.items.map((one) => present(app, one)), next: page.next }
  },
})

const endSessions = route({
  ...ROUTE,
  method: 'DELETE',
  path: '/people/{email}/sessions',
  docs: {
    operation: 'deletePersonSessions',
    tag: 'People',
    summary: 'Sign a person out of every browser, and revoke their unused links',
    description: 'They can sign in again as before. Their passkeys, codes and passwords stay.',
  },
  params,
  reply: { schema: Person },
  async handle({ params: { email: written }, app }) {
    const { email } = personOf(app, written)
    await app.db.write((tx) => {
      app.people.sessions.closeOf(tx, email)
      app.people.links.dropOf(tx, email)
    })
    return present(app, personOf(app, email))
  },
})

/** @throws ProductError not_found for what is no address, as for any part of a path */
function addressOf(written: string): string {
  try {
    return checkPersonEmail(written)
  } catch {
    throw notFound('person')
  }
}

const setOperator = route({
  ...ROUTE,
  method: 'PUT',
  path: '/people/{email}/operator',
  docs: {
    operation: 'setPersonOperator',
    tag: 'People',
    summary: 'Make a person an operator, or withdraw that',
    description:
      'Also for an address that is not known yet. They sign in as before; no link is mailed. Who belongs to no team and is an operator no ' +
      'more is forgotten, with passkeys, codes, password and sessions.',
  },
  params,
  body: {
    schema: record(
      'OperatorGrant',
      'Whether they are an operator.',
      { is_operator: Type.Boolean({ description: 'False: they stop being an operator.' }) },
      { is_operator: true },
    ),
  },
  reply: { schema: Person },
  async handle({ params: { email: written }, body, app }) {
    const { people, db } = app
    if (!body.is_operator) {
      const person = personOf(app, written)
      await db.write((tx) => people.withdrawOperator(tx, person.email))
      // A person without a team is forgotten with it.
      return present(app, people.known.get(person.email) ?? forgotten(person))
    }
    const email = addressOf(written)
    await db.write((tx) => people.persons.setOperator(tx, email, true))
    return present(app, personOf(app, email))
  },
})

const createLink = route({
  ...ROUTE,
  method: 'POST',
  path: '/people/{email}/sign-in-link',
  docs: {
    operation: 'createPersonSignInLink',
    tag: 'People',
    summary: 'Make a link that signs a person in to one of their teams',
    description:
      'It works once, for 15 minutes, and opens only that team, because it does not prove the address. A person who has a way to sign in of ' +
      'their own, or has signed in and opens a mailbox, receives a message about it, and so do the owners of the mailboxes they open.',
  },
  params,
  body: {
    schema: record(
      'PersonSignInLinkCreate',
      'Which team.',
      { team_id: { ...Id('team'), description: 'The team that the link opens.' } },
      { team_id: 'team_0a1b2c3d4e5f6g7h8i9j0k1l' },
    ),
  },
  reply: {
    secret: true,
    status: 201,
    schema: record('PersonSignInLink', 'A link, shown in this response only.', {
      email: Type.String(),
      team_id: Id('team'),
      url: Type.String(),
      expires_at: TimeOf('Until when it works.'),
    }),
  },
  async handle({ params: { email: written }, body: { team_id: teamId }, principal, app }) {
    const { email } = personOf(app, written)
    const by = principal.person?.email ?? 'The operator of the server'
    const url = await app.people.showLink(teamId, email, { by, memberId: null })
    if (url === undefined) throw notFound('member')
    const expiresAt = isoTime(app.trustedClock.now() + SIGN_IN_MS)
    return answer({ data: { email, team_id: teamId, url, expires_at: expiresAt }, status: 201 })
  },
})

/** @throws ProductError not_found */
function personOf(app: Context, written: string): KnownPerson {
  const found = app.people.known.get(written.toLowerCase())
  if (found === undefined) throw notFound('person')
  return found
}

/** A person who has just been forgotten. */
function forgotten(person: KnownPerson): KnownPerson {
  return { ...person, displayName: null, isOperator: false, passkeys: 0, hasPassword: false, sessions: 0 }
}

function present(app: Context, person: KnownPerson): Static<typeof Person> {
  const { email, displayName, isOperator, memberships, passkeys, hasPassword, sessions, lastLoginAt } = person
  return {
    ...{ email, display_name: displayName, is_operator: isOperator },
    teams: memberships.map(({ id, teamId, role }) => {
      return { id: teamId, name: app.directory.teams.get(teamId)?.name ?? teamId, member_id: id, role }
    }),
    ...{ passkeys, password: hasPassword, sessions, last_login_at: isoTimeOrNull(lastLoginAt) },
  }
}

export const operatorPeople = [listPeople, endSessions, setOperator, createLink]
