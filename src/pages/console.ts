// The console: the API keys of a team, issued and revoked by its members (docs/design/contract.md §5.1).

import { Type } from 'typebox'
import { notFound, ProductError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { ApiKey } from '../directory/keys/keys.ts'
import { allows, isSubset, ROLES, type Role } from '../directory/names/permissions.ts'
import { type PageAnswer, type RequestFacts, type Route, route } from '../http/route.ts'
import { Id } from '../http/schema.ts'
import { MEMBER_PERMISSIONS, type TeamMember } from '../people/members.ts'
import { openedByKey } from '../people/opens.ts'
import type { SignInSession } from '../people/sessions.ts'
import { html, type Markup, when } from './markup.ts'
import { goTo, PAGE_ROUTE, personOf, requireFormToken, requireFreshSignIn, sessionOf, sitePage } from './site.ts'

const KEYS_SHOWN = 100
const ROLE_NAMES = Object.keys(ROLES) as Role[]
const csrf = Type.String({ maxLength: 100 })
const team = Type.Object({ team_id: Id('team') })

/** A signed-in person and their membership in the team that is shown. */
export interface ConsoleView {
  session: SignInSession
  member: TeamMember
}

const showTeams = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/keys',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showConsole',
    summary: 'Lists the teams of the signed-in person.',
  },
  async handle({ app, request }) {
    const session = sessionOf(app, request)
    if (session === undefined) return goTo('/owner/sign-in')
    const members = app.people.membershipsOf(session)
    const teams = await Promise.all(members.map(({ teamId }) => app.directory.teams.get(teamId)))
    if (members.length === 1) return goTo(`/owner/keys/${members[0]!.teamId}`)
    const items = members.map(
      ({ teamId, role }, index) =>
        html`<li><a href="/owner/keys/${teamId}">${teams[index]?.name ?? teamId}</a> <span class="soft">${role}</span></li>`,
    )
    return sitePage({ title: 'Your teams', body: html`<ul>${items}</ul>`, session: personOf(app, session) })
  },
})

const showKeys = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/keys/{team_id}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showKeys',
    summary: 'Lists the keys of a team, with the form for a new one.',
  },
  params: team,
  handle({ params, app, request }) {
    const view = viewOf(app, request, params.team_id)
    return view === null ? goTo('/owner/sign-in') : keysPage(app, view, null)
  },
})

const createKey = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/keys/{team_id}/keys',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'createConsoleKey',
    summary: 'Issues a key and shows its secret once.',
  },
  params: team,
  body: {
    form: true,
    schema: Type.Object({ csrf, name: Type.String({ minLength: 1, maxLength: 100 }), role: Type.Enum(ROLE_NAMES) }),
  },
  async handle({ params, body, app, request }) {
    const view = formViewOf(app, request, { teamId: params.team_id, csrf: body.csrf, permission: 'apikey.create' })
    if (view === null) return goTo('/owner/sign-in')
    requireFreshSignIn(app, view.session)
    const role = body.role as Role
    if (!isSubset(ROLES[role], MEMBER_PERMISSIONS[view.member.role])) throw forbidden()
    const issued = await app.directory.keys.issue({
      ...{ teamId: params.team_id, kind: 'root', name: body.name, role, createdBy: view.member.id },
    })
    request.opens(openedByKey(issued.record.permissions))
    return keysPage(app, view, issued.secret)
  },
})

const askToRevoke = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/keys/{team_id}/keys/{key_id}/revoke',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showKeyRevocation',
    summary: 'Asks for confirmation before a key is revoked.',
  },
  params: Type.Object({ team_id: Id('team'), key_id: Id('key') }),
  handle({ params: { team_id: teamId, key_id: id }, app, request }) {
    const view = viewOf(app, request, teamId, 'apikey.delete')
    if (view === null) return goTo('/owner/sign-in')
    const key = app.directory.keys.get(teamId, id)
    if (key === undefined) throw notFound('API key')
    const person = personOf(app, view.session)
    const body = html`<p>The key <strong>${key.name}</strong> (<code>${key.prefix}&hellip;${key.last4}</code>) is revoked immediately and permanently.
Programs that use it are rejected.</p><p class="soft">Last used: ${key.lastUsedAt === null ? 'never' : when(key.lastUsedAt)}</p>
<form method="post" action="/owner/keys/${teamId}/keys/${id}/revoke"><input type="hidden" name="csrf" value="${person.formToken}">
<div class="actions"><button class="danger">Revoke the key</button></div></form><p><a href="/owner/keys/${teamId}">Keep it</a></p>`
    return sitePage({ title: 'Revoke a key', body, session: person })
  },
})

