// Signing in from the app: a mailed link, a passkey, a password or a recovery code.

import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { record } from '../http/record.ts'
import { answer, type RequestFacts, route } from '../http/route.ts'
import { Default } from '../http/schema.ts'
import { browserCookies, linkRequestOf, signInCookie } from '../http/session-cookie.ts'
import type { SignInSession } from '../people/sessions.ts'
import { FlowId, PasskeyRequest, PasskeyUse } from './credentials-schemas.ts'
import { GUESS_LIMIT, SIGN_IN_ROUTE } from './me-route.ts'
import { Self } from './schemas.ts'
import { presentSelf } from './self.ts'

const docs = { tag: 'Sign-in' }
const limits = { throttle: GUESS_LIMIT }
/** The address a person signs in with. */
const PersonEmail = Type.String({ minLength: 3, maxLength: 254, examples: ['ana@example.org'] })
const Trusted = Default(
  Type.Boolean({
    description: 'Stay signed in on this device: 30 days since the last use, at most 180. Else 12 hours.',
  }),
  false,
)
const REPLY = { schema: Self, secret: true } as const

const sendLink = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/sign-in/link',
  docs: {
    ...docs,
    operation: 'sendSignInLink',
    summary: 'Mail a sign-in link to a known address',
    description: 'The answer is the same for every address. No link is mailed to a mailbox of this appliance.',
  },
  limits,
  body: { schema: record('SignInLinkRequest', 'The address.', { email: PersonEmail }) },
  reply: { status: 202, schema: Type.Object({ accepted: Type.Literal(true) }) },
  handle({ body, app, request }) {
    app.people.authentication.requireAllowed('link')
    app.people.mailLinkSoon(body.email, linkRequestOf(app.config, request), (error) =>
      app.log.debug({ event: 'people.link_not_mailed', err: error, request_id: request.id }, 'Sign-in link not mailed'),
    )
    return { accepted: true }
  },
})

const startPasskey = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/sign-in/passkey/options',
  docs: {
    ...docs,
    operation: 'createPasskeyRequest',
    summary: 'Begin to sign in with a passkey',
    description: 'Returns the options for `navigator.credentials.get`; they are valid for some minutes.',
  },
  limits,
  reply: { schema: PasskeyRequest },
  async handle({ app }) {
    app.people.authentication.requireAllowed('passkey')
    const { flowId, options } = await app.people.authentication.webauthn.startUse('sign_in', null)
    return { flow_id: flowId, options }
  },
})

const signInByPasskey = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/sign-in/passkey',
  docs: {
    ...docs,
    operation: 'createSessionByPasskey',
    summary: 'Sign in with a passkey',
    description: 'Sets the session cookie. 401 says no more than that the passkey was not accepted.',
    errors: ['authentication_required', 'insufficient_permissions'],
  },
  limits,
  body: {
    schema: record('PasskeySignIn', 'The answer of the browser.', {
      flow_id: FlowId,
      response: PasskeyUse,
      trusted: Trusted,
    }),
  },
  reply: REPLY,
  async handle({ body, app, request }) {
    const browser = browserOf(app, request, body.trusted)
    return signedIn(app, request, await app.people.authentication.byPasskey(body.flow_id, body.response, browser))
  },
})

const signInByPassword = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/sign-in/password',
  docs: {
    ...docs,
    operation: 'createSessionByPassword',
    summary: 'Sign in with a password, where the operator allows it',
    description:
      'One answer for unknown persons and wrong passwords. Five wrong ones lock the person for this source for 15 minutes.',
    errors: ['authentication_required', 'insufficient_permissions'],
  },
  limits,
  body: {
    schema: record('PasswordSignIn', 'Address and password.', {
      email: PersonEmail,
      password: Type.String({ minLength: 1, maxLength: 256 }),
      trusted: Trusted,
    }),
  },
  reply: REPLY,
  async handle({ body, app, request }) {
    const browser = browserOf(app, request, body.trusted)
    return signedIn(app, request, await app.people.authentication.byPassword(body.email, body.password, browser))
  },
})

const signInByCode = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/sign-in/recovery',
  docs: {
    ...docs,
    operation: 'createSessionByRecoveryCode',
    summary: 'Sign in with a recovery code, which works once',
    description: 'Sets the session cookie. The code is used up whether or not the browser takes the cookie.',
    errors: ['authentication_required'],
  },
  limits,
  body: {
    schema: record('RecoverySignIn', 'Address and code.', {
      email: PersonEmail,
      code: Type.String({ minLength: 1, maxLength: 64 }),
    }),
  },
  reply: REPLY,
  async handle({ body, app, request }) {
    const browser = browserOf(app, request, false)
    return signedIn(app, request, await app.people.authentication.byRecoveryCode(body.email, body.code, browser))
  },
})

/** What a session remembers of a browser. */
export function browserOf({ config }: Context, request: RequestFacts, trusted: boolean) {
  const { userAgent, source } = request
  return { userAgent, source, trusted, cookies: browserCookies(config, (name) => request.cookie(name)) }
}

/** The person, with the cookie of a new session. */
export function signedIn(app: Context, request: RequestFacts, session: SignInSession) {
  request.signedIn(session)
  return answer({ data: presentSelf(app, session), headers: signInCookie(app.config, session) })
}

export const signInRoutes = [sendLink, startPasskey, signInByPasskey, signInByPassword, signInByCode]
