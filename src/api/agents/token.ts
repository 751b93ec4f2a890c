// The token endpoint: exchanges a credential of an agent for an access token for one resource, valid for one hour.

import { Type } from 'typebox'
import type { GrantRefusal, GrantRequest, GrantResult } from '../../agents/grants.ts'
import { TOKEN_SECONDS, type TokenAudience } from '../../agents/tokens.ts'
import { isoTime } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { answer, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { FORM_ERRORS, OAuthError, showOAuthError } from './oauth-error.ts'
import { AUTH_PATH, audienceOf } from './resources.ts'

/** The grant types of each variant (docs/design/agents.md §5); the last one of the first variant is an alias of the one before. */
export const GRANT_TYPES = {
  proof_of_work: [
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:workos:agent-auth:grant-type:claim',
    'urn:service:agent-auth:grant-type:claim',
  ],
  durable_token: ['urn:ietf:params:oauth:grant-type:token-exchange'],
} as const

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const POLL_SECONDS = 10
const SLOW_DOWN_SECONDS = 15

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 8192, description }))

const members = {
  grant_type: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The grant type.',
    examples: [GRANT_TYPES.proof_of_work[0]],
  }),
  assertion: Text('jwt-bearer: the identity assertion.'),
  claim_token: Text('claim: the claim token.'),
  subject_token: Text('token-exchange: the durable token.'),
  subject_token_type: Text(`token-exchange: ${ACCESS_TOKEN}.`),
  requested_token_type: Text(`token-exchange: left out, or ${ACCESS_TOKEN}.`),
  actor_token: Text('Not supported: requests with it fail.'),
  resource: Text('Which resource the token is for (RFC 8707).'),
  scope: Text('A subset of the scopes of the resource, separated by spaces.'),
}

const MEANINGS = {
  400:
    'invalid_request, unsupported_grant_type, invalid_target, invalid_scope; invalid_grant: the credential is invalid, expired ' +
    'or revoked; access_denied: the person declined; expired_token: the invitation or the claim token has expired.',
  429: 'slow_down or rate_limit_exceeded: too many requests.',
  503: 'authorization_pending: the owner has not allowed sending yet; temporarily_unavailable: the server is unavailable.',
}

type Form = { grant_type: string } & { [K in Exclude<keyof typeof members, 'grant_type'>]?: string }

export const issueToken = route({
  method: 'POST',
  path: `${AUTH_PATH}/oauth2/token`,
  root: true,
  docs: {
    operation: 'issueAgentToken',
    tag: 'Agents',
    summary: 'Issue an access token to an agent',
    description:
      'Errors have the form of RFC 6749 5.2, with `retry_after` in seconds where a retry can succeed: 503 `authorization_pending` ' +
      'until an owner has accepted and allowed sending (RFC 8628 uses 400: ready-made OAuth clients do not read the body of a 503), ' +
      '429 `slow_down` when the client polls too often.',
  },
  access: { as: 'none' },
  reply: {
    bare: true,
    renderError: showOAuthError,
    errorFormat: { ...FORM_ERRORS, meanings: { ...FORM_ERRORS.meanings, ...MEANINGS } },
    schema: record('AgentToken', 'An access token.', {
      access_token: Type.String(),
      issued_token_type: Type.Optional(Type.Literal(ACCESS_TOKEN)),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'Seconds.' }),
      scope: Type.String(),
      identity_assertion: Type.Optional(
        Type.String({ description: 'A newer assertion, which can also be used for sending.' }),
      ),
      assertion_expires: Type.Optional(TimeOf('When that assertion expires.')),
    }),
  },
  body: {
    form: true,
    schema: record('AgentTokenRequest', 'A grant.', members, {
      grant_type: GRANT_TYPES.proof_of_work[0],
      assertion: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhcmVnX2ExYjJjM2Q0ZTVmNmc3aDhpOWowazFsMiJ9.c2lnbmF0dXJl',
    }),
  },
  async handle({ body, app }) {
    const granted = await grant(app, body as Form)
    if (granted.kind === 'refused') throw refusalOf(granted.why)
    const { token, scopes, assertion } = granted
    const data = {
      access_token: token,
      ...(body.grant_type === GRANT_TYPES.durable_token[0] ? { issued_token_type: ACCESS_TOKEN } : {}),
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      scope: scopes.join(' '),
      ...(assertion === null
        ? {}
        : { identity_assertion: assertion.token, assertion_expires: isoTime(assertion.expiresAt) }),
    }
    return answer({ data, headers: { Pragma: 'no-cache' } })
  },
})

