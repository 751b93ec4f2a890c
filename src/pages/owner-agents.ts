// The agents a person owns: their use and their permissions.

import { Type } from 'typebox'
import type { Registration } from '../agents/records.ts'
import type { Context } from '../context.ts'
import { type PageAnswer, type RequestFacts, type Route, route } from '../http/route.ts'
import { Id } from '../http/schema.ts'
import type { SignInSession } from '../people/sessions.ts'
import { html, type Markup, when } from './markup.ts'
import { goTo, PAGE_ROUTE, personOf, requireFormToken, requireFreshSignIn, sessionOf, sitePage } from './site.ts'

const MIB = 1024 * 1024
const LIST = '/owner/agents'
const params = Type.Object({ registration_id: Id('agentRegistration') })
const csrf = Type.String({ maxLength: 100 })

const STATES: Readonly<Record<string, string>> = {
  unclaimed: 'Has no owner',
  invited: 'Owner invited',
  accepted: 'May read, may not send',
  approved: 'May read and send',
  revoked: 'Revoked',
  expired: 'Expired: not claimed',
}

const listAgents = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: LIST,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showOwnedAgents',
    summary: 'Lists the agents of the signed-in person.',
  },
  async handle({ app, request }) {
    const session = sessionOf(app, request)
    if (session === undefined) return goTo('/owner/sign-in')
    const agents = app.agents.owners.agentsOf(session)
    const person = personOf(app, session)
    const cards = await Promise.all(agents.map((agent) => card(app, agent, person.formToken)))
    const none = html`<p>No agent has you as its owner.</p>`
    const all = agents.some(isOpen) && agents.length > 1 ? endAll(person.formToken) : null
    const body = html`${cards.length === 0 ? none : cards}${all}`
    return sitePage({ title: 'Your agents', body, session: person })
  },
})

/** An action form on the list: runs for the signed-in person and redirects to the list. */
function ownerAction(
  path: string,
  operation: string,
  summary: string,
  work: (app: Context, session: SignInSession, id: string, typed: string) => Promise<unknown>,
): Route {
  return route({
    ...PAGE_ROUTE,
    method: 'POST',
    path: `${LIST}/{registration_id}/${path}`,
    docs: {
      ...PAGE_ROUTE.docs,
      operation,
      summary,
    },
    params,
    body: { form: true, schema: Type.Object({ csrf, address: Type.Optional(Type.String({ maxLength: 320 })) }) },
    handle: ({ params: { registration_id: id }, body, app, request }) =>
      signedIn(app, request, body.csrf, (session) => work(app, session, id, body.address ?? '')),
  })
}

const approve = ownerAction(
  'approve-sending',
  'approveAgentSending',
  'Allows the agent to send.',
  (app, session, id) => {
    requireFreshSignIn(app, session)
    return app.agents.owners.approveSending(session, id)
  },
)
const stopSending = ownerAction(
  'revoke-sending',
  'revokeAgentSending',
  'Withdraws the permission to send.',
  (app, session, id) => app.agents.owners.revokeSending(session, id),
)
const end = ownerAction(
  'revoke',
  'revokeOwnedAgent',
  'Revokes the agent after its address was typed.',
  (app, session, id, typed) => app.agents.owners.revoke(session, id, typed),
)

const endEvery = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: `${LIST}/revoke-all`,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'revokeOwnedAgents',
    summary: 'Revokes all agents of the person.',
  },
  body: { form: true, schema: Type.Object({ csrf, sure: Type.Literal('yes') }) },
  handle: ({ body, app, request }) =>
    signedIn(app, request, body.csrf, (session) => app.agents.owners.revokeAll(session)),
})

async function signedIn(
  app: Context,
  request: RequestFacts,
  formToken: string,
  work: (session: SignInSession) => Promise<unknown>,
): Promise<PageAnswer> {
  const session = sessionOf(app, request)
  if (session === undefined) return goTo('/owner/sign-in')
  requireFormToken(app, session.token, formToken)
  await work(session)
  return goTo(LIST)
}

function card(app: Context, agent: Registration, token: string): Markup {
  const account = app.store.accounts.byMailbox(agent.mailboxId)
  const mailbox = app.directory.mailboxes.byId(agent.mailboxId)
  const sent = app.agents.allowance.sentInDay(app.db.read, agent.n)
  const used = Math.round((account?.usedBytes ?? 0) / MIB)
  const room = Math.round((mailbox?.quotaBytes ?? 0) / MIB)
  return html`<section class="card"><h2><code>${agent.email}</code></h2><dl>
<dt>State</dt><dd>${STATES[agent.state] ?? agent.state}</dd>
<dt>Calls itself</dt><dd>${agent.clientName ?? 'nothing'} <span class="soft">(unchecked)</span></dd>
<dt>Storage</dt><dd>${used} of ${room} MiB</dd>
<dt>Last used</dt><dd>${agent.lastUsedAt === null ? 'never' : when(agent.lastUsedAt)}</dd>
<dt>Recipients in 24 hours</dt><dd>${sent}</dd></dl>${isOpen(agent) ? forms(agent, token) : null}</section>`
}

function forms({ id, email, state }: Registration, token: string): Markup {
  const hidden = html`<input type="hidden" name="csrf" value="${token}">`
  const sending =
    state === 'approved'
      ? html`<form method="post" action="${LIST}/${id}/revoke-sending">${hidden}<div class="actions"><button class="quiet">Stop sending</button></div></form>`
      : html`<form method="post" action="${LIST}/${id}/approve-sending">${hidden}<div class="actions"><button>Allow sending</button></div></form>`
  return html`${sending}<details><summary>End this agent</summary>
<form method="post" action="${LIST}/${id}/revoke">${hidden}<label>Its tokens end at once and its inbox is closed. Type <code>${email}</code> to go on.
<input type="text" name="address" required autocomplete="off" maxlength="320"></label><div class="actions"><button class="danger">End it</button></div></form></details>`
}

function endAll(token: string): Markup {
  return html`<h2>All at once</h2><form method="post" action="${LIST}/revoke-all"><input type="hidden" name="csrf" value="${token}">
<label class="line"><input type="checkbox" name="sure" value="yes" required><span>End every agent of mine.</span></label>
<div class="actions"><button class="danger">End all</button></div></form>`
}

function isOpen({ state }: Registration): boolean {
  return state === 'accepted' || state === 'approved'
}

export const ownerPages: readonly Route[] = [listAgents, endEvery, approve, stopSending, end]
