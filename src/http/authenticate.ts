// Who is asking, and whether they may.

import { ProductError } from '../base/errors.ts'
import { allows } from '../directory/permissions.ts'
import type { Principal } from '../directory/principal.ts'
import { API_BASE } from './entry.ts'
import type { Visit } from './request-context.ts'

// Longer than any credential of decisions §1.2; what is longer is not looked up.
const CREDENTIAL_MAX = 256

/** Recognises the credential, whatever the route; judges nothing. */
export async function identify(visit: Visit): Promise<void> {
  const secret = bearer(visit.header('authorization'))
  if (secret === null) return
  visit.presented = true
  if (secret === '' || secret.length > CREDENTIAL_MAX) return
  const known = await visit.desk.recognise(secret)
  visit.principal = known?.principal ?? null
  visit.suspended = known?.suspended ?? false
}

/** Whether the credential of a request that goes on would be let in now. */
export async function standing(visit: Visit): Promise<'in' | 'out' | 'suspended'> {
  const known = await visit.desk.recognise(bearer(visit.header('authorization')) ?? '')
  if (known === undefined || !mayEnter(visit, known.principal)) return 'out'
  return known.suspended ? 'suspended' : 'in'
}

/** The secret of a header of the form `Bearer <secret>`; null for another form. */
export function bearer(header: string | undefined): string | null {
  return /^bearer(?:[ \t]+|$)(.*)$/i.exec(header ?? '')?.[1]?.trim() ?? null
}

/** 401 for whatever lies under the API and is not open to everyone, known or not (decisions §1.4). */
export function requireCredential(visit: Visit): void {
  const { entry, open } = visit.found
  // What everyone may read is known to everyone: another method there is 405, not 401.
  if (entry === null ? open || !visit.underApi : entry.route.as === 'none') return
  if (visit.principal === null) {
    // Guessing credentials is bounded by the address it is done from.
    if (visit.allowance?.over === true) throw tooMany(visit)
    visit.ctx.set('WWW-Authenticate', challenge(visit))
    throw new ProductError(
      'authentication_required',
      visit.presented ? 'The credential is not valid.' : 'A credential is required: Authorization: Bearer <API key>.',
    )
  }
  if (visit.suspended) throw new ProductError('insufficient_permissions', 'The team is suspended.')
}

/** 429 when the minute is used up. */
export function requireAllowance(visit: Visit): void {
  if (visit.allowance?.over === true) throw tooMany(visit)
}

/** 403 for the wrong kind of credential or one without the permission; names what is missing, nothing else. */
export function requirePermission(visit: Visit): void {
  const { route, permissions } = visit.found.entry!
  const { principal } = visit
  if (route.as === 'none' || principal === null) return
  if (mayEnter(visit, principal)) {
    if (principal.kind !== 'operator') requireOpenGate(visit)
    return
  }
  if (route.as === 'mailbox' && route.root !== true && principal.kind === 'team') {
    const sentence = 'This path needs a mailbox key; root keys cannot read messages.'
    throw new ProductError('insufficient_permissions', sentence)
  }
  // RFC 6750 3.1: an agent learns which scopes would do.
  if (principal.kind === 'mailbox' && principal.agent !== undefined) {
    const scope = permissions.length > 0 ? `, scope="${permissions.join(' ')}"` : ''
    visit.ctx.set('WWW-Authenticate', `Bearer error="insufficient_scope"${scope}`)
  }
  if (permissions.length > 0) {
    throw new ProductError('insufficient_permissions', `The permission ${permissions.join(' or ')} is missing.`)
  }
  const wanted = route.as === 'mailbox' ? 'a mailbox credential' : 'a root key'
  throw new ProductError('insufficient_permissions', `This takes ${wanted}.`)
}

/** 403 for a feature the operator withholds (decisions §10.2): no other credential would do. */
function requireOpenGate(visit: Visit): void {
  const { gate } = visit.found.entry!.route
  if (gate === undefined || !visit.desk.app.config.MAILBOX_GATED.includes(gate)) return
  throw new ProductError('insufficient_permissions', `The feature ${gate} is withheld on this appliance.`)
}

function mayEnter(visit: Visit, principal: Principal): boolean {
  const { route, permissions } = visit.found.entry!
  // The operator's listener knows no other key, and its routes ask for no permission.
  if (principal.kind === 'operator') return true
  if (route.as !== 'any' && route.as !== principal.kind) return false
  return permissions.length === 0 || permissions.some((one) => allows(principal.permissions, one))
}

/** RFC 6750 3 and RFC 9728 5.1: where a client learns how to get a credential. */
function challenge(visit: Visit): string {
  // Nobody registers for the operator's listener: there is no document to name.
  if (visit.desk.base !== API_BASE) return 'Bearer'
  const metadata = `Bearer resource_metadata="${visit.desk.origin}/.well-known/oauth-protected-resource/api/v1"`
  return visit.presented ? `${metadata}, error="invalid_token"` : metadata
}

function tooMany(visit: Visit): ProductError {
  return new ProductError('rate_limit_exceeded', 'Too many requests in this minute.', {
    retryAfter: visit.allowance?.retryAfter,
  })
}
