// Sign-in by mailed link: a person requests a link, opens it and presses a button. There is no password.

import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { type RequestFacts, type Route, route } from '../http/route.ts'
import { browserCookies, linkRequestOf, signInCookie, signOutHeaders } from '../http/session-cookie.ts'
import { TOKEN_PATTERN } from '../people/links.ts'
import type { SignInBrowser } from '../people/sessions.ts'
import { html } from './markup.ts'
import { goTo, PAGE_ROUTE, requireFormToken, sentences, sessionOf, sitePage } from './site.ts'

const GONE = 410
const NOT_HERE =
  'No link is mailed to a mailbox of this server, because programs may read it. An owner of your team, or the operator of this server, can show you one.'
const token = Type.Object({ token: Type.String({ pattern: TOKEN_PATTERN }) })

const showSignIn = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/sign-in',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showSignIn',
    summary: 'Asks for an address.',
  },
  handle() {
    const body = html`<p>Type your address; we mail you a link that works once, for 15 minutes.</p>
<form method="post" action="/owner/sign-in"><label>E-mail <input type="email" name="email" required autocomplete="email" maxlength="254"></label>
<div class="actions"><button>Mail me a link</button></div></form>`
    return sitePage({ title: 'Sign in', body, session: null })
  },
})

const askForLink = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/sign-in',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'createSignInLink',
    summary: 'Mails a link to a known address; the answer is the same for every address.',
  },
  body: { form: true, schema: Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }) }) },
  limits: { throttle: { times: 10, seconds: 60 } },
  handle({ body, app, request }) {
    app.people.mailLinkSoon(body.email, linkRequestOf(app.config, request), (error) =>
      app.log.debug({ event: 'people.link_not_mailed', err: error, request_id: request.id }, 'Sign-in link not mailed'),
    )
    return sentences('Check your mail', [
      'If this address belongs to an account here, a link has been mailed. It works once, for 15 minutes.',
      'No message? Check the spam folder, or request another link later.',
      ...(app.config.SIGN_IN_LINKS_TO_LOCAL ? [] : [NOT_HERE]),
    ])
  },
})

const showLink = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/owner/session/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'showSession',
    summary: 'A button to sign in with: opening the page alone does nothing, because mail scanners open links.',
  },
  params: token,
  handle({ params, app }) {
    const scope = app.people.links.read(params.token)
    if (scope === undefined) return expiredLinkPage()
    const team = scope.teamId === null ? undefined : app.directory.teams.get(scope.teamId)
    const where = team && html` of the team <strong>${team.name}</strong>`
    const csrf = app.people.sessions.formToken(params.token)
    const body = html`<p>You are about to sign in as <strong>${scope.email}</strong>${where ?? null} in this browser.</p>
<form method="post" action="/owner/session/${params.token}"><input type="hidden" name="csrf" value="${csrf}">
<div class="actions"><button>Sign in</button></div></form>`
    return sitePage({ title: 'Sign in', body, session: null })
  },
})

const signIn = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/session/{token}',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'createSession',
    summary: 'Signs in and consumes the link.',
  },
  params: token,
  body: { form: true, schema: Type.Object({ csrf: Type.String({ maxLength: 100 }) }) },
  async handle({ params, body, app, request }) {
    requireFormToken(app, params.token, body.csrf)
    const session = await app.people.signIn(params.token, linkClient(app, request))
    if (session === undefined) return expiredLinkPage()
    request.signedIn(session)
    return goTo('/console', signInCookie(app.config, session))
  },
})

const signOut = route({
  ...PAGE_ROUTE,
  method: 'POST',
  path: '/owner/sign-out',
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'deleteSession',
    summary: 'Signs out.',
  },
  body: { form: true, schema: Type.Object({ csrf: Type.String({ maxLength: 100 }) }) },
  async handle({ body, app, request }) {
    const session = sessionOf(app, request)
    if (session !== undefined) {
      requireFormToken(app, session.token, body.csrf)
      await app.people.sessions.close(session.token)
    }
    return goTo('/owner/sign-in', signOutHeaders(app.config))
  },
})

export function linkClient({ config }: Context, request: RequestFacts): SignInBrowser {
  const { userAgent, source } = request
  const cookies = browserCookies(config, (name) => request.cookie(name))
  return { method: 'link', trusted: false, userAgent, source, cookies }
}

function expiredLinkPage() {
  const body = html`<p>A link works once, for a short time.</p><p><a href="/owner/sign-in">Request a new link</a></p>`
  return sitePage({ title: 'This link has expired or was used', body, session: null }, GONE)
}

export const signInPages: readonly Route[] = [showSignIn, askForLink, showLink, signIn, signOut]
