// Discovery documents of the authorization server (RFC 8414, RFC 7517), and the instructions for agents.

import { Type } from 'typebox'
import { AUDIENCE_SCOPES, TOKEN_AUDIENCES } from '../../agents/tokens.ts'
import type { Config } from '../../config/config.ts'
import { etagOf } from '../../http/etag.ts'
import { bytes, type Route, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { agentInstructions } from './agent-instructions.ts'
import { AUTH_PATH, issuerOf, resourceOf } from './resources.ts'
import { GRANT_TYPES } from './token.ts'

const Texts = Type.Array(Type.String())
const POLL_SECONDS = 10

const AgentAuth = record('AgentAuthMetadata', 'How an agent registers itself.', {
  skill: Type.String({ description: 'URL of the instructions for agents.' }),
  identity_endpoint: Type.String(),
  identity_types_supported: Texts,
  anonymous: record('AnonymousAgentMetadata', 'What an anonymous registration receives.', {
    credential_types_supported: Texts,
    pre_claim_scopes: Texts,
    post_claim_scopes: Texts,
  }),
  x_service_variant: Type.String(),
  x_service_identity_challenge_endpoint: Type.Optional(Type.String()),
  x_service_identity_invite_endpoint: Type.String(),
  x_service_poll_interval_seconds: Type.Integer(),
  x_service_agent_mailbox_domain: Type.String(),
})

const Metadata = record('AuthorizationServerMetadata', 'Metadata of an authorization server (RFC 8414).', {
  issuer: Type.String(),
  token_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  jwks_uri: Type.String(),
  response_types_supported: Texts,
  grant_types_supported: Texts,
  token_endpoint_auth_methods_supported: Texts,
  revocation_endpoint_auth_methods_supported: Texts,
  scopes_supported: Texts,
  protected_resources: Texts,
  service_documentation: Type.String(),
  agent_auth: AgentAuth,
})

/** docs/design/agents.md §8. */
function metadataOf(config: Config) {
  const issuer = issuerOf(config)
  const variant = config.AGENT_VARIANT
  const isWork = variant === 'proof_of_work'
  const instructions = `${config.APP_ORIGIN}/auth.md`
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    response_types_supported: [],
    // The alias of the claim grant type is accepted for existing clients and not advertised.
    grant_types_supported: GRANT_TYPES[variant].slice(0, 2),
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: [...AUDIENCE_SCOPES.app, ...AUDIENCE_SCOPES.send],
    protected_resources: TOKEN_AUDIENCES.map((audience) => resourceOf(config, audience)),
    service_documentation: instructions,
    agent_auth: {
      skill: instructions,
      identity_endpoint: `${issuer}/agent/identity`,
      identity_types_supported: ['anonymous'],
      anonymous: {
        credential_types_supported: ['access_token'],
        pre_claim_scopes: [...AUDIENCE_SCOPES.app],
        post_claim_scopes: [...AUDIENCE_SCOPES.app, ...AUDIENCE_SCOPES.send],
      },
      x_service_variant: variant,
      ...(isWork ? { x_service_identity_challenge_endpoint: `${issuer}/agent/identity/challenge` } : {}),
      x_service_identity_invite_endpoint: `${issuer}/agent/identity/invite`,
      x_service_poll_interval_seconds: POLL_SECONDS,
      x_service_agent_mailbox_domain: config.AGENT_MAILBOX_DOMAIN,
    },
  }
}

const document = {
  method: 'GET',
  root: true,
  docs: {
    tag: 'Agents',
  },
  access: { as: 'none', open: true },
  reply: { bare: true },
} as const

const readMetadata = route({
  ...document,
  path: `/.well-known/oauth-authorization-server${AUTH_PATH}`,
  docs: {
    ...document.docs,
    operation: 'getAuthorizationServer',
    summary: 'Get the authorization server metadata (RFC 8414)',
    description: 'Where agents register and obtain tokens, and which grants they use.',
  },
  reply: { ...document.reply, schema: Metadata },
  handle: ({ app }) => metadataOf(app.config),
})

const readMetadataBelow = route({
  ...document,
  path: `${AUTH_PATH}/.well-known/oauth-authorization-server`,
  docs: {
    ...document.docs,
    operation: 'getAuthorizationServerLegacyPath',
    summary: 'Get the authorization server metadata at the path some clients use',
    description: 'The same document as at the path of RFC 8414.',
  },
  reply: { ...document.reply, schema: Metadata },
  handle: ({ app }) => metadataOf(app.config),
})

const Key = record('AgentSigningKey', 'A public key (RFC 7517).', {
  kty: Type.Literal('EC'),
  crv: Type.Literal('P-256'),
  x: Type.String(),
  y: Type.String(),
  kid: Type.String(),
  alg: Type.Literal('ES256'),
  use: Type.Literal('sig'),
})

const readKeys = route({
  ...document,
  path: `${AUTH_PATH}/oauth2/jwks`,
  docs: {
    ...document.docs,
    operation: 'getAgentKeys',
    summary: 'Get the public keys that verify identity assertions',
    description: 'A JSON Web Key Set (RFC 7517); cache it as its headers allow.',
  },
  reply: { ...document.reply, schema: record('AgentSigningKeys', 'A key set.', { keys: Type.Array(Key) }) },
  handle: async ({ app }) => app.agents.assertions.jwks(),
})

const readInstructions = route({
  ...document,
  path: '/auth.md',
  docs: {
    ...document.docs,
    operation: 'getAgentGuide',
    summary: 'Get the registration instructions for agents',
    description:
      'Written for programs that read: registration, tokens, what a sending token cannot do, and how to answer in a thread.',
  },
  reply: { ...document.reply, types: ['text/markdown'], schema: Type.String() },
  handle({ app }) {
    const instructions = agentInstructions(app.config)
    const text = Buffer.from(instructions)
    return bytes({
      type: 'text/markdown; charset=utf-8',
      sizeBytes: text.length,
      etag: etagOf(instructions),
      async *read(start, end) {
        yield text.subarray(start, end)
      },
    })
  },
})

export const discovery: readonly Route[] = [readMetadata, readMetadataBelow, readKeys, readInstructions]
