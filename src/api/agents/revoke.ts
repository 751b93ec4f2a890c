// Revocation (RFC 7009): whoever holds a token may end it, and what it stands for.

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { FORM_FAULTS, showOAuthError } from './oauth-error.ts'
import { AUTH_PATH } from './resources.ts'

export const revokeToken = route({
  method: 'POST',
  path: `${AUTH_PATH}/oauth2/revoke`,
  root: true,
  operation: 'revokeAgentToken',
  tag: 'Agents',
  summary: 'Ends a token, and with most tokens the whole registration.',
  description:
    'A token for sending ends alone. A durable token, a token for reading, an identity assertion and a claim token end the ' +
    'registration: every token, open invitations, mail that waits. What is unknown or over is answered the same way.',
  as: 'none',
  bare: true,
  form: true,
  renderError: showOAuthError,
  errorFormat: FORM_FAULTS,
  body: record(
    'AgentRevocation',
    'What is to end.',
    {
      token: Type.String({ minLength: 1, maxLength: 8192, description: 'The token.' }),
      token_type_hint: Type.Optional(Type.String({ maxLength: 255, description: 'Taken and not needed.' })),
    },
    { token: 'token', token_type_hint: 'access_token' },
  ),
  reply: record('AgentRevocationAnswer', 'Nothing to say.', {}),
  async handle({ body, app }) {
    await app.agents.ownership.revokeToken(body.token)
    return answer({ data: {}, headers: { Pragma: 'no-cache' } })
  },
})
