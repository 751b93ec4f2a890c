// CORS: access for browsers of other origins (docs/design/http.md §10).

import type { RequestContext } from './request-context.ts'
import { writeEmpty } from './write.ts'

const EXPOSED = [
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Idempotent-Replayed',
  'Location',
].join(', ')
const SENDABLE = [
  ...[
    'Authorization',
    'Content-Type',
    'If-Match',
    'If-None-Match',
    'If-Range',
    'Range',
    'Idempotency-Key',
    'X-Request-Id',
  ],
  // Of the Model Context Protocol, at `/mcp`.
  ...['Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
].join(', ')
const PREFLIGHT_SECONDS = '600'

/** Open paths can be read from every origin, the rest from the configured origins. Never with credentials: keys are not cookies. */
export function allowOrigin(request: RequestContext): void {
  const { listener, match } = request
  const { open } = match
  if (request.isPersonal) return
  if (!open && listener.corsOrigins.size > 0) request.vary('Origin')
  const origin = request.header('origin')
  if (origin === undefined || (!open && !listener.corsOrigins.has(origin))) return
  request.set('Access-Control-Allow-Origin', open ? '*' : origin)
  request.set('Access-Control-Expose-Headers', EXPOSED)
}

/** Answers OPTIONS: the methods of the path, and CORS preflights. */
export function answerOptions(request: RequestContext, allow: string): void {
  const { res } = request
  res.statusCode = 204
  request.set('Allow', allow)
  if (request.header('access-control-request-method') !== undefined && res.hasHeader('Access-Control-Allow-Origin')) {
    request.set('Access-Control-Allow-Methods', allow)
    request.set('Access-Control-Allow-Headers', SENDABLE)
    request.set('Access-Control-Max-Age', PREFLIGHT_SECONDS)
  }
  writeEmpty(res)
}
