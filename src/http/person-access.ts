// Requests of signed-in people: their session, the origin rule, and the one place that makes their principals.

import { notFound, ProductError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Recognised } from '../directory/names/principal.ts'
import { ACCESS_SCOPES } from '../people/grants.ts'
import { MEMBER_PERMISSIONS } from '../people/members.ts'
import type { SignInSession } from '../people/sessions.ts'
import type { Actor } from './actor.ts'
import { requireConfirmed } from './fresh-proof.ts'
import type { RequestContext } from './request-context.ts'
import type { Route } from './route.ts'
import { cookieName, cookieOf } from './session-cookie.ts'

/** Requests per minute of one session. */
export const SESSION_LIMIT = 1200
const READS = new Set(['GET', 'HEAD'])

/** Reads the session of the cookie, and who the person acts as. An `Authorization` header is ignored. */
export function identifyPerson(request: RequestContext): void {
  const { app } = request.listener
  const session = sessionOf(request)
  if (session === undefined) return
  request.session = session
  if (app.people.sessions.isUnseen(session)) noteSeen(request, session)
  const known = actingAs(app, session, request.actor)
  request.principal = known?.principal ?? null
  request.suspended = known?.suspended ?? false
}

/** What the session of a running request opens by now: it may have ended, and the role or the access may have changed. */
export function recogniseSession(request: RequestContext): Recognised | undefined {
  const session = sessionOf(request)
  return session && actingAs(request.listener.app, session, request.actor)
}

/**
 * No other site can make a browser send these headers: what changes something needs both (CSRF), and a read may come from the address bar
 * too. CORS is never granted here.
 */
export function requireSameOrigin(request: RequestContext): void {
  if (!request.isPersonal) {
    requireOwnForm(request)
    return
  }
  const site = request.header('sec-fetch-site')
  const isRead = READS.has(request.method)
  if (site !== 'same-origin' && !(isRead && site === 'none')) {
    const sentence = 'This path answers only the pages of this appliance, in a browser. Programs use an API key.'
    throw new ProductError('insufficient_permissions', sentence, { param: 'Sec-Fetch-Site' })
  }
  if (isRead || request.header('x-mailstead') === '1') return
  throw new ProductError('insufficient_permissions', 'The header X-Mailstead is missing. Send X-Mailstead: 1.', {
    param: 'X-Mailstead',
  })
}

/**
 * A form of the script-free pages comes from such a page: another site could otherwise make a browser send a sign-in link of its own, and
 * the person would act in the session of a stranger. Browsers that do not name the site are judged by the token of the form alone.
 */
function requireOwnForm(request: RequestContext): void {
  const route = request.match.entry?.route
  const site = request.header('sec-fetch-site')
  if (route?.form !== true || route.hidden !== true || (site !== 'cross-site' && site !== 'same-site')) return
  throw new ProductError(
    'insufficient_permissions',
    'Another site sent this form. Open the page here, and try again.',
    {
      param: 'Sec-Fetch-Site',
    },
  )
}

/** 401 without a session, 404 for what it does not open. There is no `WWW-Authenticate`: a browser would ask for a password. */
export function requireSession(request: RequestContext): void {
  const { entry } = request.match
  if (request.session === null) {
    if (entry?.route.as === 'none') return
    throw new ProductError('authentication_required', 'You are not signed in, or the session has ended. Sign in.')
  }
  if (entry?.route.as !== 'none' && request.principal === null) throw notFound('path')
  if (request.suspended)
    throw new ProductError('insufficient_permissions', 'The team is suspended. Contact the operator.')
}

/** 403 for a dangerous action of a session that was not confirmed lately. Keys need no confirmation. */
export function requireFreshProof(request: RequestContext): void {
  const { session, match, listener } = request
  if (isDangerous(match.entry!.route)) requireConfirmed(listener.app.trustedClock, session)
}

/** Routes marked so, and every change to the appliance as a whole. */
function isDangerous({ fresh, surface, method }: Route): boolean {
  return fresh === true || (surface === 'operator' && method !== 'GET')
}

/** The principal of a person: by their role in a team, by the grant of a mailbox, or as operator; undefined when nothing allows it. */
export function actingAs(app: Context, session: SignInSession, actor: Actor | null): Recognised | undefined {
  const { id: keyId, email, teamId } = session
  if (actor === null) return { principal: { kind: 'person', keyId, email, teamId }, suspended: false }
  if (actor.kind === 'team') return asTeam(app, session, actor.id)
  if (actor.kind === 'mailbox') return asMailbox(app, session, actor.id)
  if (!app.config.OPERATOR_WEB || !app.people.isOperator(session)) return undefined
  return { principal: { kind: 'operator', keyId, person: { email, memberId: null } }, suspended: false }
}

function asTeam(app: Context, session: SignInSession, teamId: string): Recognised | undefined {
  const member = app.people.membershipsOf(session).find((one) => one.teamId === teamId)
  const team = member && app.directory.teams.get(teamId)
  if (member === undefined || team === undefined) return undefined
  const person = { email: session.email, memberId: member.id }
  const permissions = MEMBER_PERMISSIONS[member.role]
  const principal = { kind: 'team' as const, keyId: session.id, teamId, permissions, person }
  return { principal, suspended: team.status !== 'active' }
}

function asMailbox(app: Context, session: SignInSession, mailboxId: string): Recognised | undefined {
  for (const { id: memberId, teamId } of app.people.membershipsOf(session)) {
    const grant = app.people.grants.get(mailboxId, memberId)
    const mailbox = grant && app.directory.mailboxes.get(teamId, mailboxId)
    if (grant === undefined || mailbox === undefined || mailbox.status === 'deleted') continue
    const person = { email: session.email, memberId }
    const permissions = ACCESS_SCOPES[grant.access]
    const principal = { kind: 'mailbox' as const, keyId: session.id, teamId, mailboxId, permissions, person }
    return { principal, suspended: app.directory.teams.get(teamId)?.status !== 'active' }
  }
  return undefined
}

function sessionOf(request: RequestContext): SignInSession | undefined {
  const { app } = request.listener
  return app.people.sessions.read(cookieOf(request.header('cookie'), cookieName(app.config)))
}

function noteSeen(request: RequestContext, session: SignInSession): void {
  const { app } = request.listener
  app.people.sessions
    .noteSeen(session)
    .catch((error: unknown) => app.log.warn({ event: 'people.session_not_noted', err: error }, 'Session not noted'))
}
