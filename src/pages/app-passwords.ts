// The mailboxes of a team in the console, and their app passwords: created and revoked by members, shown with what to enter.

import { Type } from 'typebox'
import { groupedAppSecret } from '../base/app-secret.ts'
import { notFound } from '../base/errors.ts'
import { type ClientEndpoint, clientSettings } from '../config/client-protocols.ts'
import type { Context } from '../context.ts'
import type { SignIn } from '../directory/keys/sign-ins.ts'
import type { AppPassword, IssuedAppPassword } from '../directory/mailboxes/app-passwords.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { allows } from '../directory/names/permissions.ts'
import { type PageAnswer, type Route, route } from '../http/route.ts'
import { Id } from '../http/schema.ts'
import { MEMBER_PERMISSIONS } from '../people/members.ts'
import { openedByMailboxKey } from '../people/opens.ts'
import { type ConsoleView, formViewOf, viewOf } from './console.ts'
import { profilePath } from './mail-setup.ts'
import { html, type Markup, when } from './markup.ts'
import { goTo, PAGE_ROUTE, personOf, requireFreshSignIn, sitePage } from './site.ts'

const MAILBOXES_SHOWN = 100
const SIGN_INS_SHOWN = 20
const MANAGE = 'mailbox.admin.manage'
const csrf = Type.String({ maxLength: 100 })
const team = Type.Object({ team_id: Id('team') })
const ofMailbox = Type.Object({ team_id: Id('team'), mailbox_id: Id('mailbox') })
const ofAppPassword = Type.Object({ ...ofMailbox.properties, app_password_id: Id('appPassword') })
const PATH = '/owner/keys/{team_id}/mailboxes/{mailbox_id}'

/** Permissions a form offers. */
const ACCESS = { all: undefined, read: ['mailbox.read'] } as const

const OUTCOMES: Readonly<Record<SignIn['outcome'], string>> = {
  ok: 'signed in',
  wrong_secret: 'wrong password',
  expired: 'expired or revoked password',
  not_allowed: 'not allowed',
  too_many: 'refused after too many failures',
}

const showMailboxes = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/keys/{team_id}/mailboxes',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showMailboxes',
    summary: 'Lists the mailboxes of a team.',
  },
  params: team,
  async handle({ params: { team_id: teamId }, app, request }) {
    const view = viewOf(app, request, teamId, 'mailbox.admin.read')
    if (view === null) return goTo('/owner/sign-in')
    const { items, next } = await app.directory.mailboxes.list(teamId, { limit: MAILBOXES_SHOWN, after: null })
    const counts = app.directory.appPasswords.countByMailbox(items.map(({ id }) => id))
    const rows = items.map(
      ({
        id,
        email,
        status,
      }) => html`<tr><td><a href="/owner/keys/${teamId}/mailboxes/${id}">${email}</a></td><td>${status}</td>
<td>${counts.get(id) ?? 0}</td></tr>`,
    )
    const more = next === null ? null : html`<p class="soft">The ${MAILBOXES_SHOWN} newest are shown.</p>`
    const body = html`<table><thead><tr><th>Address</th><th>Status</th><th>App passwords</th></tr></thead><tbody>${rows}</tbody></table>${more}
<p><a href="/owner/keys/${teamId}">API keys</a></p>`
    return sitePage({ title: 'Mailboxes', body, session: personOf(app, view.session) })
  },
})

const showAppPasswords = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: PATH,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showAppPasswords',
    summary: 'Lists the app passwords and sign-ins of a mailbox, with the form for a new one.',
  },
  params: ofMailbox,
  handle({ params, app, request }) {
    const view = viewOf(app, request, params.team_id, 'mailbox.admin.read')
    if (view === null) return goTo('/owner/sign-in')
    return mailboxPage(app, view, mailboxOf(app, params), null)
  },
})

