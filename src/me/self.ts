// The signed-in person: who they are, what they may open, and signing out.

import { type Static, Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { PROGRAM_VERSION } from '../config/version.ts'
import type { Context } from '../context.ts'
import { answer, type RequestFacts, route } from '../http/route.ts'
import { browserCookies, deviceCookie, signOutHeaders } from '../http/session-cookie.ts'
import { ACCESS_SCOPES } from '../people/grants.ts'
import { MEMBER_PERMISSIONS, type TeamMember } from '../people/members.ts'
import type { SessionRecord } from '../people/sessions.ts'
import { ME_ROUTE } from './me-route.ts'
import { Self } from './schemas.ts'

const readSelf = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/self',
  docs: {
    operation: 'getSelf',
    tag: 'Person',
    summary: 'Get the signed-in person, their teams and mailboxes',
    description:
      'A browser that signed in for the first time gets a cookie by which it is recognised at its next sign-in.',
  },
  reply: { schema: Self },
  handle({ app, request }) {
    const session = sessionIn(request)
    const { device } = browserCookies(app.config, (name) => request.cookie(name))
    const token = app.people.devices.tokenFor(session, device)
    const headers = token === null ? {} : deviceCookie(app.config, token)
    return answer({ data: presentSelf(app, session), headers })
  },
})

const deleteSession = route({
  ...ME_ROUTE,
  method: 'DELETE',
  path: '/session',
  docs: {
    operation: 'deleteSession',
    tag: 'Person',
    summary: 'Sign out of this browser',
    description: 'The browser is asked to forget what it stored for this origin (`Clear-Site-Data`).',
  },
  reply: { schema: Type.Object({ signed_out: Type.Literal(true) }) },
  async handle({ app, request }) {
    await app.people.sessions.close(sessionIn(request).token)
    return answer({ data: { signed_out: true }, headers: signOutHeaders(app.config) })
  },
})

/** The session of a route that takes one. */
export function sessionIn(request: RequestFacts): NonNullable<RequestFacts['session']> {
  if (request.session === null) throw new Error('This route takes a session.')
  return request.session
}

export function presentSelf(app: Context, session: SessionRecord): Static<typeof Self> {
  const { people, config } = app
  const person = people.persons.get(session.email)
  const memberships = people.membershipsOf(session)
  const teams = memberships.flatMap(({ teamId, id, role }) => {
    const team = app.directory.teams.get(teamId)
    if (team === undefined) return []
    const permissions = [...MEMBER_PERMISSIONS[role]]
    return [{ id: teamId, name: team.name, member_id: id, role, permissions, status: team.status }]
  })
  return {
    email: session.email,
    display_name: person?.displayName ?? null,
    locale: person?.locale ?? null,
    time_zone: person?.timeZone ?? null,
    teams,
    mailboxes: mailboxesOf(app, memberships),
    is_operator: config.OPERATOR_WEB && people.isOperator(session),
    sign_in: {
      passkeys: people.authentication.usablePasskeysOf(session),
      password: person !== undefined && person.password !== null,
      recovery_codes: codesOf(app, session),
      links: config.SIGN_IN.includes('link') && people.linkMailPolicy(session.email).mailed,
      allowed: [...config.SIGN_IN],
    },
    session_id: session.id,
    confirmed_until: isoTime(session.confirmedUntil),
    version: PROGRAM_VERSION,
  }
}

/** A session that opens one team learns of the codes of that team only. */
function codesOf({ people }: Context, session: SessionRecord): number {
  const { recoveryCodes } = people
  return session.teamId === null ? recoveryCodes.count(session.email) : recoveryCodes.countOf(session)
}

function mailboxesOf(app: Context, memberships: readonly TeamMember[]): Static<typeof Self>['mailboxes'] {
  const granted = memberships.flatMap(({ id: memberId, teamId }) =>
    app.people.grants.ofMember(memberId).flatMap(({ mailboxId: id, access }) => {
      const mailbox = app.directory.mailboxes.get(teamId, id)
      if (mailbox === undefined || mailbox.status === 'deleted') return []
      const { email, displayName, status } = mailbox
      const capabilities = [...ACCESS_SCOPES[access]]
      return [{ id, team_id: teamId, email, display_name: displayName, access, capabilities, status }]
    }),
  )
  const unread = unreadThreadsOf(
    app,
    granted.map(({ id }) => id),
  )
  return granted.map((mailbox) => ({ ...mailbox, unread_threads: unread.get(mailbox.id) ?? null }))
}

/** Threads with an unread message in the Inbox, by mailbox; empty while the store cannot be read. */
function unreadThreadsOf(app: Context, mailboxIds: readonly string[]): Map<string, number> {
  if (mailboxIds.length === 0) return new Map()
  try {
    const accounts = app.store.accounts.byMailboxes(mailboxIds)
    const unread = app.store.read.folders.unreadThreads([...accounts.values()].map(({ n }) => n))
    return new Map([...accounts].map(([id, { n }]) => [id, unread.get(n) ?? 0]))
  } catch (error) {
    app.log.warn({ event: 'me.unread_unavailable', err: error }, 'Unread threads unavailable')
    return new Map()
  }
}

export const selfRoutes = [readSelf, deleteSession]
