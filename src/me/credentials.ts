// Password, recovery codes and the fresh proof of the signed-in person.

import { Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { TimeOf } from '../http/time.ts'
import type { FreshProof } from '../people/authentication.ts'
import { PASSWORD_MAX, PASSWORD_MIN } from '../people/passwords.ts'
import { RECOVERY_CODES } from '../people/recovery-codes.ts'
import { FlowId, PasskeyRequest, PasskeyUse } from './credentials-schemas.ts'
import { FRESH_ROUTE, GUESS_LIMIT, ME_ROUTE, UNAUDITED_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const docs = { tag: 'Sign-in' }
const limits = { throttle: GUESS_LIMIT }

const setPassword = route({
  ...FRESH_ROUTE,
  method: 'PUT',
  path: '/password',
  docs: {
    ...docs,
    operation: 'setPassword',
    summary: 'Set your password; your other sessions end',
    description: 'Common and short passwords are refused with what is wrong.',
  },
  limits,
  body: {
    schema: record('PasswordUpdate', 'The new password.', {
      password: Type.String({ minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX }),
    }),
  },
  reply: { schema: Type.Object({ password: Type.Literal(true) }) },
  async handle({ body, app, request }) {
    await app.people.authentication.setPassword(sessionIn(request), body.password)
    return { password: true }
  },
})

const deletePassword = route({
  ...FRESH_ROUTE,
  method: 'DELETE',
  path: '/password',
  docs: {
    ...docs,
    operation: 'deletePassword',
    summary: 'Remove your password; the last way to sign in stays (409)',
    description: 'You sign in with passkeys, codes and links from then on.',
    errors: ['not_found'],
  },
  reply: { schema: Type.Object({ password: Type.Literal(false) }) },
  async handle({ app, request }) {
    await app.people.authentication.deletePassword(sessionIn(request))
    return { password: false }
  },
})

const createCodes = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/recovery-codes',
  docs: {
    ...docs,
    operation: 'createRecoveryCodes',
    summary: `Make ${RECOVERY_CODES} recovery codes, shown in this response only; earlier ones no longer work`,
    description: 'Keep them where the passkeys are not. Each signs in once.',
  },
  limits,
  reply: {
    secret: true,
    status: 201,
    schema: record('RecoveryCodes', 'Each works once.', { codes: Type.Array(Type.String()) }),
  },
  async handle({ app, request }) {
    return { codes: await app.people.authentication.replaceRecoveryCodes(sessionIn(request)) }
  },
})

const startConfirmation = route({
  ...UNAUDITED_ROUTE,
  method: 'POST',
  path: '/confirm/options',
  docs: {
    ...docs,
    operation: 'createConfirmationRequest',
    summary: 'Begin to confirm with a passkey that it is still you',
    description: 'The confirmation holds for 15 minutes; operations that open something ask for it.',
  },
  limits,
  reply: { schema: PasskeyRequest },
  async handle({ app, request }) {
    const { flowId, options } = await app.people.authentication.startConfirmation(sessionIn(request))
    return { flow_id: flowId, options }
  },
})

const confirm = route({
  ...ME_ROUTE,
  method: 'POST',
  path: '/confirm',
  docs: {
    ...docs,
    operation: 'createConfirmation',
    summary: 'Confirm that it is still you: with a passkey, the password or a recovery code',
    description:
      'Dangerous actions are then permitted for 15 minutes, as they are after signing in; without it they answer 403 with `param` `confirm`. ' +
      'A person who has none of the three signs in again by link.',
    errors: ['authentication_required'],
  },
  limits,
  body: {
    schema: record('Confirmation', 'One proof.', {
      flow_id: Type.Optional(FlowId),
      response: Type.Optional(PasskeyUse),
      password: Type.Optional(Type.String({ minLength: 1, maxLength: PASSWORD_MAX })),
      code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    }),
  },
  reply: {
    schema: record('Confirmed', 'The proof was accepted.', { confirmed_until: TimeOf('Until when it counts.') }),
  },
  async handle({ body, app, request }) {
    const until = await app.people.authentication.confirm(sessionIn(request), proofOf(body), request.source)
    return { confirmed_until: isoTime(until) }
  },
})

function proofOf(body: {
  flow_id?: string
  response?: Extract<FreshProof, { flowId: string }>['response']
  password?: string
  code?: string
}): FreshProof {
  const { flow_id: flowId, response, password, code } = body
  if (flowId !== undefined && response !== undefined) return { flowId, response }
  if (password !== undefined) return { password }
  if (code !== undefined) return { code }
  throw new ProductError('missing_parameter', 'A proof is missing: flow_id with response, password, or code.', {
    param: 'password',
  })
}

export const credentialRoutes = [setPassword, deletePassword, createCodes, startConfirmation, confirm]