const createAppPassword = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: `${PATH}/app-passwords`,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'createConsoleAppPassword',
    summary: 'Creates an app password and shows it once.',
  },
  params: ofMailbox,
  body: {
    form: true,
    schema: Type.Object({
      csrf,
      name: Type.String({ minLength: 1, maxLength: 100 }),
      access: Type.Enum(Object.keys(ACCESS) as (keyof typeof ACCESS)[]),
    }),
  },
  async handle({ params, body, app, request }) {
    const view = formViewOf(app, request, { teamId: params.team_id, csrf: body.csrf, permission: MANAGE })
    if (view === null) return goTo('/owner/sign-in')
    requireFreshSignIn(app, view.session)
    const mailbox = mailboxOf(app, params)
    const input = {
      name: body.name,
      permissions: ACCESS[body.access as keyof typeof ACCESS],
      createdBy: view.member.id,
    }
    const made = { what: 'An app password', by: view.session.email, memberId: view.member.id }
    const notify = await app.people.sharing.prepareCredentialNotices(params.team_id, mailbox, made)
    const issued = await app.directory.appPasswords.issue(params.team_id, mailbox.id, input)
    await notify()
    request.opens(openedByMailboxKey(mailbox.email, issued.record.permissions))
    return mailboxPage(app, view, mailbox, issued)
  },
})

const askToRevoke = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: `${PATH}/app-passwords/{app_password_id}/revoke`,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showAppPasswordRevocation',
    summary: 'Asks for confirmation before an app password is revoked.',
  },
  params: ofAppPassword,
  handle({ params, app, request }) {
    const view = viewOf(app, request, params.team_id, MANAGE)
    if (view === null) return goTo('/owner/sign-in')
    const mailbox = mailboxOf(app, params)
    const one = app.directory.appPasswords.get(mailbox.id, params.app_password_id)
    if (one === undefined) throw notFound('app password')
    const person = personOf(app, view.session)
    const path = pathOf(mailbox)
    const body = html`<p>The app password <strong>${one.name}</strong> (<code>&hellip;${one.last4}</code>) of ${mailbox.email} is revoked permanently.
The program that uses it is disconnected within 30 seconds.</p><p class="soft">Last used: ${lastUse(one)}</p>
<form method="post" action="${path}/app-passwords/${one.id}/revoke"><input type="hidden" name="csrf" value="${person.formToken}">
<div class="actions"><button class="danger">Revoke the app password</button></div></form><p><a href="${path}">Keep it</a></p>`
    return sitePage({ title: 'Revoke an app password', body, session: person })
  },
})

const revokeAppPassword = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: `${PATH}/app-passwords/{app_password_id}/revoke`,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'revokeConsoleAppPassword',
    summary: 'Revokes an app password.',
  },
  params: ofAppPassword,
  body: { form: true, schema: Type.Object({ csrf }) },
  async handle({ params, body, app, request }) {
    const view = formViewOf(app, request, { teamId: params.team_id, csrf: body.csrf, permission: MANAGE })
    if (view === null) return goTo('/owner/sign-in')
    const mailbox = mailboxOf(app, params)
    await app.directory.appPasswords.revoke(mailbox.id, params.app_password_id)
    return goTo(pathOf(mailbox))
  },
})

/** @throws ProductError not_found, also for a mailbox of another team */
function mailboxOf(app: Context, { team_id, mailbox_id }: { team_id: string; mailbox_id: string }): Mailbox {
  const mailbox = app.directory.mailboxes.get(team_id, mailbox_id)
  if (mailbox === undefined) throw notFound('mailbox')
  return mailbox
}

function pathOf({ teamId, id }: Mailbox): string {
  return `/owner/keys/${teamId}/mailboxes/${id}`
}

