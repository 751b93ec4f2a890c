// Whose request it is.

import type { RequestContext } from './request-context.ts'

/** The owner of the data: cursors and replays are bound to it. */
export function ownerOf(request: RequestContext): string {
  if (request.principal === null) return request.source
  const { principal } = request
  if (principal.kind === 'operator') return 'operator'
  if (principal.kind === 'person') return principal.email
  return principal.kind === 'team' ? principal.teamId : principal.mailboxId
}
