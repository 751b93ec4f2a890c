// Connecting a Google or Microsoft account (docs/design/sending.md §1).

import { Type } from 'typebox'
import { begunBy } from '../../directory/names/principal.ts'
import { route } from '../../http/route.ts'
import { Words } from '../../http/schema.ts'
import { CONNECTED_TYPES } from '../../outbound/model/connected-services.ts'
import { NAME_MAX } from '../../outbound/providers/oauth.ts'
import { authorizationJson, presentAuthorization, redirectAfter } from '../schemas/authorization.ts'
import { record } from '../schemas/record.ts'

const authorize = route({
  method: 'POST',
  path: '/providers/oauth/authorize',
  docs: {
    operation: 'authorizeProvider',
    tag: 'Providers',
    summary: 'Start to connect a Google or Microsoft account',
    description:
      'A person opens `authorization_url`, signs in to the account and allows sending; the account then becomes a provider. What a ' +
      'person began in a browser is completed in that browser alone; who opens the link of an API key is asked first, and it ends ' +
      'with the key. ' +
      'Connecting the same account again renews its connection. 503 when the operator has configured no OAuth client.',
  },
  access: { as: 'team', permission: 'provider.create', fresh: true },
  idempotent: true,
  reply: {
    secret: true,
    schema: authorizationJson('ProviderAuthorization'),
    status: 201,
  },
  body: {
    schema: record(
      'ProviderAuthorize',
      'The account to connect, and its name.',
      {
        type: Words(CONNECTED_TYPES, 'A Google or a Microsoft account.'),
        name: Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Name of the new provider.' }),
        redirect_after: redirectAfter('sending'),
      },
      { type: 'gmail_api', name: 'Ana at Gmail' },
    ),
  },
  async handle({ body, principal, app }) {
    const input = { type: body.type, name: body.name, redirectAfter: body.redirect_after ?? null }
    return presentAuthorization(
      await app.outbound.accounts.oauth.authorize(principal.teamId, input, begunBy(principal)),
    )
  },
})

export const providerOauth = [authorize]