function mailboxPage(
  app: Context,
  { session, member }: ConsoleView,
  mailbox: Mailbox,
  made: IssuedAppPassword | null,
): PageAnswer {
  const { appPasswords, signIns } = app.directory
  const person = personOf(app, session)
  const mayManage = allows(MEMBER_PERMISSIONS[member.role], MANAGE)
  const active = mayManage ? appPasswords.list(mailbox.id, { status: 'active', limit: 100, after: null }).items : []
  const recent = signIns.list(mailbox.id, { limit: SIGN_INS_SHOWN, after: null }).items
  const secret =
    made &&
    html`<div class="card"><p>The new app password. It is shown only once:</p><code class="secret">${groupedAppSecret(made.secret)}</code></div>`
  const isOpen = mayManage && mailbox.status !== 'deleted' && !mailbox.isAgent
  const body = html`${secret}<h2>What to enter in a mail program</h2>${settingsOf(app, mailbox)}
${mayManage ? passwordTable(mailbox, active) : null}${isOpen ? newForm(mailbox, person.formToken) : null}
<h2>Sign-ins</h2>${signInTable(recent)}<p><a href="/owner/keys/${mailbox.teamId}/mailboxes">Mailboxes</a></p>`
  return sitePage({ title: mailbox.email, body, session: person })
}

function settingsOf(app: Context, mailbox: Mailbox): Markup {
  const { imap, submission, managesieve } = clientSettings(app.config, mailbox.email)
  return html`<dl><dt>User name</dt><dd><code>${mailbox.email}</code></dd><dt>Password</dt><dd>an app password</dd>
${endpointOf('Incoming (IMAP)', imap)}${endpointOf('Outgoing (SMTP)', submission)}${endpointOf('Filters (ManageSieve)', managesieve)}</dl>
<p><a href="/mail-setup">Page for the person who uses it</a>${imap && submission ? html`, <a href="${profilePath(mailbox.email)}">profile for Apple devices</a>` : null}</p>`
}

function endpointOf(name: string, endpoint: ClientEndpoint | null): Markup | null {
  if (endpoint === null) return null
  const { host, port, security } = endpoint
  return html`<dt>${name}</dt><dd><code>${host}</code>, port ${port}, ${security === 'tls' ? 'TLS' : 'STARTTLS'}</dd>`
}

function passwordTable(mailbox: Mailbox, active: readonly AppPassword[]): Markup {
  const rows = active.map(
    (one) => html`<tr><td>${one.name}</td><td><code>&hellip;${one.last4}</code></td><td>${lastUse(one)}</td>
<td><a href="${pathOf(mailbox)}/app-passwords/${one.id}/revoke">Revoke</a></td></tr>`,
  )
  return html`<h2>App passwords</h2><table><thead><tr><th>Name</th><th>Ends with</th><th>Last used</th><td></td></tr></thead><tbody>${rows}</tbody></table>`
}

function lastUse({ lastUsedAt, lastUsedFrom, lastUsedClient }: AppPassword): string {
  if (lastUsedAt === null) return 'never'
  const by = lastUsedClient === null ? '' : ` by ${lastUsedClient}`
  return `${when(lastUsedAt)} from ${lastUsedFrom ?? 'unknown'}${by}`
}

function newForm(mailbox: Mailbox, token: string): Markup {
  return html`<h2>A new app password</h2><form method="post" action="${pathOf(mailbox)}/app-passwords"><input type="hidden" name="csrf" value="${token}">
<label>Name, such as that of the device <input type="text" name="name" required maxlength="100"></label><label>The program may <select name="access">
<option value="all">read, change and send</option><option value="read">read only</option></select></label>
<div class="actions"><button>Create the app password</button></div></form>`
}

function signInTable(recent: readonly SignIn[]): Markup {
  if (recent.length === 0) return html`<p class="soft">No mail program has signed in.</p>`
  const rows = recent.map(
    (
      one,
    ) => html`<tr><td>${when(one.at)}${one.times > 1 ? ` (${one.times} times)` : ''}</td><td>${one.protocol}</td><td>${OUTCOMES[one.outcome]}</td>
<td>${one.source}${one.client === null ? '' : `, ${one.client}`}</td></tr>`,
  )
  return html`<table><thead><tr><th>At</th><th>Protocol</th><th>Outcome</th><th>From</th></tr></thead><tbody>${rows}</tbody></table>`
}

export const appPasswordPages: readonly Route[] = [
  showMailboxes,
  showAppPasswords,
  createAppPassword,
  askToRevoke,
  revokeAppPassword,
]
