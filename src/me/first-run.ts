// The first run: the person with the one-time address becomes owner of the first team and operator.

import { Type } from 'typebox'
import { ProductError } from '../base/errors.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Nullable } from '../http/schema.ts'
import type { FirstCredential } from '../people/first-run.ts'
import { PASSWORD_MAX } from '../people/passwords.ts'
import { FlowId, PasskeyCreation, PasskeyRequest } from './credentials-schemas.ts'
import { GUESS_LIMIT, SIGN_IN_ROUTE } from './me-route.ts'
import { Self } from './schemas.ts'
import { browserOf, signedIn } from './sign-in.ts'

const docs = { tag: 'Sign-in' }
const limits = { throttle: GUESS_LIMIT }
const Token = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'What follows `#` in the address that Mailstead printed at its start.',
})
const OwnerEmail = Type.String({
  minLength: 3,
  maxLength: 254,
  description: 'The address the owner signs in with.',
  examples: ['ana@example.org'],
})

const readFirstRun = route({
  ...SIGN_IN_ROUTE,
  method: 'GET',
  path: '/first-run',
  docs: {
    ...docs,
    operation: 'getFirstRun',
    summary: 'Get whether the appliance waits for its first owner, and how people may sign in',
    description: 'Public: the pages of the first run and of the sign-in ask for it.',
  },
  reply: {
    schema: record('FirstRun', 'Before anyone has signed in.', {
      open: Type.Boolean({ description: 'False once there is an owner.' }),
      allowed: Type.Array(Type.String(), { description: 'Ways to sign in (`SIGN_IN`).' }),
    }),
  },
  handle({ app }) {
    return { open: app.people.firstRun.isOpen(), allowed: [...app.config.SIGN_IN] }
  },
})

const startPasskey = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/first-run/passkey/options',
  docs: {
    ...docs,
    operation: 'createFirstPasskeyRegistration',
    summary: 'Begin to add the passkey of the first owner',
    description: 'Returns the options for `navigator.credentials.create`; it needs the `token` of the first-run link.',
    errors: ['authentication_required'],
  },
  limits,
  body: { schema: record('FirstPasskeyRequest', 'Whose passkey.', { token: Token, email: OwnerEmail }) },
  reply: { schema: PasskeyRequest },
  async handle({ body, app }) {
    const { flowId, options } = await app.people.firstRun.startPasskey(body.token, body.email)
    return { flow_id: flowId, options }
  },
})

const completeFirstRun = route({
  ...SIGN_IN_ROUTE,
  method: 'POST',
  path: '/first-run',
  docs: {
    ...docs,
    operation: 'createFirstOwner',
    summary: 'Become the first owner, with a passkey or a password; the token works once',
    description:
      'Names the first team, and signs in. The domain, the mailbox, the app password and the first message follow with the ordinary ' +
      'operations below `/as/{team_id}` and `/as/{mailbox_id}`.',
    errors: ['authentication_required', 'insufficient_permissions'],
  },
  limits,
  body: {
    schema: record(
      'FirstOwner',
      'The owner, the team, and what the owner signs in with: flow_id and response, or password.',
      {
        token: Token,
        email: OwnerEmail,
        display_name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
        team_name: Type.String({ minLength: 1, maxLength: 100 }),
        flow_id: Type.Optional(FlowId),
        response: Type.Optional(PasskeyCreation),
        password: Type.Optional(Type.String({ minLength: 1, maxLength: PASSWORD_MAX })),
        trusted: Type.Optional(Type.Boolean()),
      },
    ),
  },
  reply: { schema: Self, secret: true },
  async handle({ body, app, request }) {
    const { token, email, team_name: teamName } = body
    const owner = { token, email, teamName, displayName: body.display_name ?? null, credential: credentialOf(body) }
    const { session } = await app.people.firstRun.complete(owner, browserOf(app, request, body.trusted ?? false))
    return signedIn(app, request, session)
  },
})

function credentialOf(body: {
  flow_id?: string
  response?: Extract<FirstCredential, { flowId: string }>['response']
  password?: string
}): FirstCredential {
  const { flow_id: flowId, response, password } = body
  if (flowId !== undefined && response !== undefined) return { flowId, response, name: 'First passkey' }
  if (password !== undefined) return { password }
  throw new ProductError('missing_parameter', 'A passkey (flow_id and response) or a password is required.', {
    param: 'password',
  })
}

export const firstRunRoutes = [readFirstRun, startPasskey, completeFirstRun]