const revokeKey = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/keys/{team_id}/keys/{key_id}/revoke',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'revokeConsoleKey',
    summary: 'Revokes a key at once.',
  },
  params: Type.Object({ team_id: Id('team'), key_id: Id('key') }),
  body: { form: true, schema: Type.Object({ csrf }) },
  async handle({ params, body, app, request }) {
    const view = formViewOf(app, request, { teamId: params.team_id, csrf: body.csrf, permission: 'apikey.delete' })
    if (view === null) return goTo('/owner/sign-in')
    await app.directory.keys.revoke(params.team_id, params.key_id)
    return goTo(`/owner/keys/${params.team_id}`)
  },
})

/**
 * What a page of a team needs.
 * @returns null without a session
 * @throws ProductError not_found for a team of others, insufficient_permissions in a suspended one and without the permission
 */
export function viewOf(
  app: Context,
  request: RequestFacts,
  teamId: string,
  permission = 'apikey.read',
): ConsoleView | null {
  const session = sessionOf(app, request)
  if (session === undefined) return null
  const member = app.people.membershipsOf(session).find((one) => one.teamId === teamId)
  if (member === undefined) throw notFound('team')
  // As for every other credential of the team (docs/design/directory.md §3).
  if (app.directory.teams.get(teamId)?.status !== 'active') {
    throw new ProductError('insufficient_permissions', 'This team is suspended; ask the operator of this service.')
  }
  for (const needed of ['apikey.read', permission]) requirePermission(member, needed)
  return { session, member }
}

/** As {@link viewOf}, for a form that was posted: its token is checked, too. */
export function formViewOf(
  app: Context,
  request: RequestFacts,
  { teamId, csrf, permission }: { teamId: string; csrf: string; permission: string },
): ConsoleView | null {
  const view = viewOf(app, request, teamId)
  if (view === null) return null
  requireFormToken(app, view.session.token, csrf)
  requirePermission(view.member, permission)
  return view
}

function requirePermission({ role }: TeamMember, permission: string): void {
  if (!allows(MEMBER_PERMISSIONS[role], permission)) throw forbidden()
}

export function forbidden(): ProductError {
  return new ProductError('insufficient_permissions', 'Your role in this team does not allow this.')
}

function keysPage(app: Context, { session, member }: ConsoleView, secret: string | null): PageAnswer {
  const { teamId } = member
  const found = app.directory.teams.get(teamId)
  const { items } = app.directory.keys.list(teamId, { status: 'active', limit: KEYS_SHOWN, after: null })
  const person = personOf(app, session)
  const granted = MEMBER_PERMISSIONS[member.role]
  const rows = items.map((key) => row(key, allows(granted, 'apikey.delete')))
  const made =
    secret === null
      ? null
      : html`<div class="card"><p>The new key. It is shown only once:</p><code class="secret">${secret}</code></div>`
  const body = html`${made}<p class="soft">${found?.name ?? teamId} &middot; ${teamId} &middot; <a href="/owner/keys/${teamId}/mailboxes">Mailboxes</a> &middot; <a href="/owner/keys/${teamId}/members">Members</a></p>
<table><thead><tr><th>Name</th><th>Key</th><th>Kind</th><th>Last used</th><td></td></tr></thead><tbody>${rows}</tbody></table>
${allows(granted, 'apikey.create') ? newKey(teamId, person.formToken, granted) : null}`
  return sitePage({ title: 'API keys', body, session: person })
}

function row(key: ApiKey, mayRevoke: boolean): Markup {
  const link = html`<a href="/owner/keys/${key.teamId}/keys/${key.id}/revoke">Revoke</a>`
  return html`<tr><td>${key.name}</td><td><code>${key.prefix}&hellip;${key.last4}</code></td><td>${key.role ?? key.kind}</td>
<td>${key.lastUsedAt === null ? 'never' : when(key.lastUsedAt)}</td><td>${mayRevoke ? link : null}</td></tr>`
}

function newKey(teamId: string, token: string, granted: readonly string[]): Markup {
  const roles = ROLE_NAMES.filter((role) => isSubset(ROLES[role], granted)).map(
    (role) => html`<option value="${role}">${role}</option>`,
  )
  return html`<h2>A new key</h2><form method="post" action="/owner/keys/${teamId}/keys"><input type="hidden" name="csrf" value="${token}">
<label>Name <input type="text" name="name" required maxlength="100"></label><label>Role <select name="role">${roles}</select></label>
<p class="soft">A program with it sees the events of the team, with the beginning of every received message. The audit log says so.</p>
<div class="actions"><button>Issue the key</button></div></form>`
}

export const consolePages: readonly Route[] = [showTeams, showKeys, createKey, askToRevoke, revokeKey]
