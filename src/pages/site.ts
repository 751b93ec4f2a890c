// The layout of every page with a form: one stylesheet, no script, no external resources.

import { Type } from 'typebox'
import { ProductError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { ErrorAnswer, RouteError } from '../http/error-answer.ts'
import { requireConfirmed } from '../http/fresh-proof.ts'
import { type PageAnswer, page, type RequestFacts } from '../http/route.ts'
import { cookieName } from '../http/session-cookie.ts'
import type { SignInSession } from '../people/sessions.ts'
import { ISOLATION } from './isolation.ts'
import { html, Markup } from './markup.ts'

const SEE_OTHER = 303

/** docs/design/agents.md §4. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ...ISOLATION,
}

export interface SitePage {
  title: string
  body: Markup
  /** The signed-in person, for the header; null without a session. */
  session: { email: string; formToken: string } | null
}

/** A whole page. @param status 200 unless something went wrong */
export function sitePage(content: SitePage, status = 200, headers: Record<string, string> = {}): PageAnswer {
  return page({ status, html: frame(content), headers: { ...HEADERS, ...headers } })
}

/** Redirects the browser to another page of this origin. */
export function goTo(path: string, headers: Record<string, string> = {}): PageAnswer {
  const body = html`<p><a href="${path}">Continue</a></p>`
  return sitePage({ title: 'Redirecting', body, session: null }, SEE_OTHER, { Location: path, ...headers })
}

/** A page with a few sentences. */
export function sentences(title: string, texts: readonly string[], status = 200): PageAnswer {
  return sitePage(
    { title, body: new Markup(texts.map((text) => html`<p>${text}</p>`.text).join('')), session: null },
    status,
  )
}

/** Renders an error as a page. */
function showPageError({ error, status }: RouteError): ErrorAnswer {
  const title = status === 404 ? 'Page not found' : status >= 500 ? 'Something went wrong' : 'Request failed'
  const text = frame({ title, body: html`<p>${error.message}</p>`, session: null })
  return { status, type: 'text/html; charset=utf-8', text, headers: HEADERS }
}

/** What the routes of all pages share: no credential, at the root, not in the OpenAPI document. */
export const PAGE_ROUTE = {
  root: true,
  docs: {
    hidden: true,
    tag: 'Pages',
  },
  access: { as: 'none' },
  reply: { renderError: showPageError, types: ['text/html'], schema: Type.Unknown() },
} as const

/** The session of this browser. */
export function sessionOf(app: Context, request: RequestFacts): SignInSession | undefined {
  return app.people.sessions.read(request.cookie(cookieName(app.config)))
}

/** Header data of a signed-in person. */
export function personOf(app: Context, session: SignInSession): { email: string; formToken: string } {
  return { email: session.email, formToken: app.people.sessions.formToken(session.token) }
}

/** @throws ProductError for a form that was not made for this session or link: another site may have sent it */
export function requireFormToken(app: Context, bound: string, given: string): void {
  if (app.people.sessions.isFormToken(bound, given)) return
  throw new ProductError('insufficient_permissions', 'This form is too old. Go back, reload the page, and try again.')
}

/**
 * What issues a secret, or a link that signs in, needs a sign-in of the last 15 minutes, as below `/as`. Without script the proof is to sign in
 * again.
 * @throws ProductError insufficient_permissions
 */
export function requireFreshSignIn(app: Context, session: SignInSession): void {
  requireConfirmed(app.trustedClock, session, 'Sign out, sign in again, then try again.')
}

function frame({ title, body, session }: SitePage): string {
  const top =
    session === null
      ? html`<header><strong>Mailstead</strong></header>`
      : html`<header><strong>Mailstead</strong> <nav><a href="/owner/keys">Keys</a> <a href="/owner/agents">Agents</a></nav>
<form method="post" action="/owner/sign-out"><input type="hidden" name="csrf" value="${session.formToken}"><span>${session.email}</span>
<button class="quiet">Sign out</button></form></header>`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Mailstead</title><link rel="stylesheet" href="/style.css"></head>
<body>${top}<main><h1>${title}</h1>${body}</main></body></html>
`.text
}
