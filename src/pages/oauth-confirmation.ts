// Asks a person who was given a link whether their account is to be connected: by which team, for which mailbox, and for what.

import type { Context } from '../context.ts'
import type { PageAnswer } from '../http/route.ts'
import { serviceOfType } from '../outbound/model/connected-services.ts'
import type { BegunConnection } from '../outbound/providers/oauth.ts'
import { html, type Markup } from './markup.ts'
import { sitePage } from './site.ts'

/** Nothing is connected yet: the code is redeemed with the form. */
export function askToConfirm(
  app: Context,
  begun: BegunConnection,
  { state = '', code = '' }: { state?: string; code?: string },
): PageAnswer {
  const { teamId, type, name, createdBy, mail } = begun
  const team = app.directory.teams.get(teamId)!.name
  const issuer = serviceOfType(type).name
  const key = app.directory.keys.get(teamId, createdBy)?.name
  const body = html`<p>You have signed in to ${issuer}. The team below asks for access to that account.</p>
<div class="card"><dl><dt>Team</dt><dd>${team}</dd><dt>Begun by</dt><dd>${key === undefined ? 'the operator' : html`the API key &ldquo;${key}&rdquo;`}</dd>
<dt>Name</dt><dd>${name}</dd><dt>Mailbox</dt><dd>${mailboxText(app, mail)}</dd><dt>Access</dt><dd>${accessText(mail)}</dd></dl></div>
<form method="post" action="/oauth/callback/${type}/confirm"><input type="hidden" name="csrf" value="${app.people.sessions.formToken(state)}">
<input type="hidden" name="state" value="${state}"><input type="hidden" name="code" value="${code}">
<div class="actions"><button>Connect the account</button></div></form>
<h2>I did not expect this</h2><p>Close this page. Nothing is connected without the button.</p>`
  return sitePage({ title: `Connect your ${issuer} account?`, body, session: null })
}

function mailboxText(app: Context, mail: BegunConnection['mail']): Markup | string {
  if (mail === null) return 'none: the account is used for sending only'
  if (mail.mailboxId === null) return 'a new mailbox of the team, which is your account'
  const email = app.directory.mailboxes.byId(mail.mailboxId)?.email
  return email === undefined ? 'a mailbox that was deleted' : html`<code>${email}</code>`
}

function accessText(mail: BegunConnection['mail']): string {
  if (mail === null) return 'The team sends mail from your address.'
  if (mail.mode === 'collect') return 'The team receives a copy of all your mail.'
  return 'The team reads, changes and deletes your mail, and sends mail from your address.'
}
