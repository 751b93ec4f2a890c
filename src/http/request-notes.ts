// Records the API requests of teams, for `GET /team/requests`.

import type { RequestContext } from './request-context.ts'

/**
 * Records a request with a key. What people do in a browser is theirs; requests above the rate limit are left out, so that a flood of
 * them writes nothing.
 * @param at when it arrived, ms
 */
export function noteRequest(request: RequestContext, at: number, ms: number): void {
  const { principal, listener, match, res } = request
  if (request.session !== null || request.allowance?.over === true) return
  if (principal?.kind !== 'team' && principal?.kind !== 'mailbox') return
  const { teamId, keyId } = principal
  const { app } = listener
  const entry = match.entry
  app.directory.requests.add(
    {
      id: request.id,
      teamId,
      at,
      method: request.method,
      route: entry?.path ?? null,
      operation: entry?.route.operation ?? null,
      status: res.statusCode,
      ms,
      keyId,
      errorCode: request.errorCode,
    },
    (error) => app.log.warn({ event: 'http.requests_not_recorded', err: error }, 'API requests not recorded'),
  )
}
