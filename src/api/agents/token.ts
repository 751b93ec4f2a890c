// The token endpoint: what an agent has is traded for a token for one resource and one hour.

import { Type } from 'typebox'
import type { GrantRefusal, GrantRequest, GrantResult } from '../../agents/grants.ts'
import { TOKEN_SECONDS, type TokenAudience } from '../../agents/tokens.ts'
import { isoTime } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { answer, route } from '../../http/route.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { FORM_FAULTS, OAuthError, showOAuthError } from './oauth-error.ts'
import { AUTH_PATH, audienceOf } from './resources.ts'

/** The grants of each variant (decisions §11.7); the last of the first is a name of our own for the one before. */
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
    description: 'Which kind of trade.',
    examples: [GRANT_TYPES.proof_of_work[0]],
  }),
  assertion: Text('jwt-bearer: the identity assertion.'),
  claim_token: Text('claim: the claim token.'),
  subject_token: Text('token-exchange: the durable token.'),
  subject_token_type: Text(`token-exchange: ${ACCESS_TOKEN}.`),
  requested_token_type: Text(`token-exchange: left out, or ${ACCESS_TOKEN}.`),
  actor_token: Text('Not supported: refused.'),
  resource: Text('Which resource the token is for (RFC 8707).'),
  scope: Text('Fewer scopes than the resource has, separated by spaces.'),
}

const MEANINGS = {
  400:
    'invalid_request, unsupported_grant_type, invalid_target, invalid_scope; invalid_grant: what was shown is not valid, over, or revoked; ' +
    'access_denied: the person declined; expired_token: the invitation or the claim token is over.',
  429: 'slow_down, and rate_limit_exceeded: asked too often.',
  503:
    'authorization_pending: the owner has not allowed sending yet; temporarily_unavailable: the inbox is being set up, or the server ' +
    'cannot answer now.',
}

type Form = { grant_type: string } & { [K in Exclude<keyof typeof members, 'grant_type'>]?: string }

export const issueToken = route({
  method: 'POST',
  path: `${AUTH_PATH}/oauth2/token`,
  root: true,
  operation: 'issueAgentToken',
  tag: 'Agents',
  summary: 'Gives an agent an access token.',
  description:
    'Errors have the form of RFC 6749 5.2, with `retry_after` in seconds where waiting helps: 503 `authorization_pending` until an owner ' +
    'has accepted and allowed sending, 503 `temporarily_unavailable` while the inbox is being set up, 429 `slow_down` for who asks too often.',
  as: 'none',
  bare: true,
  form: true,
  renderError: showOAuthError,
  errorFormat: { ...FORM_FAULTS, meanings: { ...FORM_FAULTS.meanings, ...MEANINGS } },
  body: record('AgentTokenRequest', 'A grant.', members, {
    grant_type: GRANT_TYPES.proof_of_work[0],
    assertion: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhcmVnX2ExYjJjM2Q0ZTVmNmc3aDhpOWowazFsMiJ9.c2lnbmF0dXJl',
  }),
  reply: record('AgentToken', 'An access token.', {
    access_token: Type.String(),
    issued_token_type: Type.Optional(Type.Literal(ACCESS_TOKEN)),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    scope: Type.String(),
    identity_assertion: Type.Optional(Type.String({ description: 'A newer assertion, which may also send.' })),
    assertion_expires: Type.Optional(TimeOf('When that assertion is over.')),
  }),
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

/** @throws OAuthError for a request that is none */
function grant(app: App, form: Form): Promise<GrantResult> {
  const { config } = app
  const { grants } = app.agents
  const known: readonly string[] = GRANT_TYPES[config.AGENT_VARIANT]
  if (!known.includes(form.grant_type)) {
    throw new OAuthError('unsupported_grant_type', 'invalid_parameter', `The grant types here are ${known.join(', ')}.`)
  }
  if (form.grant_type === GRANT_TYPES.proof_of_work[0]) {
    return grants.byAssertion(required(form, 'assertion'), wishOf(config, form, 'app'))
  }
  if (form.grant_type !== GRANT_TYPES.durable_token[0]) {
    return grants.byClaim(required(form, 'claim_token'), wishOf(config, form, 'send'))
  }
  return grants.byExchange(subjectOf(form), sendingOnly(wishOf(config, form, 'send')))
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

function wishOf(config: Config, { resource, scope }: Form, usual: TokenAudience): GrantRequest {
  const audience = resource === undefined ? usual : audienceOf(config, resource)
  if (audience === null) {
    throw new OAuthError('invalid_target', 'invalid_parameter', 'The resource is none of this service.')
  }
  return { audience, scopes: scope === undefined ? null : [...new Set(scope.split(' ').filter(Boolean))] }
}

/** Reading needs no exchange: the durable token reads itself. */
function sendingOnly(wish: GrantRequest): GrantRequest {
  if (wish.audience === 'send') return wish
  throw new OAuthError('invalid_target', 'invalid_parameter', 'A durable token is exchanged for the Sending API only.')
}

function required(form: Form, name: Exclude<keyof Form, 'grant_type'>): string {
  const value = form[name]
  if (value === undefined) throw wrong(`${name} is required.`)
  return value
}

function wrong(message: string): OAuthError {
  return new OAuthError('invalid_request', 'invalid_parameter', message)
}

/** Decisions §11.7, the table of situations. */
function refusalOf(why: GrantRefusal): OAuthError {
  switch (why) {
    case 'invalid_grant':
      return new OAuthError('invalid_grant', 'invalid_parameter', 'What was shown is not valid, over, or revoked.')
    case 'invalid_scope':
      return new OAuthError('invalid_scope', 'invalid_parameter', 'The scope is not one of this resource.')
    case 'not_invited':
      return wrong('Nobody was invited to own this agent yet.')
    case 'declined':
      return new OAuthError('access_denied', 'invalid_parameter', 'The person declined; another one may be invited.')
    case 'invite_expired':
      return new OAuthError(
        'expired_token',
        'invalid_parameter',
        'The invitation is over; a person may be invited again.',
      )
    case 'claim_expired':
      return new OAuthError('expired_token', 'invalid_parameter', 'The claim token is over; register again.')
    case 'provisioning':
      return new OAuthError('temporarily_unavailable', 'service_unavailable', 'The inbox is being set up.', {
        retryAfter: POLL_SECONDS,
      })
    case 'pending':
      return new OAuthError('authorization_pending', 'service_unavailable', 'The owner has not allowed sending.', {
        retryAfter: POLL_SECONDS,
      })
    case 'slow_down':
      return new OAuthError('slow_down', 'rate_limit_exceeded', 'Ask less often.', { retryAfter: SLOW_DOWN_SECONDS })
  }
}
