// Authentication and authorisation of requests.

import type { Socket } from 'node:net'
import { ProductError } from '../base/errors.ts'
import { allows } from '../directory/names/permissions.ts'
import type { MailboxPrincipal, Principal, Recognised, TeamPrincipal } from '../directory/names/principal.ts'
import { identifyPerson, recogniseSession, requireSession } from './person-access.ts'
import { API_BASE, MCP_PATH } from './prepared-route.ts'
import type { ListenerContext, RequestContext } from './request-context.ts'
import type { Route } from './route.ts'

// Longer than any credential of docs/design/http.md §2; what is longer is not looked up.
const CREDENTIAL_MAX = 256

interface RepeatedCredential {
  header: string
  resolve: ListenerContext['credential']
  principal(): Recognised | undefined
}

/** The last credential of each connection: clients repeat it, and reading and hashing it costs more than finding its row. */
const repeated = new WeakMap<Socket, RepeatedCredential>()

/** Resolves the credential, whatever the route; rejects nothing. */
export function identify(request: RequestContext): void {
  if (request.isPersonal) {
    identifyPerson(request)
    return
  }
  const header = request.header('authorization')
  const before = repeated.get(request.req.socket)
  const known =
    before?.header === header && before?.resolve === resolverOf(request) ? before : readCredential(request, header)
  if (known === undefined) return
  request.hasCredential = true
  const found = known.principal()
  request.principal = found?.principal ?? null
  request.suspended = found?.suspended ?? false
}

/** Agents have tokens for the tools: only these work there, and only there. */
function resolverOf({ listener, path }: RequestContext): ListenerContext['credential'] {
  return path === MCP_PATH ? listener.toolCredential : listener.credential
}

function readCredential(request: RequestContext, header: string | undefined): RepeatedCredential | undefined {
  const secret = bearer(header)
  if (secret === null) return undefined
  const isCredential = secret !== '' && secret.length <= CREDENTIAL_MAX
  const resolve = resolverOf(request)
  const credential = {
    header: header!,
    resolve,
    principal: isCredential ? resolve(secret) : () => undefined,
  }
  if (isCredential) repeated.set(request.req.socket, credential)
  return credential
}

/** Whether the credential of a running request is still accepted. */
export function credentialStatus(request: RequestContext): 'in' | 'out' | 'suspended' {
  const known = request.isPersonal
    ? recogniseSession(request)
    : readCredential(request, request.header('authorization'))?.principal()
  if (known === undefined || !mayEnter(request, known.principal)) return 'out'
  return known.suspended ? 'suspended' : 'in'
}

/** The secret of a header of the form `Bearer <secret>`; null for another form. */
export function bearer(header: string | undefined): string | null {
  return /^bearer(?:[ \t]+|$)(.*)$/i.exec(header ?? '')?.[1]?.trim() ?? null
}

/** 401 without a valid credential for every path under the API that is not public, known or not (docs/design/http.md §4). */
export function requireCredential(request: RequestContext): void {
  if (request.isPersonal) requireSession(request)
  else requireKey(request)
}

function requireKey(request: RequestContext): void {
  const { entry, open } = request.match
  // A public path is no secret: another method on it is 405, not 401.
  if (entry === null ? open || !request.underApi : entry.route.as === 'none') return
  if (request.principal === null) {
    // Guessing credentials is rate limited by source address.
    if (request.allowance?.over === true) throw tooMany(request)
    request.set('WWW-Authenticate', challenge(request))
    throw new ProductError(
      'authentication_required',
      request.hasCredential
        ? 'The credential is not valid. Check the key, its expiry and its status.'
        : 'A credential is required: Authorization: Bearer <API key>.',
    )
  }
  if (request.suspended)
    throw new ProductError('insufficient_permissions', 'The team is suspended. Contact the operator.')
}

/** 429 when the minute is used up. */
export function requireAllowance(request: RequestContext): void {
  if (request.allowance?.over === true) throw tooMany(request)
}