type App = Parameters<Parameters<typeof route>[0]['handle']>[0]['app']

/** @throws OAuthError for an invalid request */
function grant(app: App, form: Form): Promise<GrantResult> {
  const { config } = app
  const { grants } = app.agents
  const known: readonly string[] = GRANT_TYPES[config.AGENT_VARIANT]
  if (!known.includes(form.grant_type)) {
    throw new OAuthError(
      'unsupported_grant_type',
      'invalid_parameter',
      `Unsupported grant_type. Use one of: ${known.join(', ')}.`,
    )
  }
  if (form.grant_type === GRANT_TYPES.proof_of_work[0]) {
    return grants.byAssertion(required(form, 'assertion'), grantRequestOf(config, form, 'app'))
  }
  if (form.grant_type !== GRANT_TYPES.durable_token[0]) {
    return grants.byClaim(required(form, 'claim_token'), grantRequestOf(config, form, 'send'))
  }
  return grants.byExchange(subjectOf(form), sendingOnly(grantRequestOf(config, form, 'send')))
}

function subjectOf(form: Form): string {
  const subject = required(form, 'subject_token')
  if (required(form, 'subject_token_type') !== ACCESS_TOKEN) throw wrong(`subject_token_type must be ${ACCESS_TOKEN}.`)
  if ((form.requested_token_type ?? ACCESS_TOKEN) !== ACCESS_TOKEN) {
    throw wrong(`requested_token_type must be ${ACCESS_TOKEN}.`)
  }
  if (form.actor_token !== undefined) throw wrong('actor_token is not supported.')
  return subject
}

function grantRequestOf(config: Config, { resource, scope }: Form, usual: TokenAudience): GrantRequest {
  const audience = resource === undefined ? usual : audienceOf(config, resource)
  if (audience === null) {
    throw new OAuthError(
      'invalid_target',
      'invalid_parameter',
      'Unknown resource. Use one of the protected_resources of the authorization server metadata.',
    )
  }
  return { audience, scopes: scope === undefined ? null : [...new Set(scope.split(' ').filter(Boolean))] }
}

/** Reading needs no exchange: the durable token itself can read. */
function sendingOnly(request: GrantRequest): GrantRequest {
  if (request.audience === 'send') return request
  throw new OAuthError(
    'invalid_target',
    'invalid_parameter',
    'A durable token cannot be exchanged for this resource. Use it directly for reading, or name the Sending API.',
  )
}

function required(form: Form, name: Exclude<keyof Form, 'grant_type'>): string {
  const value = form[name]
  if (value === undefined) throw wrong(`${name} is required.`)
  return value
}

function wrong(message: string): OAuthError {
  return new OAuthError('invalid_request', 'invalid_parameter', message)
}

/** docs/design/agents.md §5, the table of situations. */
function refusalOf(why: GrantRefusal): OAuthError {
  switch (why) {
    case 'invalid_grant':
      return new OAuthError(
        'invalid_grant',
        'invalid_parameter',
        'The assertion or token is invalid, expired or revoked. Register again.',
      )
    case 'invalid_scope':
      return new OAuthError(
        'invalid_scope',
        'invalid_parameter',
        'The resource does not have this scope. Leave out scope or name scopes of the resource.',
      )
    case 'not_invited':
      return wrong('No person was invited to own this agent. Invite one with POST /agent/identity/invite.')
    case 'declined':
      return new OAuthError(
        'access_denied',
        'invalid_parameter',
        'The person declined the invitation. Another person can be invited.',
      )
    case 'invite_expired':
      return new OAuthError('expired_token', 'invalid_parameter', 'The invitation has expired. Invite a person again.')
    case 'claim_expired':
      return new OAuthError('expired_token', 'invalid_parameter', 'The claim token has expired. Register again.')
    case 'provisioning':
      return new OAuthError(
        'temporarily_unavailable',
        'service_unavailable',
        'The inbox is being set up. Retry after the time in Retry-After.',
        {
          retryAfter: POLL_SECONDS,
        },
      )
    case 'pending':
      return new OAuthError(
        'authorization_pending',
        'service_unavailable',
        'The owner has not allowed sending yet. Retry after the time in Retry-After.',
        {
          retryAfter: POLL_SECONDS,
        },
      )
    case 'slow_down':
      return new OAuthError(
        'slow_down',
        'rate_limit_exceeded',
        'Polling too often. Retry after the time in Retry-After.',
        { retryAfter: SLOW_DOWN_SECONDS },
      )
  }
}
