// The members of a team, and sign-in links that an owner hands to members who cannot receive one by mail.

import { Type } from 'typebox'
import { notFound } from '../base/errors.ts'
import { type Route, route } from '../http/route.ts'
import { Id } from '../http/schema.ts'
import type { TeamMember } from '../people/members.ts'
import { forbidden, viewOf } from './console.ts'
import { html, type Markup } from './markup.ts'
import { goTo, PAGE_ROUTE, personOf, requireFormToken, requireFreshSignIn, sitePage } from './site.ts'

const MEMBERS_SHOWN = 100

const showMembers = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/keys/{team_id}/members',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showMembers',
    summary: 'Lists the members of a team.',
  },
  params: Type.Object({ team_id: Id('team') }),
  handle({ params: { team_id: teamId }, app, request }) {
    const view = viewOf(app, request, teamId, 'team.read')
    if (view === null) return goTo('/owner/sign-in')
    const { items } = app.people.members.list(teamId, { limit: MEMBERS_SHOWN, after: null })
    const person = personOf(app, view.session)
    const rows = items.map((member) => row(member, view.member.role === 'owner' ? person.formToken : null))
    const body = html`<table><thead><tr><th>Address</th><th>Role</th><td></td></tr></thead><tbody>${rows}</tbody></table>
<p><a href="/owner/keys/${teamId}">API keys</a></p>`
    return sitePage({ title: 'Members', body, session: person })
  },
})

const showMemberLink = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/keys/{team_id}/members/{member_id}/link',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'createMemberLink',
    summary: 'Shows an owner a link that signs a member in to this team.',
  },
  params: Type.Object({ team_id: Id('team'), member_id: Id('member') }),
  body: { form: true, schema: Type.Object({ csrf: Type.String({ maxLength: 100 }) }) },
  async handle({ params: { team_id: teamId, member_id: id }, body, app, request }) {
    const view = viewOf(app, request, teamId)
    if (view === null) return goTo('/owner/sign-in')
    requireFormToken(app, view.session.token, body.csrf)
    if (view.member.role !== 'owner') throw forbidden()
    requireFreshSignIn(app, view.session)
    const { people } = app
    const member = people.members.get(teamId, id)
    const url =
      member && (await people.showLink(teamId, member.email, { by: view.member.email, memberId: view.member.id }))
    if (member === undefined || url === undefined) throw notFound('member')
    const text = html`<p>Hand this link to <strong>${member.email}</strong>. It signs in to this team alone, works once, for 15 minutes, and is shown only once:</p>
<div class="card"><code class="secret">${url}</code></div><p><a href="/owner/keys/${teamId}/members">Members</a></p>`
    return sitePage({ title: 'A link to sign in', body: text, session: personOf(app, view.session) })
  },
})

/** @param token of the form; null for members who may not create links */
function row({ id, teamId, email, role }: TeamMember, token: string | null): Markup {
  const form =
    token &&
    html`<form method="post" action="/owner/keys/${teamId}/members/${id}/link"><input type="hidden" name="csrf" value="${token}"><button class="quiet">Show a link to sign in</button></form>`
  return html`<tr><td>${email}</td><td>${role}</td><td>${form}</td></tr>`
}

export const memberPages: readonly Route[] = [showMembers, showMemberLink]