/** 403 for the wrong kind of credential or one without the permission; names what is missing, nothing else. */
export function requirePermission(request: RequestContext): void {
  const { route, permissions } = request.match.entry!
  const also = route.alsoNeeds === undefined ? [] : [route.alsoNeeds]
  const { principal } = request
  if (route.as === 'none' || principal === null) return
  if (mayEnter(request, principal)) {
    if (principal.kind !== 'operator') requireOpenGate(request)
    return
  }
  if (request.isPersonal) throw forbiddenByRole(request, principal)
  if (route.as === 'mailbox' && route.root !== true && principal.kind === 'team') {
    const sentence = 'This path needs a mailbox key; root keys cannot read messages.'
    throw new ProductError('insufficient_permissions', sentence)
  }
  // RFC 6750 3.1: an agent learns which scopes would do.
  if (principal.kind === 'mailbox' && principal.agent !== undefined) {
    const scope = permissions.length > 0 ? `, scope="${[...permissions, ...also].join(' ')}"` : ''
    request.set('WWW-Authenticate', `Bearer error="insufficient_scope"${scope}`)
  }
  if (permissions.length > 0) {
    throw new ProductError(
      'insufficient_permissions',
      `The permission ${[permissions.join(' or '), ...also].join(' or the permission ')} is missing. Use a key that has ${also.length > 0 ? 'both' : 'it'}.`,
    )
  }
  const wanted = route.as === 'mailbox' ? 'a mailbox credential' : 'a root key'
  throw new ProductError('insufficient_permissions', `This path needs ${wanted}.`)
}

/** Nothing here is a matter of keys: the message names the role or the access that is missing. */
function forbiddenByRole(request: RequestContext, { kind }: Principal): ProductError {
  const { permissions } = request.match.entry!
  const what = kind === 'mailbox' ? 'Your access to this mailbox' : 'Your role in this team'
  const missing = permissions.length === 0 ? 'does not include this path' : `lacks ${permissions.join(' or ')}`
  return new ProductError('insufficient_permissions', `${what} ${missing}.`)
}

/** 403 for a feature the operator has disabled (docs/design/mailbox.md §2), for any credential. */
function requireOpenGate(request: RequestContext): void {
  const { gate } = request.match.entry!.route
  if (gate === undefined || !request.listener.app.config.MAILBOX_GATED.includes(gate)) return
  throw new ProductError('insufficient_permissions', `The feature ${gate} is disabled on this appliance.`)
}

function mayEnter(request: RequestContext, principal: Principal): boolean {
  const { route, permissions } = request.match.entry!
  // The operator's listener accepts operator keys only, and its routes need no permission.
  if (principal.kind === 'operator') return true
  if (principal.kind === 'person') return route.as === 'person'
  if (route.as !== 'any' && route.as !== principal.kind) return false
  return holds(route, permissions, principal)
}

/** One of its permissions, and the one that is needed as well. */
function holds(
  { alsoNeeds }: Route,
  permissions: readonly string[],
  principal: TeamPrincipal | MailboxPrincipal,
): boolean {
  if (alsoNeeds !== undefined && !allows(principal.permissions, alsoNeeds)) return false
  return permissions.length === 0 || permissions.some((one) => allows(principal.permissions, one))
}

/** RFC 6750 §3 and RFC 9728 §5.1: how a client obtains a credential. */
function challenge(request: RequestContext): string {
  // Operator keys cannot be obtained by clients: there is no metadata document.
  if (request.listener.base !== API_BASE) return 'Bearer'
  // RFC 9728 §3.1: the metadata of a resource is named by its path. Other paths at the root take tokens for the API.
  const resource = request.path === MCP_PATH ? MCP_PATH : API_BASE
  const metadata = `Bearer resource_metadata="${request.listener.origin}/.well-known/oauth-protected-resource${resource}"`
  return request.hasCredential ? `${metadata}, error="invalid_token"` : metadata
}

function tooMany(request: RequestContext): ProductError {
  return new ProductError(
    'rate_limit_exceeded',
    'Too many requests in this minute. Wait for the time in Retry-After.',
    {
      retryAfter: request.allowance?.retryAfter,
    },
  )
}
