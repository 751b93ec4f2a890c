// Whose request it is, and who makes it.

import type { RequestContext } from './request-context.ts'

/** The owner of the data: cursors and replays are bound to it. */
export function ownerOf(request: RequestContext): string {
  if (request.principal === null) return request.source
  const { principal } = request
  if (principal.kind === 'operator') return 'operator'
  if (principal.kind === 'person') return principal.email
  return principal.kind === 'team' ? principal.teamId : principal.mailboxId
}

/** Who makes the request: the same person with all sessions, an agent with all tokens, or one key. */
export function callerOf({ principal, source }: RequestContext): string {
  if (principal === null) return source
  return principal.kind === 'person' ? principal.email : (principal.person?.email ?? principal.keyId)
}
