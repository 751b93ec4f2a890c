// Invitations of agents: a person accepts or declines to be the owner. GET changes nothing; the decision is a form.

import { Type } from 'typebox'
import type { OpenInvite } from '../agents/invites.ts'
import { type Route, route } from '../http/route.ts'
import { signInCookie } from '../http/session-cookie.ts'
import { TOKEN_PATTERN } from '../people/links.ts'
import { html, type Markup, when } from './markup.ts'
import { linkClient } from './sign-in.ts'
import { goTo, PAGE_ROUTE, requireFormToken, sentences, sitePage } from './site.ts'

const GONE = 410
const NOT_FOUND = 404
const params = Type.Object({ token: Type.String({ pattern: TOKEN_PATTERN }) })
const Ticked = Type.Optional(Type.Literal('yes'))

const showInvite = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/invites/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showInvite',
    summary: 'Shows the invitation and the form to answer it.',
  },
  params,
  handle({ params: { token }, app }) {
    const open = app.agents.invites.open(token)
    if (open === undefined)
      return sentences('There is no such invitation', ['A newer message may contain a newer link.'], NOT_FOUND)
    const { state, expiresAt } = open.invite
    if (state === 'expired' || state === 'revoked' || (state === 'pending' && expiresAt <= app.trustedClock.now())) {
      return sentences(
        'This invitation has expired',
        ['It was not answered in time, or was withdrawn. There is nothing to do.'],
        GONE,
      )
    }
    if (state !== 'pending') return sitePage({ title: 'You have decided', body: decided(open), session: null })
    const csrf = app.people.sessions.formToken(token)
    return sitePage({ title: 'An agent names you as its owner', body: question(open, token, csrf), session: null })
  },
})

const answerInvite = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/invites/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'decideInvite',
    summary: 'Accepts or declines.',
  },
  params,
  body: {
    form: true,
    schema: Type.Object({
      csrf: Type.String({ maxLength: 100 }),
      decision: Type.Enum(['accept', 'decline']),
      approve_sending: Ticked,
      opt_out: Ticked,
    }),
  },
  async handle({ params: { token }, body, app, request }) {
    requireFormToken(app, token, body.csrf)
    const accept = body.decision === 'accept'
    const decision = {
      accept,
      approveSending: accept && body.approve_sending === 'yes',
      optOut: !accept && body.opt_out === 'yes',
    }
    const { session } = await app.agents.owners.answer(token, decision, linkClient(app, request))
    return goTo(`/invites/${token}`, session === null ? {} : signInCookie(app.config, session))
  },
})

function facts({ registration, invite }: OpenInvite): Markup {
  return html`<dl><dt>Inbox</dt><dd><code>${registration.email}</code></dd>
<dt>Calls itself</dt><dd>${registration.clientName === null ? html`<span class="soft">nothing</span>` : html`&ldquo;${registration.clientName}&rdquo; <span class="soft">(not verified)</span>`}</dd>
<dt>Registered</dt><dd>${when(registration.createdAt)}</dd>
<dt>You</dt><dd>${invite.email}</dd></dl>`
}

function question(open: OpenInvite, token: string, csrf: string): Markup {
  return html`<p>A program has registered this inbox for itself and says that you are the person behind it.</p>
<div class="card">${facts(open)}</div>
<form method="post" action="/invites/${token}"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="decision" value="accept">
<h2>I expected this</h2>
<p>As the owner you see this agent in your list and can end it at any time.</p>
<label class="line"><input type="checkbox" name="approve_sending" value="yes"><span>Also allow it to send mail from its address. Leave this empty if you are not sure; you can allow it later.</span></label>
<div class="actions"><button>Accept</button></div></form>
<form method="post" action="/invites/${token}"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="decision" value="decline">
<h2>I did not</h2>
<label class="line"><input type="checkbox" name="opt_out" value="yes"><span>No agent may invite this address again.</span></label>
<div class="actions"><button class="quiet">Decline</button></div></form>`
}

function decided(open: OpenInvite): Markup {
  const { state } = open.invite
  if (state === 'declined')
    return html`<p>You declined. The agent has no owner and cannot send. There is nothing more to do.</p>`
  const sends = state === 'approved' ? 'It may send mail.' : 'It may not send mail.'
  return html`<p>You are the owner of this agent. ${sends}</p><div class="card">${facts(open)}</div>
<p><a href="/owner/agents">Your agents</a></p>`
}

export const invitePages: readonly Route[] = [showInvite, answerInvite]
