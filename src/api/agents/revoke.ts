// Token revocation (RFC 7009): a client with a token can revoke it and what depends on it.

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { FORM_ERRORS, showOAuthError } from './oauth-error.ts'
import { AUTH_PATH } from './resources.ts'

export const revokeToken = route({
  method: 'POST',
  path: `${AUTH_PATH}/oauth2/revoke`,
  root: true,
  docs: {
    operation: 'revokeAgentToken',
    tag: 'Agents',
    summary: 'Revoke a token; most tokens end the whole registration',
    description:
      'Revoking a token for sending ends that token only. Revoking a durable token, a token for reading, an identity assertion or ' +
      'a claim token ends the registration: all tokens are revoked, open invitations are withdrawn and queued messages are ' +
      'dropped. An unknown or expired token gets the same response.',
  },
  access: { as: 'none' },
  reply: {
    bare: true,
    renderError: showOAuthError,
    errorFormat: FORM_ERRORS,
    schema: record('AgentRevocationAnswer', 'An empty object.', {}),
  },
  body: {
    form: true,
    schema: record(
      'AgentRevocation',
      'The token to revoke.',
      {
        token: Type.String({ minLength: 1, maxLength: 8192, description: 'The token.' }),
        token_type_hint: Type.Optional(Type.String({ maxLength: 255, description: 'Accepted and ignored.' })),
      },
      { token: 'token', token_type_hint: 'access_token' },
    ),
  },
  async handle({ body, app }) {
    await app.agents.ownership.revokeToken(body.token)
    return answer({ data: {}, headers: { Pragma: 'no-cache' } })
  },
})
